// SPDX-License-Identifier: Apache-2.0
// Stripe Checkout as a payment gateway: one hosted session per charge. Called by the gateway's worker and the
// webhook route.
//
// For operators, and the assumptions about Stripe's API:
// - API version: 2025-03-31.basil, sent with every call. Create the webhook endpoint with the same version.
//   With older versions, sessions with Adaptive Pricing report the payer's currency instead of the
//   charge's, and the payment would be quarantined.
// - Events to subscribe: checkout.session.completed, .async_payment_succeeded, .async_payment_failed,
//   .expired; refund.created, refund.updated, refund.failed (or charge.refund.updated). Others are answered
//   200 and ignored.
// - Idempotency: Stripe repeats its first answer to a POST with the same Idempotency-Key and parameters,
//   for at least 24 hours. A session's key is the charge's reference, so its parameters must not change.
//   They come from the charge (the tenant's metadata is part of it) and from success_url, cancel_url and
//   automatic_tax. If an operator changes these settings, open charges whose first answer was lost become
//   `rejected`.
// - A key also stores a 500. Then initialize fails for a day; the owner's deadline ends the attempt
//   earlier.
// - Lifetime: a session lives between 30 minutes and 24 hours. A charge's expires_at must be in that range,
//   with slack for the delay of the first call.
// - Lost first answer: while gateway_id is empty, verify, expire and refund repeat the first call to learn
//   it. If Stripe never received the first call, this creates the session: unpaid, its URL known to no
//   payer, closed by `expire` or by time. `unknown` is answered only if expires_at is too near for a new
//   session; then no session of the last 24 hours exists.
// - Refunds are looked up by their metadata before one is made, so a repeat after the key's 24 hours makes
//   no second refund. With a `destination` the transfer is reversed in proportion, and the application fee
//   is given back if there was one.
// - Metadata of the charge is on the session and the payment, so that a router of webhooks can decide by it.
//   Refunds have ids only, because a repeat must send the same. The payment's description is the charge's
//   title.
// - Amounts are in Stripe's minor units, which equal FairQueue's, also for zero-decimal currencies. With
//   automatic tax, Stripe adds tax to the prices and reports it beside the amount. Coupons, shipping and
//   adjustable quantities are not offered.
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
  /// Stripe's recommendation, see reference section 2.5. Also applied to timestamps in the future.
  static constexpr seconds signature_tolerance{300};

  struct settings {
    /// sk_…, or an rk_… that may write Checkout Sessions and refunds and read PaymentIntents
    std::string secret_key;
    /// complete whsec_… values; several during a rotation; empty ones are ignored
    std::vector<std::string> webhook_secrets;
    std::string success_url, cancel_url; ///< defaults for charges without their own
    bool automatic_tax = false; ///< requires Stripe Tax
    std::string url = "https://api.stripe.com";
    milliseconds call_timeout{20'000}; ///< of a whole call: a refund makes up to four requests
    http_client::settings http;
  };

  /// Throws std::invalid_argument without a secret key, std::runtime_error without libcurl. `env` must
  /// outlive the gateway.
  stripe_gateway(settings options, environment& env);
  /// Answers `unavailable` to all outstanding calls.
  ~stripe_gateway() override;
  stripe_gateway(const stripe_gateway&) = delete;
  stripe_gateway& operator=(const stripe_gateway&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "stripe"; }
  [[nodiscard]] std::string_view signature_field() const noexcept override { return signature_header; }
  void initialize(const gateway_charge& charge, gateway_done<initialize_result> done) override;
  void verify(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void expire(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void refund(const refund_request& order, gateway_done<refund_result> done) override;
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
  void find_or_make_refund(const refund_request& order, const std::string& intent, const api_call& call,
                           gateway_done<refund_result> done);
  void make_refund(const refund_request& order, const std::string& intent, const api_call& call,
                   gateway_done<refund_result> done);

  [[nodiscard]] gateway_error error_of(const api_answer& answer) const;
  [[nodiscard]] initialize_result authorization_of(const api_answer& answer) const;
  [[nodiscard]] verify_result state_of(const gateway_charge& charge, const api_answer& answer) const;
  [[nodiscard]] verify_result state_without_session(const api_answer& answer) const;
  [[nodiscard]] bool is_signed(std::string_view raw_body, std::string_view signature, timestamp now) const;

  settings settings_;
  std::unique_ptr<json_api> api_; // last, so it is destroyed first: its callbacks use the members above
};

} // namespace fq
