// SPDX-License-Identifier: Apache-2.0
// Codes that cannot be sent at once: retried until they expire, newest first per address, without delay for
// other addresses. Notices: none replaces another.
#define CAF_SUITE mailer
#include "tests/actors/base/fixture.hpp"

#include "actors/outbox/mailer.hpp"

namespace mailer_test {

using namespace fq;
using namespace fq::test;

namespace {

/// Answers as the test says; an attempt may take time.
class scripted_mail final : public mail_port {
public:
  std::function<mail_answer(const mail_message&)> answer = [](const auto&) {
    return mail_answer{.result = mail_result::accepted};
  };
  std::vector<mail_message> tries;

  mail_answer send(const mail_message& message) override {
    tries.push_back(message);
    return answer(message);
  }
};

mail_answer down() { return {.result = mail_result::unavailable, .service_down = true, .why = "connecting"}; }
mail_answer busy() { return {.result = mail_result::unavailable, .why = "RCPT TO: 450"}; }

struct mailer_fixture : fixture {
  scripted_mail port;
  std::vector<std::string> warnings;
  mailer_services services;
  mailer_handle mail;

  mailer_fixture() {
    services.env = &env;
    services.workers = {keep(sys.spawn(mail_worker, static_cast<mail_port*>(&port)))};
    services.warn = [this](const std::string& what) { warnings.push_back(what); };
    mail = keep(sys.spawn(mailer, static_cast<const mailer_services*>(&services)));
    run();
  }
  ~mailer_fixture() {
    kill(mail);
    mail = nullptr;
    services.workers.clear();
  }
  /// Sends a code; returns the requester's answer.
  bool send(const std::string& to, const std::string& body = "123456", const std::string& key = {},
            const uuid& client = {}) {
    auto a = ask<mail_sent>(mail, send_mail{to, "Your code", body, {}, key, client});
    run();
    CAF_REQUIRE(a->ok);
    return a->value.accepted;
  }
  /// Advances in small steps.
  void pass(milliseconds d) {
    for (; d.count() > 0; d -= 500ms) advance(500ms);
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mailer_tests, mailer_fixture)

CAF_TEST(a code goes out once as it is) {
  CAF_CHECK(send("a@x.example"));
  CAF_REQUIRE_EQUAL(port.tries.size(), 1u);
  CAF_CHECK_EQUAL(port.tries[0].to.at(0).address, "a@x.example");
  CAF_CHECK_EQUAL(port.tries[0].text, "123456");
  CAF_CHECK_EQUAL(port.tries[0].template_key, "otp");
  pass(20min);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  CAF_CHECK(warnings.empty());
}

CAF_TEST(a code that will never be accepted is not tried again) {
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::rejected, .why = "no such user"};
  };
  CAF_CHECK(send("a@x.example"));
  pass(20min);
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  CAF_REQUIRE_EQUAL(warnings.size(), 1u);
  CAF_CHECK_EQUAL(warnings[0], "rejected: no such user");
}

CAF_TEST(what is unavailable is tried again with the same id until it goes) {
  port.answer = [](const auto&) { return down(); };
  CAF_CHECK(send("a@x.example"));
  pass(5min);
  const auto before = port.tries.size();
  CAF_CHECK(before > 5 && before < 100); // with pauses that stay bounded
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  pass(1min);
  CAF_CHECK_EQUAL(port.tries.size(), before + 1);
  for (const auto& m : port.tries) CAF_CHECK_EQUAL(m.id, port.tries[0].id);
  pass(10min);
  CAF_CHECK_EQUAL(port.tries.size(), before + 1);
}

CAF_TEST(a code is given up when it is void) {
  port.answer = [](const auto&) { return busy(); };
  CAF_CHECK(send("a@x.example"));
  pass(11min);
  const auto tries = port.tries.size();
  CAF_CHECK(tries > 10);
  CAF_CHECK(warnings.back().find("given up") != std::string::npos);
  pass(20min);
  CAF_CHECK_EQUAL(port.tries.size(), tries);
}

CAF_TEST(one address that is busy holds up nobody) {
  port.answer = [](const mail_message& m) {
    return m.to[0].address == "busy@x.example" ? busy() : mail_answer{.result = mail_result::accepted};
  };
  CAF_CHECK(send("busy@x.example"));
  for (int i = 0; i < 20; ++i) CAF_CHECK(send("fan" + std::to_string(i) + "@x.example"));
  CAF_CHECK_EQUAL(port.tries.size(), 21u);
}

CAF_TEST(a service that is down is not asked for every code) {
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::unavailable, .retry_after = 10s, .service_down = true};
  };
  for (int i = 0; i < 20; ++i) CAF_CHECK(send("fan" + std::to_string(i) + "@x.example"));
  CAF_CHECK_EQUAL(port.tries.size(), 1u);
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  pass(15s);
  CAF_CHECK_EQUAL(port.tries.size(), 21u);
}

CAF_TEST(a newer code takes the place of the older) {
  port.answer = [](const auto&) { return busy(); };
  CAF_CHECK(send("a@x.example", "old", "key"));
  CAF_CHECK(send("a@x.example", "new", "key"));
  const auto first = port.tries.size();
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  pass(2min);
  CAF_REQUIRE_EQUAL(port.tries.size(), first + 1);
  CAF_CHECK_EQUAL(port.tries.back().text, "new");
}

CAF_TEST(a mail that has become useless is not sent and frees its place) {
  port.answer = [](const auto&) { return down(); };
  CAF_CHECK(send("a@x.example", "first", "one"));
  CAF_CHECK(send("a@x.example", "second", "two"));
  caf::anon_send(mail, forget_mail{"one"});
  run();
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  port.tries.clear();
  pass(1min);
  CAF_REQUIRE_EQUAL(port.tries.size(), 1u);
  CAF_CHECK_EQUAL(port.tries[0].text, "second");
}

CAF_TEST(mail that would be late is refused at once with the time to wait) {
  services.late_after = 1s; // four attempts of 250 ms
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::unavailable, .retry_after = 5s, .service_down = true};
  };
  CAF_CHECK(send("a@x.example"));
  auto late = ask<mail_sent>(mail, send_mail{"b@x.example", "Your code", "1"});
  run();
  CAF_REQUIRE(late->ok);
  CAF_CHECK(!late->value.accepted);
  CAF_CHECK(late->value.retry_after >= 1s && late->value.retry_after <= 5s);
}

CAF_TEST(the queue is bounded and its end is said once) {
  services.late_after = services.keep_for = 24h;
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::unavailable, .retry_after = 60s, .service_down = true};
  };
  for (std::size_t i = 0; i < waiting_mail_max; ++i)
    CAF_CHECK(send("fan" + std::to_string(i) + "@x.example", "1", std::to_string(i)));
  warnings.clear();
  CAF_CHECK(!send("one.more@x.example"));
  CAF_CHECK(!send("one.more@x.example"));
  CAF_CHECK_EQUAL(warnings.size(), 1u);
  CAF_CHECK(send("fan0@x.example", "2", "0")); // takes its own place
}

CAF_TEST(one client has a share of the queue and others go between its mails) {
  services.late_after = services.keep_for = 24h;
  const uuid hostile{1, 1}, honest{1, 2};
  port.answer = [](const auto&) { return down(); };
  for (std::size_t i = 0; i < waiting_mail_of_client_max; ++i)
    CAF_CHECK(send("stranger" + std::to_string(i) + "@x.example", "1", {}, hostile));
  CAF_CHECK(!send("stranger@x.example", "1", {}, hostile));
  CAF_CHECK(send("fan@x.example", "mine", {}, honest));
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  port.tries.clear();
  pass(1min);
  const auto mine = std::ranges::find(port.tries, "mine", &mail_message::text);
  CAF_CHECK(mine - port.tries.begin() <= 2);
  CAF_CHECK_EQUAL(port.tries.size(), waiting_mail_of_client_max + 1);
}

CAF_TEST(no more attempts are under way than there are workers) {
  const auto second = keep(sys.spawn(mail_worker, static_cast<mail_port*>(&port)));
  kill(mail);
  services.workers.push_back(second);
  mail = keep(sys.spawn(mailer, static_cast<const mailer_services*>(&services)));
  for (int i = 0; i < 5; ++i) caf::anon_send(mail, send_mail{"fan@x.example", "Your code", "1"});
  run_without(caf::actor_cast<caf::actor>(services.workers[0]));
  CAF_CHECK_EQUAL(port.tries.size(), 4u); // the other worker goes on alone
  run();
  CAF_CHECK_EQUAL(port.tries.size(), 5u);
}

CAF_TEST(an exception in a port is a failure like others) {
  port.answer = [](const auto&) -> mail_answer { throw std::runtime_error{"no memory"}; };
  CAF_CHECK(send("a@x.example"));
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  pass(1min);
  CAF_CHECK_EQUAL(port.tries.size(), 2u);
}

CAF_TEST(notices to one address take no place of each other and are of their own kind) {
  services.template_key = "endpoint_disabled";
  services.keep_for = 24h;
  port.answer = [](const auto&) { return busy(); };
  CAF_CHECK(send("a@x.example", "first"));
  CAF_CHECK(send("a@x.example", "second"));
  pass(30min); // a code would have expired
  CAF_CHECK(warnings.back().find("given up") == std::string::npos);
  port.tries.clear();
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  pass(2min);
  CAF_REQUIRE_EQUAL(port.tries.size(), 2u);
  CAF_CHECK(port.tries[0].text != port.tries[1].text);
  CAF_CHECK(port.tries[0].id != port.tries[1].id);
  for (const auto& m : port.tries) CAF_CHECK_EQUAL(m.template_key, "endpoint_disabled");
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace mailer_test
