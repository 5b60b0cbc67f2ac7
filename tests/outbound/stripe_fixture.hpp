// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the Stripe gateway: objects as Stripe shows them, and a gateway at a scripted
// Stripe.
#pragma once
#include "crypto/digest.hpp"
#include "outbound/stripe_gateway.hpp"
#include "tests/outbound/gateway_answers.hpp"
#include "tests/outbound/real_environment.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fq::test::stripe {

inline const std::string reference = "fq_018f0000-0000-7000-8000-000000000001";

/// As Stripe shows a session; `more`: members that end with a comma.
inline std::string session(const std::string& status, const std::string& payment_status,
                           const std::string& more = "") {
  return R"({"id":"cs_1","object":"checkout.session",)" + more + R"("status":")" + status
         + R"(","payment_status":")" + payment_status
         + R"(","amount_total":5000,"currency":"eur","metadata":{"fairqueue_reference":")" + reference
         + R"("},"url":"https://checkout.stripe.com/c/cs_1"})";
}
inline std::string paid_session() {
  return session("complete", "paid", R"("payment_intent":{"id":"pi_1","status":"succeeded"},)");
}
inline std::string refund_object(const std::string& status, const std::string& refund_id = "refund-1",
                                 int amount = 2000) {
  return R"({"id":"re_1","object":"refund","amount":)" + std::to_string(amount)
         + R"(,"currency":"eur","status":")" + status + R"(","metadata":{"fairqueue_refund":")" + refund_id
         + R"(","fairqueue_reference":")" + reference + R"("}})";
}
inline std::string list_of(const std::string& items) { return R"({"object":"list","data":[)" + items + "]}"; }
inline std::string error(const std::string& type, const std::string& code,
                         const std::string& parameter = "") {
  return R"({"error":{"type":")" + type + R"(","code":")" + code + R"(","param":")" + parameter
         + R"(","message":"Invalid API Key provided: sk_test_secret for fan@example.com"}})";
}

struct fixture {
  real_environment env;
  std::function<scripted_answer(const scripted_request&)> script;
  scripted_server server{[this](const scripted_request& r) { return script(r); }};
  stripe_gateway::settings settings = make_settings();
  std::unique_ptr<stripe_gateway> made;

  stripe_gateway::settings make_settings() {
    stripe_gateway::settings s;
    s.secret_key = "sk_test_secret";
    s.webhook_secrets = {"whsec_test_secret"};
    s.success_url = "https://tickets.example/thanks";
    s.cancel_url = "https://tickets.example/back";
    s.url = server.url();
    s.call_timeout = milliseconds{5000};
    return s;
  }
  stripe_gateway& gateway() {
    if (!made) made = std::make_unique<stripe_gateway>(settings, env);
    return *made;
  }
  static gateway_charge charge(const std::string& gateway_id = "cs_1") {
    gateway_charge c;
    c.reference = reference;
    c.gateway_id = gateway_id;
    c.money = {5000, "EUR"};
    c.title = "Two tickets";
    return c;
  }
  initialize_result initialize(const gateway_charge& c = charge("")) {
    return answered<initialize_result>([&](auto done) { gateway().initialize(c, std::move(done)); });
  }
  verify_result verify(const gateway_charge& c = charge()) {
    return answered<verify_result>([&](auto done) { gateway().verify(c, std::move(done)); });
  }
  verify_result expire(const gateway_charge& c = charge()) {
    return answered<verify_result>([&](auto done) { gateway().expire(c, std::move(done)); });
  }
  refund_result refund(const gateway_charge& c = charge(), std::int64_t amount = 2000) {
    return answered<refund_result>([&](auto done) {
      gateway().refund({c, "refund-1", amount}, std::move(done));
    });
  }
  webhook_result parse(const std::string& body, const std::string& signature, std::int64_t now_s) {
    return gateway().parse_webhook(body, signature, from_unix_ms(now_s * 1000));
  }
  static std::string sign(const std::string& body, std::int64_t at,
                          const std::string& secret = "whsec_test_secret") {
    return to_hex(hmac_sha256(view_bytes(secret), std::to_string(at) + "." + body));
  }
  webhook_result parse_signed(const std::string& body) {
    return parse(body, "t=1700000000,v1=" + sign(body, 1'700'000'000), 1'700'000'000);
  }
  /// Always the same answer.
  void always(int status, const std::string& body,
              const std::string& fields = "Content-Type: application/json\r\n") {
    script = [=](const scripted_request&) { return answer(status, body, fields); };
  }
  std::vector<std::string> lines_sent() {
    std::vector<std::string> out;
    for (const auto& r : server.requests()) out.push_back(r.method + " " + r.target);
    return out;
  }
};

} // namespace fq::test::stripe
