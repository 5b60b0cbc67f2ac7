// SPDX-License-Identifier: Apache-2.0
// The sandbox gateway: every call once however often it is made, money that adds up, webhooks until
// acknowledged, and all of it after kill -9.
#define CAF_SUITE sandbox_gateway
#include "caf/test/unit_test.hpp"

#include "outbound/sandbox_gateway.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/outbound/fixed_environment.hpp"
#include "tests/outbound/gateway_answers.hpp"

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>
#include <thread>

namespace sandbox_gateway_test {

using namespace fq;
using fq::test::answered;
using fq::test::is;
using fq::test::rejected;

namespace {

secret_key webhook_secret(std::uint8_t fill = 7) {
  std::array<std::uint8_t, secret_key::size> bytes;
  bytes.fill(fill);
  return secret_key{bytes};
}

struct fixture {
  fq::test::temp_folder folder;
  fq::test::fixed_environment env;
  std::unique_ptr<sandbox_gateway> gateway = open();

  std::unique_ptr<sandbox_gateway> open() {
    return std::make_unique<sandbox_gateway>(
      sandbox_gateway::settings{folder / "sandbox.db", "http://127.0.0.1:8080", webhook_secret(),
                                retry_policy{0, milliseconds{1000}, milliseconds{8000}}},
      env);
  }
  void reopen() {
    gateway.reset();
    gateway = open();
  }

  static gateway_charge charge(const std::string& reference, std::int64_t amount = 500'000) {
    gateway_charge c;
    c.reference = reference;
    c.money = {amount, "NGN"};
    c.customer_email = "fan@example.com";
    c.success_url = "http://127.0.0.1:8080/back";
    return c;
  }
  initialize_result start(const gateway_charge& c) {
    return answered<initialize_result>([&](auto done) { gateway->initialize(c, std::move(done)); });
  }
  charge_state verify(const std::string& reference) {
    return std::get<charge_state>(
      answered<verify_result>([&](auto done) { gateway->verify(charge(reference), std::move(done)); }));
  }
  charge_status expire(const std::string& reference) {
    return std::get<charge_state>(
             answered<verify_result>([&](auto done) { gateway->expire(charge(reference), std::move(done)); }))
      .status;
  }
  refund_result refund(const std::string& reference, const std::string& refund_id, std::int64_t amount) {
    return answered<refund_result>([&](auto done) {
      gateway->refund({charge(reference), refund_id, amount}, std::move(done));
    });
  }
  void initialize(const std::string& reference) {
    CAF_REQUIRE(std::holds_alternative<gateway_authorization>(start(charge(reference))));
  }
  charge_status status(const std::string& reference) { return verify(reference).status; }
  settle_status pay(const std::string& reference) {
    return gateway->settle(reference, sandbox_action::pay).status;
  }
  settle_status decline(const std::string& reference) {
    return gateway->settle(reference, sandbox_action::decline).status;
  }
  void paid(const std::string& reference) {
    initialize(reference);
    CAF_REQUIRE(pay(reference) == settle_status::settled);
  }
  std::vector<sandbox_webhook> due(std::size_t limit = 100) {
    return gateway->next_webhooks(env.wall_now(), limit);
  }
};

bool processed(const refund_result& r) { return is(r, gateway_refund_status::processed); }

} // namespace

CAF_TEST_FIXTURE_SCOPE(sandbox_tests, fixture)

CAF_TEST(a charge is unknown then unpaid then paid) {
  CAF_CHECK(status("ref-1") == charge_status::unknown);
  const auto first = start(charge("ref-1"));
  CAF_CHECK_EQUAL(std::get<gateway_authorization>(first).url, "http://127.0.0.1:8080/sandbox/pay/ref-1");
  CAF_CHECK(status("ref-1") == charge_status::unpaid);
  CAF_CHECK(pay("ref-1") == settle_status::settled);
  const auto state = verify("ref-1");
  CAF_CHECK(state.status == charge_status::paid);
  CAF_CHECK(state.money == (gateway_money{500'000, "NGN"}));
  const auto page = gateway->view("ref-1");
  CAF_REQUIRE(page.has_value());
  CAF_CHECK(page->status == charge_status::paid);
  CAF_CHECK_EQUAL(page->callback_url, "http://127.0.0.1:8080/back");
  CAF_CHECK(!gateway->view("ref-2").has_value());
}

CAF_TEST(initialize again is the same charge and another amount is refused) {
  for (int i = 0; i < 2; ++i) {
    const auto again = start(charge("ref-1"));
    CAF_CHECK_EQUAL(std::get<gateway_authorization>(again).url, "http://127.0.0.1:8080/sandbox/pay/ref-1");
  }
  CAF_CHECK(rejected(start(charge("ref-1", 500'001))));
  for (const auto& bad :
       {charge("", 1), charge("a/b", 1), charge(std::string(201, 'a'), 1), charge("ok", 0), charge("ok", -5)})
    CAF_CHECK(rejected(start(bad)));
  auto lower_case = charge("ok");
  lower_case.money.currency = "ngn";
  CAF_CHECK(rejected(start(lower_case)));
}

CAF_TEST(paying twice charges once and tells once) {
  paid("ref-1");
  CAF_CHECK(pay("ref-1") == settle_status::settled);
  CAF_CHECK_EQUAL(gateway->ledger().size(), 1u);
  CAF_CHECK_EQUAL(due().size(), 1u);
}

CAF_TEST(what is settled stays settled) {
  paid("paid");
  initialize("declined");
  CAF_CHECK(decline("declined") == settle_status::settled);
  CAF_CHECK(decline("paid") == settle_status::settled_otherwise);
  CAF_CHECK(pay("declined") == settle_status::settled_otherwise);
  CAF_CHECK(pay("absent") == settle_status::unknown_reference);
  CAF_CHECK(expire("paid") == charge_status::paid);
  CAF_CHECK(expire("declined") == charge_status::declined);
  CAF_CHECK(expire("absent") == charge_status::unknown);
}

CAF_TEST(an expired charge can no longer be paid) {
  initialize("ref-1");
  CAF_CHECK(expire("ref-1") == charge_status::expired);
  CAF_CHECK(expire("ref-1") == charge_status::expired);
  CAF_CHECK(pay("ref-1") == settle_status::settled_otherwise);
  CAF_CHECK(gateway->ledger().empty());
  CAF_CHECK(due().empty());
}

CAF_TEST(refunds happen once per refund id and never beyond the charge) {
  paid("ref-1");
  CAF_CHECK(processed(refund("ref-1", "r-1", 200'000)));
  CAF_CHECK(processed(refund("ref-1", "r-1", 200'000)));
  CAF_CHECK(rejected(refund("ref-1", "r-1", 100'000)));
  CAF_CHECK(rejected(refund("ref-2", "r-1", 200'000)));
  CAF_CHECK(rejected(refund("ref-1", "r-2", 300'001)));
  CAF_CHECK(rejected(refund("ref-1", "r-2", 0)));
  CAF_CHECK(processed(refund("ref-1", "r-2", 300'000)));
  CAF_CHECK(rejected(refund("ref-1", "r-3", 1)));
  initialize("unpaid");
  CAF_CHECK(rejected(refund("unpaid", "r-4", 1)));
  std::int64_t balance = 0;
  for (const auto& row : gateway->ledger())
    balance += row.kind == sandbox_ledger_row::kind_type::charge ? row.money.amount : -row.money.amount;
  CAF_CHECK_EQUAL(balance, 0);
  CAF_CHECK(status("ref-1") == charge_status::paid);
  CAF_CHECK_EQUAL(due().size(), 3u);
}

CAF_TEST(a webhook verifies and says what happened) {
  paid("ref-1");
  CAF_CHECK(processed(refund("ref-1", "r-1", 200'000)));
  initialize("ref-2");
  CAF_CHECK(decline("ref-2") == settle_status::settled);
  const auto webhooks = due();
  CAF_REQUIRE_EQUAL(webhooks.size(), 3u);
  std::vector<gateway_event> events;
  std::set<std::string> ids;
  for (const auto& w : webhooks) {
    events.push_back(std::get<gateway_event>(gateway->parse_webhook(w.body, w.signature, env.wall_now())));
    ids.insert(events.back().id);
  }
  CAF_CHECK_EQUAL(ids.size(), 3u);
  CAF_CHECK(events[0].kind == gateway_event_kind::charge_succeeded);
  CAF_CHECK_EQUAL(events[0].reference, "ref-1");
  CAF_CHECK(events[0].money == (gateway_money{500'000, "NGN"}));
  CAF_CHECK(events[1].kind == gateway_event_kind::refund_processed);
  CAF_CHECK_EQUAL(events[1].refund_id, "r-1");
  CAF_CHECK_EQUAL(events[1].money.amount, 200'000);
  CAF_CHECK(events[2].kind == gateway_event_kind::charge_failed);
  CAF_CHECK(webhooks[0].body.find(R"("status":"success")") != std::string::npos);
}

CAF_TEST(a webhook with a wrong signature or an unknown event is told apart) {
  const auto parse = [&](const std::string& body, const std::string& signature) {
    return gateway->parse_webhook(body, signature, env.wall_now());
  };
  paid("ref-1");
  const auto w = due().front();
  CAF_CHECK(is(parse(w.body + " ", w.signature), webhook_error::bad_signature));
  CAF_CHECK(is(parse(w.body, ""), webhook_error::bad_signature));
  CAF_CHECK(is(parse(w.body, w.signature.substr(1)), webhook_error::bad_signature));
  for (const std::string body :
       {"", "[]", "not json", "{}", R"({"id":"e","event":"charge.disputed","data":{}})",
        R"({"id":"e","event":"charge.success","data":{"reference":"r","amount":1.5,"currency":"NGN"}})",
        R"({"id":"","event":"charge.success","data":{"reference":"r","amount":1,"currency":"NGN"}})"})
    CAF_CHECK(is(parse(body, gateway->sign(body)), webhook_error::unknown_event));
}

CAF_TEST(a webhook of an older key is believed while that is valid) {
  paid("ref-1");
  const auto w = due().front();
  const auto parse = [&] { return gateway->parse_webhook(w.body, w.signature, env.wall_now()); };
  gateway->renew({webhook_secret(8), webhook_secret()});
  CAF_CHECK(gateway->sign(w.body) != w.signature);
  CAF_CHECK(std::holds_alternative<gateway_event>(parse()));
  gateway->renew({webhook_secret(8)});
  CAF_CHECK(is(parse(), webhook_error::bad_signature));
}

CAF_TEST(webhooks are repeated with growing pauses until acknowledged) {
  paid("ref-1");
  paid("ref-2");
  CAF_CHECK_EQUAL(due(1).size(), 1u);
  const auto webhooks = due();
  gateway->mark_delivered({webhooks[1].number});
  CAF_CHECK_EQUAL(due().size(), 1u);
  for (std::uint32_t attempt = 1; attempt <= 10; ++attempt) {
    gateway->mark_failed({webhooks[0].number, webhooks[1].number, 99}, env.wall_now());
    const auto next = gateway->next_webhook_due();
    CAF_REQUIRE(next.has_value());
    CAF_CHECK(*next <= env.wall_now() + milliseconds{8000});
    env.now_ms += 8000;
    const auto again = due();
    CAF_REQUIRE_EQUAL(again.size(), 1u);
    CAF_CHECK_EQUAL(again[0].attempts, attempt);
    CAF_CHECK_EQUAL(again[0].body, webhooks[0].body);
    CAF_CHECK_EQUAL(again[0].signature, webhooks[0].signature);
  }
  gateway->mark_delivered({webhooks[0].number, 99});
  CAF_CHECK(due().empty());
  CAF_CHECK(!gateway->next_webhook_due().has_value());
}

CAF_TEST(everything is there after an orderly restart) {
  paid("ref-1");
  initialize("ref-2");
  const auto before = due();
  reopen();
  CAF_CHECK(status("ref-1") == charge_status::paid);
  CAF_CHECK(status("ref-2") == charge_status::unpaid);
  const auto after = due();
  CAF_REQUIRE_EQUAL(after.size(), 1u);
  CAF_CHECK_EQUAL(after[0].body, before[0].body);
}

CAF_TEST(what was answered survives SIGKILL at any moment) {
  gateway.reset();
  int answered[2];
  CAF_REQUIRE_EQUAL(::pipe(answered), 0);
  const auto child = ::fork();
  if (child == 0) {
    auto mine = open();
    for (unsigned i = 0;; ++i) {
      const auto reference = "ref-" + std::to_string(i);
      mine->initialize(charge(reference), [](initialize_result) {});
      if (mine->settle(reference, sandbox_action::pay).status != settle_status::settled) ::_exit(1);
      if (::write(answered[1], &i, sizeof i) != sizeof i) ::_exit(1);
    }
  }
  ::close(answered[1]);
  unsigned last = 0;
  while (last < 50)
    CAF_REQUIRE_EQUAL(::read(answered[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
  ::kill(child, SIGKILL);
  for (unsigned n = 0; ::read(answered[0], &n, sizeof n) == sizeof n;) last = n;
  int ignored = 0;
  ::waitpid(child, &ignored, 0);
  ::close(answered[0]);
  gateway = open();
  for (unsigned i = 0; i <= last; ++i) CAF_CHECK(status("ref-" + std::to_string(i)) == charge_status::paid);
  const auto rows = gateway->ledger().size();
  CAF_CHECK(rows == last + 1 || rows == last + 2); // the one in progress may have committed before its answer
  CAF_CHECK_EQUAL(due(100'000).size(), rows);
}

CAF_TEST(threads pay and verify at the same time) {
  std::vector<gateway_charge> charges;
  for (int i = 0; i < 60; ++i) charges.push_back(charge("ref-" + std::to_string(i)));
  for (const auto& c : charges) CAF_REQUIRE(std::holds_alternative<gateway_authorization>(start(c)));
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (const auto& c : charges) {
        static_cast<void>(gateway->settle(c.reference, sandbox_action::pay));
        gateway->verify(c, [](verify_result) {});
        static_cast<void>(gateway->next_webhooks(env.wall_now(), 5));
      }
    });
  for (auto& t : threads) t.join();
  CAF_CHECK_EQUAL(gateway->ledger().size(), charges.size());
  CAF_CHECK_EQUAL(due().size(), charges.size());
}

CAF_TEST(the file is private and its ledger cannot be rewritten) {
  paid("ref-1");
  struct stat s {};
  ::stat((folder / "sandbox.db").c_str(), &s);
  CAF_CHECK_EQUAL(s.st_mode & 07777, mode_t{0600});
  sqlite3* db = nullptr;
  CAF_REQUIRE_EQUAL(sqlite3_open((folder / "sandbox.db").c_str(), &db), SQLITE_OK);
  CAF_CHECK(sqlite3_exec(db, "delete from ledger", nullptr, nullptr, nullptr) != SQLITE_OK);
  CAF_CHECK(sqlite3_exec(db, "update ledger set amount = 1", nullptr, nullptr, nullptr) != SQLITE_OK);
  sqlite3_close(db);
}

CAF_TEST(a file that is not ours is refused) {
  gateway.reset();
  std::filesystem::remove_all(folder / "sandbox.db");
  const auto refused = [&] {
    try {
      static_cast<void>(open());
      return false;
    } catch (const sandbox_error&) { return true; }
  };
  std::ofstream{folder / "sandbox.db"} << "this is not a database, but long enough to look at"
                                       << std::string(200, '.');
  CAF_CHECK(refused());
  std::filesystem::remove_all(folder / "sandbox.db");
  sqlite3* db = nullptr;
  CAF_REQUIRE_EQUAL(sqlite3_open((folder / "sandbox.db").c_str(), &db), SQLITE_OK);
  CAF_REQUIRE_EQUAL(sqlite3_exec(db, "create table other (x)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(db);
  CAF_CHECK(refused());
}

CAF_TEST(a file that cannot be written is unavailable and not an answer) {
  paid("ref-1");
  sqlite3* other = nullptr; // holds the write lock, as a full disk or a stuck backup would
  CAF_REQUIRE_EQUAL(sqlite3_open((folder / "sandbox.db").c_str(), &other), SQLITE_OK);
  CAF_REQUIRE_EQUAL(sqlite3_exec(other, "begin immediate", nullptr, nullptr, nullptr), SQLITE_OK);
  CAF_CHECK(fq::test::unavailable(start(charge("ref-2"))));
  CAF_CHECK(status("ref-1") == charge_status::paid);
  sqlite3_exec(other, "rollback", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  initialize("ref-2");
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace sandbox_gateway_test
