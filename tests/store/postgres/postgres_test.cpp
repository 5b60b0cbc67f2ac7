// SPDX-License-Identifier: Apache-2.0
// Specific to the Postgres engine: commits with unknown outcome, foreign locks, errors by SQLSTATE, lost
// servers, and secrets in URLs.
#define CAF_SUITE store_postgres
#include "tests/store/port/engines.hpp"
#include "tests/store/postgres/tcp_forwarder.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include <libpq-fe.h>

namespace postgres_test {

using namespace fq;
using namespace fq::test;

namespace {

/// A ledger in its own schema, with the sample sale.
struct database {
  explicit database(postgres_patience patience = {}, const std::string& server = shared_postgres_url()) :
      schema(server),
      store({.url = schema.url(), .patience = patience, .steady_now = steady_now}),
      w(store) {}

  [[nodiscard]] batch join(std::uint64_t number, aggregate_id aggregate = sale) const {
    return w.me.next(aggregate, {entry_joined{sample_entry(number)}});
  }
  std::vector<commit_outcome> commit(const std::vector<batch>& call) { return store.commit(call); }
  commit_outcome commit_one(const batch& b) { return store.commit({&b, 1}).at(0); }
  std::size_t entries(aggregate_id aggregate = sale) { return store.peek(aggregate).image.entries.size(); }
  /// Executes `body` before every insertion into `table`.
  void on_insert(const std::string& table, const std::string& body) {
    schema.execute("CREATE OR REPLACE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body
                   + " RETURN NEW; END $$; CREATE TRIGGER meddle BEFORE INSERT ON " + table
                   + " EXECUTE FUNCTION meddle()");
  }
  void stop_meddling(const std::string& table) { schema.execute("DROP TRIGGER meddle ON " + table); }
  /// Makes insertions fail with `sqlstate`, `times` times.
  void fail_on_insert(const std::string& table, const std::string& sqlstate, int times) {
    schema.execute("CREATE SEQUENCE IF NOT EXISTS failures; ALTER SEQUENCE failures RESTART");
    on_insert(table, "IF nextval('failures') <= " + std::to_string(times)
                       + " THEN RAISE EXCEPTION USING ERRCODE = '" + sqlstate + "'; END IF;");
  }

  postgres_schema schema;
  postgres_ledger store;
  world w;
};

template <class Error, class Action>
std::optional<std::string> message_of(Action action) {
  try {
    action();
  } catch (const Error& e) { return e.what(); }
  return std::nullopt;
}

template <class Error, class Action>
bool throws(Action action) {
  return message_of<Error>(action).has_value();
}

bool contains(const std::optional<std::string>& text, const std::string& part) {
  return text && text->find(part) != std::string::npos;
}

template <class Action>
milliseconds time_of(Action action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
}

/// Submits the batch again until it is settled, as the owner does after an outage; nothing after ten seconds.
std::optional<commit_outcome> resubmitted(ledger& store, const batch& b) {
  const auto give_up = std::chrono::steady_clock::now() + seconds{10};
  while (std::chrono::steady_clock::now() < give_up) {
    try {
      const auto outcome = store.commit({&b, 1}).at(0);
      if (outcome != commit_outcome::busy) return outcome;
    } catch (const ledger_unavailable&) {
    } catch (const commit_unknown&) {}
    std::this_thread::sleep_for(milliseconds{5});
  }
  return std::nullopt;
}

/// Brief to wait for, yet time enough to prepare a session's statements on a busy machine.
constexpr postgres_patience brief_writes{.write = seconds{1}};

std::uint16_t port_of(postgres_schema& schema) {
  return static_cast<std::uint16_t>(std::stoi(PQport(schema.hand().handle())));
}

std::string through(const tcp_forwarder& forwarder, const std::string& url) {
  return with_parameter(with_parameter(url, "host", "127.0.0.1"), "port", std::to_string(forwarder.port()));
}

} // namespace

// -- commits with unknown outcome -------------------------------------------------------------------------

CAF_TEST(a commit whose answer was lost is recognised when it is submitted again) {
  database d;
  tcp_forwarder forwarder(port_of(d.schema));
  postgres_ledger cut_off({.url = through(forwarder, d.schema.url()), .steady_now = steady_now});
  CAF_CHECK(cut_off.peek(sale).image.event.has_value());
  forwarder.cut_next(cut::after_commit);
  const auto b = d.join(1);
  CAF_CHECK(throws<commit_unknown>([&] { cut_off.commit({&b, 1}); }));
  CAF_CHECK_EQUAL(d.entries(), 1u);
  CAF_CHECK(resubmitted(cut_off, b) == commit_outcome::already_applied);
  CAF_CHECK_EQUAL(d.entries(), 1u);
}

CAF_TEST(a commit that did not arrive is applied when it is submitted again) {
  database d;
  tcp_forwarder forwarder(port_of(d.schema));
  postgres_ledger cut_off({.url = through(forwarder, d.schema.url()), .steady_now = steady_now});
  CAF_CHECK(cut_off.peek(sale).image.event.has_value());
  forwarder.cut_next(cut::before_commit);
  const auto b = d.join(1);
  CAF_CHECK(throws<commit_unknown>([&] { cut_off.commit({&b, 1}); }));
  CAF_CHECK_EQUAL(d.entries(), 0u);
  CAF_CHECK(resubmitted(cut_off, b) == commit_outcome::committed);
  CAF_CHECK_EQUAL(d.entries(), 1u);
}

CAF_TEST(a session that the server ends in the middle of a batch has applied nothing of it) {
  database d;
  FQ_COMMITS(d.w.put({}));
  const auto b = d.join(1);
  d.on_insert("queue_entry", "PERFORM pg_terminate_backend(pg_backend_pid());");
  // COMMIT was in flight: the client cannot know if it was executed.
  CAF_CHECK(throws<commit_unknown>([&] { d.commit_one(b); }));
  d.stop_meddling("queue_entry");
  CAF_CHECK(resubmitted(d.store, b) == commit_outcome::committed);
  CAF_CHECK_EQUAL(d.entries(), 1u);
}

CAF_TEST(a session that the server ends while an aggregate is taken leaves the epoch) {
  database d;
  d.schema.execute("CREATE FUNCTION end_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                   " PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$;"
                   " CREATE TRIGGER ends BEFORE UPDATE ON aggregate FOR EACH ROW WHEN (NEW.epoch > OLD.epoch)"
                   " EXECUTE FUNCTION end_session()");
  CAF_CHECK(throws<ledger_unavailable>([&] { d.store.acquire_unleased(sale, never); }));
  d.schema.execute("DROP TRIGGER ends ON aggregate");
  FQ_COMMITS(d.commit_one(d.join(1)));
}

// -- a synchronous standby --------------------------------------------------------------------------------

namespace {

/// A server whose synchronous standby is away: each commit waits for it.
struct without_standby {
  without_standby() :
      store({.url = server.url(), .patience = brief_writes, .steady_now = steady_now}),
      w(store),
      hand(postgres_url{server.url()}, {}) {
    CAF_CHECK(w.put({}) == commit_outcome::committed);
    hand.execute("ALTER SYSTEM SET synchronous_standby_names = 'away'");
    hand.execute("SELECT pg_reload_conf()");
    while (count("SELECT count(*) FROM pg_settings WHERE name = 'synchronous_standby_names'"
                 " AND setting = 'away'")
           == 0) {}
    hand.execute("CHECKPOINT"); // the checkpointer tells all sessions, before its next checkpoint
  }
  std::int64_t count(const std::string& sql) {
    postgres_pipeline pipeline(hand);
    pipeline.send(sql);
    pipeline.flush();
    return pipeline.receive()[0].integer(0);
  }
  /// Cancels `times` waits of commits.
  void cancel_waits(int times) {
    for (int attempts = 0; times > 0 && attempts < 500; ++attempts) {
      times -= static_cast<int>(count("SELECT count(*) FILTER (WHERE pg_cancel_backend(pid))"
                                      " FROM pg_stat_activity WHERE wait_event = 'SyncRep'"));
      std::this_thread::sleep_for(milliseconds{20});
    }
  }
  void standby_is_back() {
    hand.execute("ALTER SYSTEM RESET synchronous_standby_names");
    hand.execute("SELECT pg_reload_conf()");
  }

  private_postgres server;
  postgres_ledger store;
  world w;
  postgres_connection hand;
};

} // namespace

CAF_TEST(a commit whose wait for the standby was cancelled is not told as durable) {
  without_standby d;
  const auto b = d.w.me.next(sale, {entry_joined{sample_entry(1)}});
  std::thread canceller([&] { d.cancel_waits(1); });
  CAF_CHECK(throws<commit_unknown>([&] { d.store.commit({&b, 1}); }));
  canceller.join();
  // It is visible on the primary, which does not make it durable.
  for (int i = 0; i < 500 && d.count("SELECT count(*) FROM queue_entry") == 0; ++i)
    std::this_thread::sleep_for(milliseconds{10}); // the store may have given up before the cancellation
  CAF_CHECK_EQUAL(d.count("SELECT count(*) FROM queue_entry"), 1);
  CAF_CHECK(throws<commit_unknown>([&] { d.store.commit({&b, 1}); }));
  d.standby_is_back();
  CAF_CHECK(resubmitted(d.store, b) == commit_outcome::already_applied);
  CAF_CHECK_EQUAL(d.store.peek(sale).image.entries.size(), 1u);
}

CAF_TEST(a lease or an enlistment whose wait for the standby was cancelled is not told as taken) {
  without_standby d;
  std::thread canceller([&] { d.cancel_waits(2); });
  CAF_CHECK(throws<commit_unknown>([&] { d.store.acquire(sale, {"ada", seconds{60}}, never); }));
  CAF_CHECK(throws<commit_unknown>([&] { d.store.enlist("ada"); }));
  canceller.join();
  d.standby_is_back();
}

CAF_TEST(a commit that waits for the standby is settled exactly once the standby is back) {
  without_standby d;
  const auto b = d.w.me.next(sale, {entry_joined{sample_entry(1)}});
  CAF_CHECK(throws<commit_unknown>([&] { d.store.commit({&b, 1}); })); // no answer in time
  d.standby_is_back();
  CAF_CHECK(resubmitted(d.store, b) == commit_outcome::already_applied);
  CAF_CHECK_EQUAL(d.store.peek(sale).image.entries.size(), 1u);
}

// -- locked rows ------------------------------------------------------------------------------------------

CAF_TEST(an event whose row somebody holds is busy at once and the others commit) {
  database d({.lock = seconds{10}});
  d.schema.execute("BEGIN; SELECT FROM aggregate WHERE number = 16 FOR UPDATE");
  const std::vector call{
    d.join(1), d.w.me.next(accounts_aggregate, {otp_stored{{"hash", "a@example.org", {}, "c0de", noon, 0}}})};
  std::vector<commit_outcome> outcomes;
  CAF_CHECK(time_of([&] { outcomes = d.commit(call); }) < seconds{4}); // a statement may take five
  CAF_CHECK((outcomes == std::vector{commit_outcome::busy, commit_outcome::committed}));
  auto fastest = milliseconds::max(); // the minimum: the machine may be busy
  for (int i = 0; i < 5; ++i)
    fastest = std::min(fastest, time_of([&] { CAF_CHECK(d.commit_one(call[0]) == commit_outcome::busy); }));
  CAF_CHECK(fastest < milliseconds{100});
  d.schema.execute("ROLLBACK");
  FQ_COMMITS(d.commit_one(call[0]));
}

CAF_TEST(what somebody has locked is not waited for and whose lease lasts is not disturbed) {
  database d({.lock = seconds{10}});
  const lease_terms ada{"ada", seconds{60}}, bea{"bea", seconds{60}};
  d.schema.execute("BEGIN; SELECT FROM aggregate WHERE number = 16 FOR UPDATE");
  acquire_result answer;
  CAF_CHECK(time_of([&] { answer = d.store.acquire(sale, ada, never); }) < seconds{4});
  CAF_CHECK(std::holds_alternative<aggregate_busy>(answer));
  d.schema.execute("UPDATE aggregate SET applied_seq = 7 WHERE number = 16; COMMIT");
  answer = d.store.acquire(sale, ada, never);
  CAF_REQUIRE(std::holds_alternative<acquired>(answer));
  CAF_CHECK_EQUAL(std::get<acquired>(answer).epoch, 2u);
  CAF_CHECK_EQUAL(std::get<acquired>(answer).applied_seq, 7u); // including the batch in flight
  CAF_CHECK(d.commit_one(d.join(1)) == commit_outcome::fenced);
  d.schema.execute("BEGIN; SELECT FROM aggregate WHERE number = 16 FOR UPDATE");
  // this answer needs no lock
  CAF_CHECK(std::holds_alternative<lease_held>(d.store.acquire(sale, bea, never)));
  d.schema.execute("ROLLBACK");
}

CAF_TEST(a lock that only one batch wants makes only that one busy) {
  database d({.lock = milliseconds{100}});
  std::vector<batch> call{d.w.me.next(sale, {receipt_stored{{"sandbox", "evt", noon}}})};
  for (std::uint32_t n = 0; n < 7; ++n) {
    const aggregate_id number{number_of(other_sale) + n};
    FQ_COMMITS(d.w.me.put(catalog_aggregate, {event_created{sample_event(number), {}}}));
    d.w.me.take(number);
    call.push_back(d.join(1, number));
  }
  d.schema.execute("BEGIN; LOCK TABLE receipt IN ACCESS EXCLUSIVE MODE");
  std::vector<commit_outcome> outcomes;
  CAF_CHECK(time_of([&] { outcomes = d.commit(call); }) < seconds{2});
  CAF_CHECK(outcomes[0] == commit_outcome::busy);
  CAF_CHECK(std::count(outcomes.begin(), outcomes.end(), commit_outcome::committed) == 7);
  d.schema.execute("ROLLBACK");
  FQ_COMMITS(d.commit_one(call[0]));
}

CAF_TEST(a renewal passes over a row that somebody holds) {
  database d;
  const lease_terms ada{"ada", seconds{60}};
  CAF_CHECK(std::holds_alternative<acquired>(d.store.acquire(sale, ada, never)));
  CAF_CHECK(std::holds_alternative<acquired>(d.store.acquire(accounts_aggregate, ada, never)));
  d.schema.execute("UPDATE aggregate SET lease_until = 1");
  d.schema.execute("BEGIN; SELECT FROM aggregate WHERE number = 16 FOR UPDATE");
  const std::vector<tenure> both{{sale, 2}, {accounts_aggregate, 2}};
  CAF_CHECK((d.store.renew(ada, both) == lease_renewal{{}, {sale}}));
  CAF_CHECK_EQUAL(d.schema.integer("SELECT lease_until FROM aggregate WHERE number = 16"), 1);
  CAF_CHECK(d.schema.integer("SELECT lease_until FROM aggregate WHERE number = 1") > 1);
  d.schema.execute("ROLLBACK");
}

CAF_TEST(a peer ends the leases of a node without a session at once) {
  database d;
  std::optional<postgres_ledger> ada(
    std::in_place,
    postgres_ledger_options{.url = d.schema.url(), .patience = {}, .node = "ada", .steady_now = steady_now});
  const lease_terms lease{"ada", seconds{60}, ada->enlist("ada")};
  CAF_REQUIRE(std::holds_alternative<acquired>(ada->acquire(sale, lease, never)));
  node_row row;
  row.id = "ada";
  row.incarnation = lease.incarnation;
  row = ada->beat(row, seconds{60}).front();
  CAF_CHECK_EQUAL(d.store.end_leases(row, false, lease.term), 0u);
  ada.reset();
  std::size_t ended = 0;
  for (int i = 0; ended == 0 && i < 500; ++i) { // Postgres ends the session's process
    ended = d.store.end_leases(row, false, lease.term);
    std::this_thread::sleep_for(milliseconds{10});
  }
  CAF_CHECK_EQUAL(ended, 1u);
}

CAF_TEST(a lease ends by the clock of the database) {
  database d;
  const auto until = [&](const std::string& when) {
    d.schema.execute("UPDATE aggregate SET lease_owner = 'ada', lease_until = " + postgres_now + " + " + when
                     + " WHERE number = 16");
  };
  until("60000");
  const auto refused = d.store.acquire(sale, {"ben", seconds{1}}, never);
  CAF_REQUIRE(std::holds_alternative<lease_held>(refused));
  const auto left = std::get<lease_held>(refused).left;
  CAF_CHECK(left > seconds{50} && left <= seconds{60});
  until("-1");
  CAF_CHECK(std::holds_alternative<acquired>(d.store.acquire(sale, {"ben", seconds{1}}, never)));
}

// -- errors by SQLSTATE ----------------------------------------------------------------------------------

CAF_TEST(collisions are tried again but not for ever) {
  for (const auto* sqlstate : {"40001", "40P01"}) {
    database d;
    d.fail_on_insert("queue_entry", sqlstate, 2);
    FQ_COMMITS(d.commit_one(d.join(1)));
    d.stop_meddling("queue_entry");
    d.fail_on_insert("queue_entry", sqlstate, 1'000);
    auto next = d.join(2);
    next.from_seq = 1;
    next.to_seq = 2;
    CAF_CHECK(d.commit_one(next) == commit_outcome::busy);
    d.stop_meddling("queue_entry");
    FQ_COMMITS(d.commit_one(next));
  }
}

CAF_TEST(a statement that takes too long makes its batch busy and no other) {
  database d(brief_writes);
  d.on_insert("receipt", "PERFORM pg_sleep(10);");
  const std::vector call{
    d.w.me.next(sale, {receipt_stored{{"sandbox", "evt", noon}}}),
    d.w.me.next(accounts_aggregate, {otp_stored{{"hash", "a@example.org", {}, "c0de", noon, 0}}})};
  CAF_CHECK((d.commit(call) == std::vector{commit_outcome::busy, commit_outcome::committed}));
  d.stop_meddling("receipt");
  FQ_COMMITS(d.commit_one(call[0]));
}

CAF_TEST(what no batch is to blame for makes the ledger unavailable and nothing is lost) {
  // Disk full, read-only after a failover, out of memory, shutting down, a broken index.
  for (const auto* sqlstate : {"53100", "25006", "53200", "57P01", "XX002"}) {
    database d;
    const auto b = d.join(1);
    d.fail_on_insert("queue_entry", sqlstate, 1'000);
    CAF_CHECK(throws<ledger_unavailable>([&] { d.commit_one(b); }));
    d.stop_meddling("queue_entry");
    CAF_CHECK(resubmitted(d.store, b) == commit_outcome::committed);
    CAF_CHECK_EQUAL(d.entries(), 1u);
  }
}

CAF_TEST(a value that Postgres cannot take is the fault of its batch) {
  database d;
  const std::string nul("a\0b", 3);
  const std::vector call{
    d.w.me.next(sale, {receipt_stored{{"sandbox", nul, noon}}}),
    d.w.me.next(accounts_aggregate, {otp_stored{{"hash", "\xff\xfe", {}, "c0de", noon, 0}}}),
    d.w.me.next(catalog_aggregate, {receipt_stored{{"sandbox", std::string(100'000, 'x'), noon}}})};
  const auto outcomes = d.commit(call);
  CAF_CHECK(outcomes[0] == commit_outcome::conflict);
  CAF_CHECK(outcomes[1] == commit_outcome::conflict);
}

CAF_TEST(a refusal names what refused it and no value) {
  database d;
  FQ_COMMITS(d.w.put({receipt_stored{{"sandbox", "evt_secret", noon}}}));
  FQ_CONFLICTS(d.w.put({receipt_stored{{"sandbox", "evt_secret", noon}}}));
  CAF_CHECK(contains(d.store.last_refusal(), "receipt_gateway_gateway_event_key"));
  CAF_CHECK(!contains(d.store.last_refusal(), "evt_secret"));
}

// -- lost servers ----------------------------------------------------------------------------------------

CAF_TEST(a server that refuses to write is unavailable) {
  database d;
  const auto read_only =
    with_parameter(d.schema.url(), "options",
                   "-cdefault_transaction_read_only%3Don%20-csearch_path%3D"
                     + d.schema.url().substr(d.schema.url().find("search_path%3D") + 14));
  postgres_ledger writer({.url = read_only, .steady_now = steady_now});
  CAF_CHECK(contains(message_of<ledger_unavailable>([&] { writer.last_aggregate(); }), "read-only"));
  // Without a required writable server the URL connects to a read-only one.
  postgres_ledger reader(
    {.url = with_parameter(read_only, "target_session_attrs", "any"), .steady_now = steady_now});
  CAF_CHECK(reader.last_aggregate() == sale);
  const auto b = d.join(1);
  CAF_CHECK(throws<ledger_unavailable>([&] { reader.commit({&b, 1}); }));
  CAF_CHECK_EQUAL(d.entries(), 0u);
}

CAF_TEST(of several hosts the one that answers is used) {
  database d;
  const auto port = std::to_string(port_of(d.schema));
  const auto hosts =
    with_parameter(with_parameter(d.schema.url(), "host", "127.0.0.1,127.0.0.1"), "port", "1," + port);
  postgres_ledger store({.url = hosts, .steady_now = steady_now});
  CAF_CHECK(store.last_aggregate() == sale);
}

CAF_TEST(an ended session is noticed and replaced before the next call) {
  database d;
  d.schema.execute(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fairqueue'"
    " AND pid <> pg_backend_pid() AND query LIKE '%COMMIT%' AND state = 'idle'");
  CAF_CHECK(resubmitted(d.store, d.join(1)) == commit_outcome::committed);
}

CAF_TEST(a ledger whose server is away says so at once and is back with it) {
  private_postgres server;
  postgres_ledger early({.url = server.url(), .patience = {.connect = seconds{2}}, .steady_now = steady_now});
  server.tell("down");
  CAF_CHECK(throws<ledger_unavailable>([&] { early.last_aggregate(); }));
  const auto between_attempts =
    time_of([&] { CAF_CHECK(throws<ledger_unavailable>([&] { early.last_aggregate(); })); });
  CAF_CHECK(between_attempts < milliseconds{1'900}); // to connect may take two seconds
  server.tell("up");
  world w(early); // the back-off is over by then
  const auto b = w.me.next(sale, {entry_joined{sample_entry(1)}});
  FQ_COMMITS(early.commit({&b, 1}).at(0));
  for (const auto* how : {"down", "kill"}) { // an orderly stop, and a crash
    server.tell(how);
    CAF_CHECK(throws<ledger_unavailable>([&] { early.commit({&b, 1}); }));
    server.tell("up");
    CAF_CHECK(resubmitted(early, b) == commit_outcome::already_applied);
  }
  CAF_CHECK_EQUAL(early.peek(sale).image.entries.size(), 1u);
}

CAF_TEST(a server that stops answering is given up in time) {
  private_postgres server;
  postgres_ledger store({.url = server.url(), .patience = brief_writes, .steady_now = steady_now});
  world w(store);
  FQ_COMMITS(w.put({}));
  const auto b = w.me.next(sale, {entry_joined{sample_entry(1)}});
  server.tell("pause");
  const auto took = time_of([&] { CAF_CHECK(throws<commit_unknown>([&] { store.commit({&b, 1}); })); });
  CAF_CHECK(took < seconds{10}); // about three
  server.tell("resume"); // and executes what it received before, if that arrives first
  const auto outcome = resubmitted(store, b);
  CAF_CHECK(outcome == commit_outcome::already_applied || outcome == commit_outcome::committed);
  CAF_CHECK_EQUAL(store.peek(sale).image.entries.size(), 1u);
}

// -- secrets in URLs -------------------------------------------------------------------------------------

CAF_TEST(no message repeats a password) {
  const std::string password = "s3cr3t";
  for (const auto* url :
       {"postgres://u:s3cr3t@127.0.0.1:1/db", "postgres://u:pa@s3cr3t@127.0.0.1:1/db",
        "postgres://u:pa/s3cr3t@127.0.0.1:1/db", "postgres://u:pa?s3cr3t@127.0.0.1:1/db",
        "postgres://u:pa:s3cr3t@127.0.0.1:1/db", "postgres://u:pa%s3cr3t@127.0.0.1:1/db",
        "postgres://u:pa#s3cr3t@127.0.0.1:1/db", "postgres://u@127.0.0.1:1/db?password=s3cr3t",
        "postgres://u@127.0.0.1:1/db?pasword=s3cr3t", "host=127.0.0.1 password=s3cr3t", "s3cr3t",
        "sqlite:s3cr3t", "postgres:///s3cr3t@x"}) {
    const auto message = message_of<std::exception>(
      [&] { postgres_ledger({.url = url, .steady_now = steady_now}).last_aggregate(); });
    CAF_CHECK(message.has_value());
    CAF_CHECK(!contains(message, password));
  }
}

} // namespace postgres_test
