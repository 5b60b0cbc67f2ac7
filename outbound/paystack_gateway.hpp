// SPDX-License-Identifier: Apache-2.0
// Paystack as a payment gateway: one transaction on its hosted page per charge. Called by the gateway's
// worker and the webhook route.
//
// What an operator must know, and what of Paystack's API this leans on:
// - The webhook's address is set in Paystack's dashboard. Its signature is keyed with the secret API key, so
// replacing that key means to list
//   both for a while: the first signs our calls, any may have signed a webhook.
// - A webhook has no time in it and can be replayed by who has seen it, so charge.success is only a report:
// the owner asks `verify`.
// - A reference is taken once, and Paystack tells its page's address only then. If that answer was lost,
// initialize says `rejected`,
//   "duplicate_reference": nobody has the address, so the owner opens a new attempt with a new reference.
//   Should money come on the old one all the same, its webhook or a `verify` tells, and it is late money.
// - A transaction cannot be closed: `expire` answers what it is. An abandoned one can still be paid, so it is
// `unpaid`; a failed one is
//   `declined`, though its payer may try once more on an open page: late money again. A reversed one that was
//   paid is `paid`.
// - Refunds have no idempotency key. Ours carry their id in merchant_note ("fairqueue refund <id>"); before
// one is made, all refunds of the
//   transaction are listed (by its numeric id, which is asked first) and ours is recognised by its note. The
//   request that makes one is never repeated by the HTTP client, and after a lost answer the retry is asked
//   to wait a minute, so that the list shows what was made. Two nodes must not refund the same thing at the
//   same time. A failed refund stays failed: another try needs another refund id.
// - Refund webhooks name the transaction, the amount, and Paystack's reference; not our id, unless the note
// is with them. Without it the event's
//   refund_id is EMPTY: its owner then calls `refund` again for each refund of this charge that is still
//   pending, which finds it by its note and answers what became of it. Nothing is guessed from amounts.
// - A refund that needs the payer's bank account (`needs-attention`) is `pending` until somebody sees to it
// in the dashboard.
// - An e-mail address is obligatory: `fallback_email` stands in for fans that left none; Paystack sends their
// receipts there.
// - Which currencies work is a matter of the Paystack account; one that does not is `rejected`. Amounts in
// its subunits are ours.
// - With a `destination` (a subaccount) the application fee goes as transaction_charge, Paystack's own fees
// are borne by the main account.
#pragma once
#include "outbound/gateway.hpp"
#include "outbound/http_client.hpp"

#include <memory>

namespace fq {

class json_api;
struct api_call;
struct api_answer;

class paystack_gateway final : public gateway_port {
public:
  static constexpr std::string_view signature_header = "x-paystack-signature";
  /// After a refund whose answer was lost; see above.
  static constexpr milliseconds refund_pause{60'000};

  struct settings {
    std::vector<std::string> secret_keys; ///< sk_…; the first one is used for calls; empty ones are ignored
    std::string fallback_email; ///< for charges without; empty: those are rejected
    std::string callback_url; ///< where a charge names none; empty: as the dashboard says
    std::string url = "https://api.paystack.co";
    milliseconds call_timeout{
      20'000}; ///< of a whole call: refund makes three requests, or more if there are many refunds
    http_client::settings http;
  };

  /// Throws std::invalid_argument without a secret key, std::runtime_error without libcurl. `env` must
  /// outlive the gateway.
  paystack_gateway(settings options, environment& env);
  /// Answers what is outstanding with `unavailable`.
  ~paystack_gateway() override;
  paystack_gateway(const paystack_gateway&) = delete;
  paystack_gateway& operator=(const paystack_gateway&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "paystack"; }
  [[nodiscard]] std::string_view signature_field() const noexcept override { return signature_header; }
  void initialize(const gateway_charge& charge, gateway_done<initialize_result> done) override;
  void verify(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void expire(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void refund(const refund_order& order, gateway_done<refund_result> done) override;
  [[nodiscard]] webhook_result parse_webhook(std::string_view raw_body, std::string_view signature,
                                             timestamp now) const override;

private:
  [[nodiscard]] http_request get(std::string path) const;
  [[nodiscard]] http_request post(std::string path, std::string body) const;
  void find_or_make_refund(const refund_order& order, std::int64_t transaction, int page,
                           const api_call& call, gateway_done<refund_result> done);
  void make_refund(const refund_order& order, const api_call& call, gateway_done<refund_result> done);

  [[nodiscard]] gateway_error error_of(const api_answer& answer) const;
  [[nodiscard]] initialize_result authorization_of(const api_answer& answer,
                                                   const std::string& reference) const;
  [[nodiscard]] verify_result state_of(const api_answer& answer, const std::string& reference) const;
  [[nodiscard]] refund_result made_refund_of(const api_answer& answer) const;
  [[nodiscard]] bool is_signed(std::string_view raw_body, std::string_view signature) const;

  settings settings_;
  std::unique_ptr<json_api> api_; // last: its end answers the steps outstanding, which use the above
};

} // namespace fq
