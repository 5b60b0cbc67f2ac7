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
    services.port = &port;
    services.warn = [this](const std::string& what) { warnings.push_back(what); };
    mail = keep(sys.spawn(mailer, static_cast<const mailer_services*>(&services)));
    run();
  }
  ~mailer_fixture() {
    kill(mail);
    mail = nullptr;
  }
  /// Sends a code; returns the requester's answer.
  bool send(const std::string& to, const std::string& body = "123456") {
    auto a = ask<mail_sent>(mail, send_mail{to, "Your code", body});
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

CAF_TEST(a code that will never be accepted is not accepted) {
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::rejected, .why = "no such user"};
  };
  CAF_CHECK(!send("a@x.example"));
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
  CAF_CHECK(send("a@x.example", "old"));
  CAF_CHECK(send("a@x.example", "new"));
  const auto first = port.tries.size();
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  pass(2min);
  CAF_REQUIRE_EQUAL(port.tries.size(), first + 1);
  CAF_CHECK_EQUAL(port.tries.back().text, "new");
}

CAF_TEST(the list is bounded and its end is said) {
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::unavailable, .retry_after = 60s, .service_down = true};
  };
  for (std::size_t i = 0; i < waiting_mail_max; ++i)
    CAF_CHECK(send("fan" + std::to_string(i) + "@x.example"));
  CAF_CHECK(!send("one.more@x.example"));
  CAF_CHECK(send("fan0@x.example")); // is queued
}

CAF_TEST(an exception in a port is a failure like others) {
  port.answer = [](const auto&) -> mail_answer { throw std::runtime_error{"no memory"}; };
  CAF_CHECK(send("a@x.example"));
  port.answer = [](const auto&) { return mail_answer{.result = mail_result::accepted}; };
  pass(1min);
  CAF_CHECK_EQUAL(port.tries.size(), 2u);
}

CAF_TEST(notices to one address take no place of each other and are of their own kind) {
  services.newest_only = false;
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

CAF_TEST(the list of notices is bounded) {
  services.newest_only = false;
  port.answer = [](const auto&) {
    return mail_answer{.result = mail_result::unavailable, .retry_after = 60s, .service_down = true};
  };
  for (std::size_t i = 0; i < waiting_mail_max; ++i) CAF_CHECK(send("a@x.example", std::to_string(i)));
  CAF_CHECK(!send("a@x.example", "one more"));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace mailer_test
