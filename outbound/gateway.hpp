// SPDX-License-Identifier: Apache-2.0
// The port to a payment gateway. Called by the gateway's worker actor and by webhook routes; implementations
// know nothing of events, queues or claims. Every call is idempotent: one reference makes one transaction,
// one refund id makes one refund.
#pragma once
#include "domain/base/time.hpp"
#include "domain/base/trace.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fq {

/// Integer amount in minor units with its ISO 4217 code.
struct gateway_money {
  std::int64_t amount = 0;
  std::string currency;
  friend bool operator==(const gateway_money&, const gateway_money&) = default;
};

/// A line of a charge, as the payer sees it.
struct gateway_line {
  std::string name;
  std::int64_t unit_amount = 0;
  std::int64_t quantity = 1;
  friend bool operator==(const gateway_line&, const gateway_line&) = default;
};

/// Data that a gateway keeps beside a charge and repeats in its webhooks.
struct gateway_label {
  std::string key, value;
  friend bool operator==(const gateway_label&, const gateway_label&) = default;
};

/// A charge. Its content depends on committed rows only, so that every call about it sends the same data,
/// also after a crash. If a name or metadata has changed meanwhile, a gateway may reject the reference as
/// already used.
struct gateway_charge {
  std::string reference; ///< FairQueue's unique id; chosen before the first call
  std::string gateway_id; ///< the gateway's id; empty until an answer with it arrived
  gateway_money money;
  std::vector<gateway_line> lines; ///< their sum is money.amount; empty: one line of that amount
  std::string title; ///< of the purchase, for the payer
  std::string customer_email; ///< empty: unknown
  std::string success_url,
    cancel_url; ///< return addresses of the payer's browser; empty: the gateway's default
  timestamp expires_at; ///< end of payability; `never`: the gateway's default. Gateways with a minimum
                        ///< lifetime may extend it
  /// account at the gateway that receives the money; empty: FairQueue's account keeps it
  std::string destination;
  /// part of money.amount that FairQueue's account keeps if there is a destination
  std::int64_t application_fee = 0;
  std::vector<gateway_label> metadata = {};
  trace_context trace = {}; ///< of the calling request; not part of the charge
};

/// An infrastructure failure, as opposed to an answer. `unavailable` (network, 429, 5xx, unreadable answer)
/// is worth a retry, `rejected` is not.
struct gateway_error {
  enum class kind_type { unavailable, rejected } kind = kind_type::unavailable;
  milliseconds retry_after{0}; ///< requested by the gateway; 0: not stated
  std::string what; ///< for people: status and the gateway's error code, without secrets or personal data
  /// for `rejected`: the gateway has used this reference before; another reference may succeed
  bool reference_already_used = false;
};

struct gateway_authorization {
  std::string url; ///< of the payment page
  std::string gateway_id; ///< empty: the gateway uses the reference only
};

/// A repeated call with the same charge gives the same answer. The same reference with another charge:
/// `rejected`.
using initialize_result = std::variant<gateway_authorization, gateway_error>;

enum class charge_status {
  unknown, ///< the gateway has no such reference: initialize never reached it
  unpaid, ///< open: the payer may still pay
  paid, ///< captured (also when refunded later)
  declined, ///< will never be paid
  expired, ///< closed by FairQueue or by time before payment
};

struct charge_state {
  charge_status status = charge_status::unknown;
  gateway_money money; ///< the captured amount without tax if paid, else the requested amount
  std::int64_t tax = 0; ///< added by the gateway
  std::string gateway_id = {}; ///< empty if the answer did not contain it
};
using verify_result = std::variant<charge_state, gateway_error>;

enum class gateway_refund_status { pending, processed, failed };

struct refund_request {
  gateway_charge charge; ///< the paid one
  std::string refund_id; ///< FairQueue's id; the idempotency key
  std::int64_t amount = 0;
};
using refund_result = std::variant<gateway_refund_status, gateway_error>;

enum class gateway_event_kind {
  charge_succeeded, ///< money.amount (and tax) was captured; the webhook alone is sufficient proof
  charge_reported, ///< the same, but valid only after `verify` confirms it
  charge_failed,
  refund_processed,
  refund_failed,
};

/// A webhook with a valid signature.
struct gateway_event {
  std::string id; ///< the gateway's event id, or derived from the body; equal in every delivery of this event
  gateway_event_kind kind{};
  std::string reference;
  gateway_money money; ///< without tax
  std::int64_t tax = 0;
  std::string refund_id; ///< for refund events
  std::string gateway_id = {}; ///< of the charge, if the event names it
};

enum class webhook_error {
  bad_signature, ///< 401
  unknown_event, ///< authentic, but of an unused kind: 200
  foreign_event, ///< authentic, about a charge that FairQueue did not make: 200
};
using webhook_result = std::variant<gateway_event, webhook_error>;

template <class Result>
using gateway_done = std::function<void(Result)>;

/// Each call answers exactly once through `done`: before it returns, or later on another thread. It never
/// throws and never exceeds the gateway's deadline. Calls come from one worker; `parse_webhook` is pure and
/// thread-safe.
class gateway_port {
public:
  virtual ~gateway_port() = default;

  /// "sandbox", "paystack", "stripe": the name in payments and routes.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// The request header (lower case) that carries a webhook's signature.
  [[nodiscard]] virtual std::string_view signature_field() const noexcept = 0;

  virtual void initialize(const gateway_charge& charge, gateway_done<initialize_result> done) = 0;
  virtual void verify(const gateway_charge& charge, gateway_done<verify_result> done) = 0;
  /// Closes an open charge, so that it can no longer be paid. Answers the final state, which may be `paid`. A
  /// gateway that cannot close charges answers `unpaid` for an open one.
  virtual void expire(const gateway_charge& charge, gateway_done<verify_result> done) = 0;
  virtual void refund(const refund_request& order, gateway_done<refund_result> done) = 0;

  /// Checks the signature over the raw body in constant time, then parses. `now`: wall-clock time, for
  /// signatures with a timestamp.
  [[nodiscard]] virtual webhook_result parse_webhook(std::string_view raw_body, std::string_view signature,
                                                     timestamp now) const = 0;
};

} // namespace fq
