// SPDX-License-Identifier: Apache-2.0
// Challenges from request to answer: what a client sees, what reaches the owner, and captchas of a provider
// that says yes, no or nothing.
#define CAF_SUITE routes_challenges
#include "caf/test/unit_test.hpp"

#include "net/wire/challenge_codec.hpp"
#include "outbound/captcha.hpp"
#include "tests/net/api/world.hpp"

namespace challenges_test {

using namespace fq;
using namespace fq::net;
using namespace fq::net::made;

namespace {

struct scripted_captcha final : captcha_port {
  captcha_verdict verdict = captcha_verdict::passed;
  std::vector<std::string> asked;
  std::string key = "site-1";

  const std::string& site_key() const override { return key; }
  void verify(std::string response, std::string action, std::string bound_to,
              std::function<void(captcha_verdict)> done) override {
    asked.push_back(response + " " + action + " " + bound_to);
    done(verdict);
  }
};

struct challenged : world {
  explicit challenged(config::options o = world_options()) : world(std::move(o)) {
    shared.captchas.emplace(challenge_kind::turnstile, &turnstile);
    told->challenge.solved = {"0000000000000001?expires=1&n=1&max=0&", 0, "5ig"};
  }
  std::string path(std::string_view of = "/events/") const {
    return std::string{of} + to_string(event_id) + "/challenge";
  }
  response exchange(std::string_view captcha = "good") {
    return send(method::post, path(), R"({"captcha":")" + std::string{captcha} + "\"}", json);
  }
  scripted_captcha turnstile;
  const text_fields json{{"Content-Type", "application/json"}};
};

const solved_challenge solution{"00000000000000ab?expires=1800000300&n=17&max=30000&", 12'345, "0a1b"};

} // namespace

CAF_TEST(a solution is read from the payload of the widget and nothing else is one) {
  const auto text = payload_of(solution);
  const auto read = read_solved(text);
  CAF_CHECK_EQUAL(read.salt, solution.salt);
  CAF_CHECK_EQUAL(read.number, solution.number);
  CAF_CHECK_EQUAL(read.signature, solution.signature);
  // {"algorithm":"SHA-256","number":5,"salt":"a?b","signature":"c","took":7} as btoa writes it, with padding
  const auto of_widget = read_solved(
    "eyJhbGdvcml0aG0iOiJTSEEtMjU2IiwibnVtYmVyIjo1LCJzYWx0IjoiYT9iIiwic2lnbmF0dXJlIjoiYyIsInRvb2siOjd9");
  CAF_CHECK_EQUAL(of_widget.salt, "a?b");
  CAF_CHECK_EQUAL(of_widget.number, 5u);
  for (const auto* other : {"", "e30", "e30=", "!", "bnVsbA", "eyJudW1iZXIiOi0xfQ", "eyJudW1iZXIiOiI1In0"})
    CAF_CHECK(read_solved(other).salt.empty());
  CAF_CHECK(read_solved(std::string(2'000, 'A')).salt.empty());
}

CAF_TEST(a proof of work is given in the form that the widget reads) {
  challenged w;
  w.told->challenge = {{}, challenge_kind::proof_of_work, {"a?b=c&", "ab", "cd", 30'000, 1'800'000'300}, {}};
  const auto answer = w.send(method::get, w.path());
  CAF_CHECK_EQUAL(answer.status, 200u);
  CAF_CHECK_EQUAL(answer.body,
                  R"({"type":"proof_of_work","algorithm":"SHA-256","challenge":"ab","salt":"a?b=c&",)"
                  R"("signature":"cd","maxnumber":30000,"expires_at":"2027-01-15T08:05:00.000Z"})");
  const auto& asked = w.told->asked_challenges.back();
  CAF_CHECK(asked.way == challenge_way::work && asked.kind == event_kind::sale && asked.event == w.event_id);
  w.send(method::get, w.path("/queues/"));
  CAF_CHECK(w.told->asked_challenges.back().kind == event_kind::queue);
  CAF_CHECK_EQUAL(w.send(method::get, "/auth/challenge").body, answer.body);
}

CAF_TEST(a captcha is exchanged for a solved challenge) {
  challenged w;
  w.told->challenge.kind = challenge_kind::turnstile;
  CAF_CHECK_EQUAL(w.send(method::get, w.path()).body,
                  R"({"type":"turnstile","site_key":"site-1","action":"join","bound_to":")"
                    + to_string(w.event_id) + "\"}");
  const auto answer = w.exchange();
  CAF_CHECK_EQUAL(answer.status, 201u);
  CAF_CHECK_EQUAL(answer.body, R"({"challenge":")" + payload_of(w.told->challenge.solved) + "\"}");
  CAF_CHECK_EQUAL(w.turnstile.asked.back(), "good join " + to_string(w.event_id));
  CAF_CHECK(w.told->asked_challenges.back().way == challenge_way::captcha);
}

CAF_TEST(a refused captcha and an outage of the provider give no challenge) {
  challenged w;
  w.told->challenge.kind = challenge_kind::turnstile;
  w.turnstile.verdict = captcha_verdict::refused;
  auto answer = w.exchange();
  CAF_CHECK_EQUAL(shown(answer), "403 challenge_required");
  CAF_CHECK(answer.body.find(R"("challenge_url":"/events/)" + to_string(w.event_id) + "/challenge\"")
            != std::string::npos);
  w.turnstile.verdict = captcha_verdict::unavailable;
  answer = w.exchange();
  CAF_CHECK_EQUAL(shown(answer), "503 unavailable");
  CAF_CHECK_EQUAL(field_of(answer, "Retry-After"), "10");
  for (const auto& asked : w.told->asked_challenges) CAF_CHECK(asked.way == challenge_way::work);
  w.told->challenge.kind = challenge_kind::hcaptcha; // without keys
  CAF_CHECK_EQUAL(shown(w.exchange()), "503 unavailable");
  w.told->challenge.kind = challenge_kind::proof_of_work;
  CAF_CHECK_EQUAL(shown(w.exchange()), "400 invalid_field");
}

CAF_TEST(pages ask the provider of a captcha only as often as an address may) {
  auto options = world_options();
  options.rate_limits.anonymous_requests_per_ip_per_minute = 2;
  challenged w{options};
  w.turnstile.verdict = captcha_verdict::refused;
  w.told->event.event.event.challenge = challenge_kind::turnstile;
  const auto join = [&] {
    const auto token = w.as_customer().front().second.substr(7);
    return w
      .send(
        method::post, "/wait/" + to_string(w.event_id), "action=join&captcha=x",
        {{"Content-Type", "application/x-www-form-urlencoded"}, {"Cookie", "fairqueue_customer=" + token}})
      .status;
  };
  for (int i = 0; i < 2; ++i) CAF_CHECK_EQUAL(join(), 303u);
  CAF_CHECK_EQUAL(join(), 429u);
  CAF_CHECK_EQUAL(w.turnstile.asked.size(), 2u);
}

CAF_TEST(a join and a request for a code carry the solution and the client) {
  challenged w;
  w.told->entry.created = true;
  const auto body = R"({"challenge":")" + payload_of(solution) + "\"}";
  w.send(method::post, "/events/" + to_string(w.event_id) + "/queue", body, w.as_customer());
  CAF_CHECK_EQUAL(w.told->asked_join.solved.number, solution.number);
  CAF_CHECK(!w.told->asked_join.client.is_nil());
  CAF_CHECK(!w.told->asked_join.is_trusted);
  w.send(method::post, "/auth/customer/otp/request",
         R"({"email":"a@example.com","challenge":")" + payload_of(solution) + "\"}", w.json);
  CAF_CHECK_EQUAL(w.told->asked_otp.solved.salt, solution.salt);
  CAF_CHECK(w.told->asked_otp.may_work);
}

} // namespace challenges_test
