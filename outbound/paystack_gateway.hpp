// SPDX-License-Identifier: Apache-2.0
// Paystack as a payment gateway: one transaction on its hosted page per charge. Called by the gateway's
// worker and the webhook route.
//
// For operators, and the assumptions about Paystack's API:
// - Webhook keys: Paystack's dashboard holds the webhook address. Paystack signs with the secret API key.
//   To rotate it, list both keys for a while: the first signs calls, any of them may have signed a webhook.
// - Replay: a webhook has no timestamp and can be replayed. So charge.success is only a report, and the
//   owner calls `verify`.
// - References: Paystack accepts a reference once and returns the page's address only then. If that answer
//   is lost, initialize answers `rejected`, "duplicate_reference". The owner opens a new attempt with a new
//   reference. Money that arrives on the old one is found by webhook or `verify` and is late money.
// - Expiry: a transaction cannot be closed; `expire` answers its state. An abandoned one can still be paid:
//   `unpaid`. A failed one is `declined`, although the payer may retry on an open page: late money. A
//   reversed one was paid: `paid`.
// - Refunds have no idempotency key. FairQueue writes the refund id into merchant_note ("fairqueue refund
//   <id>"). Before it makes a refund it reads the transaction's numeric id, lists all refunds and looks for
//   that note. The HTTP client never repeats the creating request. After a lost answer the retry waits one
//   minute, so that the list is up to date. Two nodes must not make the same refund at the same time. A
//   failed refund stays failed: a new attempt needs a new refund id.
// - Refund webhooks hold the transaction, the amount and Paystack's reference, but not always the note.
//   Without the note the event's refund_id is EMPTY. The owner then calls `refund` again for each pending
//   refund of this charge, which finds it by its note and answers its state. Amounts are never used to
//   match.
// - A refund that needs the payer's bank account (`needs-attention`) stays `pending` until an operator
//   handles it in the dashboard.
// - E-mail is mandatory: `fallback_email` replaces a missing address; Paystack sends those receipts there.
// - Currencies: the Paystack account decides; an unsupported currency is `rejected`. Amounts are in
//   Paystack's subunits, which equal FairQueue's minor units.
// - Destination: with a `destination` (a subaccount) the application fee is sent as transaction_charge; the
//   main account bears Paystack's own fees.
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
  /// Wait after a refund request whose answer was lost; see above.
  static constexpr milliseconds refund_pause{60'000};

  struct settings {
    std::vector<std::string> secret_keys; ///< sk_…; the first one signs calls; empty ones are ignored
    std::string fallback_email; ///< for charges without an address; empty: such charges are rejected
    /// default for charges without a return address; empty: the dashboard's setting
    std::string callback_url;
    std::string url = "https://api.paystack.co";
    milliseconds call_timeout{
      20'000}; ///< of a whole call: a refund makes three requests, more if the list is long
    http_client::settings http;
  };

  /// Throws std::invalid_argument without a secret key, std::runtime_error without libcurl. `env` must
  /// outlive the gateway.
  paystack_gateway(settings options, environment& env);
  /// Answers `unavailable` to all outstanding calls.
  ~paystack_gateway() override;
  paystack_gateway(const paystack_gateway&) = delete;
  paystack_gateway& operator=(const paystack_gateway&) = delete;

  [[nodiscard]] std::string_view name() const noexcept override { return "paystack"; }
  [[nodiscard]] std::string_view signature_field() const noexcept override { return signature_header; }
  void initialize(const gateway_charge& charge, gateway_done<initialize_result> done) override;
  void verify(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void expire(const gateway_charge& charge, gateway_done<verify_result> done) override;
  void refund(const refund_request& order, gateway_done<refund_result> done) override;
  [[nodiscard]] webhook_result parse_webhook(std::string_view raw_body, std::string_view signature,
                                             timestamp now) const override;

private:
  [[nodiscard]] http_request get(std::string path) const;
  [[nodiscard]] http_request post(std::string path, std::string body) const;
  void find_or_make_refund(const refund_request& order, std::int64_t transaction, int page,
                           const api_call& call, gateway_done<refund_result> done);
  void make_refund(const refund_request& order, const api_call& call, gateway_done<refund_result> done);

  [[nodiscard]] gateway_error error_of(const api_answer& answer) const;
  [[nodiscard]] initialize_result authorization_of(const api_answer& answer,
                                                   const std::string& reference) const;
  [[nodiscard]] verify_result state_of(const api_answer& answer, const std::string& reference) const;
  [[nodiscard]] refund_result made_refund_of(const api_answer& answer) const;
  [[nodiscard]] bool is_signed(std::string_view raw_body, std::string_view signature) const;

  settings settings_;
  std::unique_ptr<json_api> api_; // last, so it is destroyed first: its callbacks use the members above
};

} // namespace fq
