// SPDX-License-Identifier: Apache-2.0
// Stripe Checkout as a payment gateway: one hosted session per charge. Called by the gateway's worker and the
// webhook route.
//
// What an operator must know, and what of Stripe's API this leans on:
// - API version 2025-03-31.basil, sent with every call. The webhook endpoint should be created with the same
// one: with older ones the amounts
//   of a session with Adaptive Pricing are in the payer's currency, not in the charge's, and the payment
//   would be quarantined.
// - Events to subscribe: checkout.session.completed, .async_payment_succeeded, .async_payment_failed,
// .expired; refund.created,
//   refund.updated, refund.failed (or charge.refund.updated). Everything else is answered 200 and ignored.
// - A repeated POST with the same Idempotency-Key and parameters is answered as the first was, for at least
// 24 hours. The key of a session is
//   the charge's reference, so its parameters must not change: they come from the charge and from the
//   settings success_url, cancel_url and automatic_tax. Who changes those three while charges are open whose
//   first answer was lost finds these charges `rejected`.
// - A key also remembers a 500. Then initialize fails for a day; the owner's deadline ends the attempt
// before.
// - A session lives between 30 minutes and 24 hours; a charge's expires_at must lie there, with slack for the
// first call's delay.
// - While gateway_id is empty (the answer of the first call was lost), verify, expire and refund repeat the
// first call to learn it. If nothing
//   of it had reached Stripe, that makes the session now: unpaid, its url told to nobody, closed by `expire`
//   or by its time. `unknown` is answered only when expires_at has become too near for a new session: then
//   there can be no old one of the last 24 hours.
// - Refunds are found again by their metadata before one is made, so that a repetition after the key's 24
// hours makes no second one. With a
//   `destination` the transfer is reversed in proportion, and the application fee given back if there was
//   one.
// - Amounts in Stripe's minor units are ours, zero-decimal currencies included. With automatic tax (prices
// without tax, Stripe adds it) the
//   tax is reported beside the amount. Coupons, shipping and adjustable quantities are not offered.
#pragma once
#include "outbound/gateway.hpp"
#include "outbound/http_client.hpp"

#include <memory>

namespace fq {

class json_api;
struct api_call;
struct api_answer;

class stripe_gateway final : public gateway_port {
public:
  static constexpr std::string_view api_version = "2025-03-31.basil";
  static constexpr std::string_view signature_header = "stripe-signature";
  /// Stripe's own advice, see reference section 2.5. The future is refused as the past is.
  static constexpr seconds signature_tolerance{300};

  struct settings {
    std::string
      secret_key; ///< sk_…, or an rk_… that may write Checkout Sessions and refunds and read PaymentIntents
    std::vector<std::string>
      webhook_secrets; ///< whsec_…, whole; several while one is replaced; empty ones are ignored
    std::string success_url, cancel_url; ///< where a charge names none
    bool automatic_tax = false; ///< needs Stripe Tax to be set up
    std::string url = "https://api.stripe.com";
    milliseconds call_timeout{20'000}; ///< of a whole call: refund makes up to four requests
    http_client::settings http;
  };

  /// Throws std::invalid_argument without a secret key, std::runtime_error without libcurl. `env` must
  /// outlive the gateway.
  stripe_gateway(settings options, environment& env);
  /// Answers what is outstanding with `unavailable`.
  ~stripe_gateway() override;
  stripe_gateway(const stripe_gateway&) = delete;
  stripe_gateway& operator=(const stripe_gateway&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "stripe"; }
  [[nodiscard]] std::string_view signature_field() const noexcept override { return signature_header; }
  void initialize(const gateway_charge& charge, gateway_done<initialize_result> done) override;
  void verify(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void expire(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void refund(const refund_order& order, gateway_done<refund_result> done) override;
  [[nodiscard]] webhook_result parse_webhook(std::string_view raw_body, std::string_view signature,
                                             timestamp now) const override;

private:
  using answer_handler = std::function<void(api_answer)>;

  [[nodiscard]] http_request get(std::string path) const;
  [[nodiscard]] http_request post(std::string path, std::string form,
                                  const std::string& idempotency_key) const;
  [[nodiscard]] http_request create_session(const gateway_charge& charge) const;
  void with_session_id(const gateway_charge& charge, const api_call& call,
                       std::function<void(const std::string&)> found, answer_handler otherwise);
  void retrieve(const std::string& session, const api_call& call, answer_handler then);
  void look(const gateway_charge& charge, const api_call& call, gateway_done<verify_result> done);
  void close(const gateway_charge& charge, const std::string& session, const api_call& call,
             gateway_done<verify_result> done);
  void find_or_make_refund(const refund_order& order, const std::string& intent, const api_call& call,
                           gateway_done<refund_result> done);
  void make_refund(const refund_order& order, const std::string& intent, const api_call& call,
                   gateway_done<refund_result> done);

  [[nodiscard]] gateway_error error_of(const api_answer& answer) const;
  [[nodiscard]] initialize_result authorization_of(const api_answer& answer) const;
  [[nodiscard]] verify_result state_of(const gateway_charge& charge, const api_answer& answer) const;
  [[nodiscard]] verify_result state_without_session(const api_answer& answer) const;
  [[nodiscard]] bool is_signed(std::string_view raw_body, std::string_view signature, timestamp now) const;

  settings settings_;
  std::unique_ptr<json_api> api_; // last: its end answers the steps outstanding, which use the above
};

} // namespace fq
