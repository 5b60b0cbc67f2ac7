// SPDX-License-Identifier: Apache-2.0
// Captchas against a scripted provider: a yes, a no, and everything that is neither.
#define CAF_SUITE captcha
#include "caf/test/unit_test.hpp"

#include "outbound/captcha.hpp"
#include "tests/outbound/fixed_environment.hpp"
#include "tests/outbound/real_environment.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <future>

namespace captcha_test {

using namespace fq;
using namespace fq::test;
using enum fq::captcha_verdict;

namespace {

struct provider {
  explicit provider(scripted_server::script script, bool keeps_action = true,
                    milliseconds timeout = seconds{15}) :
      server{std::move(script)},
      captcha{{.name = "turnstile",
               .url = server.url(),
               .path = "/turnstile/v0/siteverify",
               .site_key = "site",
               .secret = "se&cret",
               .keeps_action = keeps_action,
               .timeout = timeout,
               .http = {}},
              env} {}

  captcha_verdict ask(std::string response = "good one") {
    std::promise<captcha_verdict> told;
    captcha.verify(std::move(response), "join", "event-1", [&](captcha_verdict v) { told.set_value(v); });
    auto answer = told.get_future();
    CAF_REQUIRE(answer.wait_for(std::chrono::seconds{20}) == std::future_status::ready);
    return answer.get();
  }

  real_environment env;
  scripted_server server;
  siteverify_captcha captcha;
};

captcha_verdict verdict_of(const std::string& body, bool keeps_action = true) {
  provider p{[&](const scripted_request&) { return answer(200, body); }, keeps_action};
  return p.ask();
}

} // namespace

CAF_TEST(a response is asked about with secret and site key) {
  provider p{[](const scripted_request&) {
    return answer(200, R"({"success":true,"action":"join","cdata":"event-1","error-codes":[]})");
  }};
  CAF_CHECK(p.ask() == passed);
  const auto sent = p.server.requests().front();
  CAF_CHECK_EQUAL(sent.target, "/turnstile/v0/siteverify");
  CAF_CHECK_EQUAL(sent.body, "secret=se%26cret&sitekey=site&response=good%20one");
}

CAF_TEST(a response that was refused or used or is of another action or event does not pass) {
  CAF_CHECK(verdict_of(R"({"success":false,"error-codes":["timeout-or-duplicate"]})") == refused);
  CAF_CHECK(verdict_of(R"({"success":false,"error-codes":["invalid-input-response"]})") == refused);
  CAF_CHECK(verdict_of(R"({"success":true,"action":"code","cdata":"event-1"})") == refused);
  CAF_CHECK(verdict_of(R"({"success":true,"action":"join","cdata":"event-2"})") == refused);
  CAF_CHECK(verdict_of(R"({"success":true})", false) == passed); // hCaptcha keeps neither
}

CAF_TEST(what is neither yes nor no is an outage and never a yes) {
  CAF_CHECK(verdict_of(R"({"success":false,"error-codes":["invalid-input-secret"]})") == unavailable);
  CAF_CHECK(verdict_of(R"({"success":false,"error-codes":["internal-error"]})") == unavailable);
  CAF_CHECK(verdict_of(R"({"success":"true"})") == unavailable);
  CAF_CHECK(verdict_of("{}") == unavailable);
  CAF_CHECK(verdict_of("yes") == unavailable);
  for (const int status : {302, 400, 401, 429, 500, 503}) {
    provider p{[=](const scripted_request&) { return answer(status, R"({"success":true})"); }};
    CAF_CHECK(p.ask() == unavailable);
  }
  provider silent{[](const scripted_request&) { return hang(); }, true, milliseconds{500}};
  CAF_CHECK(silent.ask() == unavailable);
  provider gone{[](const scripted_request&) { return reset(); }};
  CAF_CHECK(gone.ask() == unavailable);
}

} // namespace captcha_test
