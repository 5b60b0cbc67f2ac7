// SPDX-License-Identifier: Apache-2.0
// The port to a payment gateway. Called by the gateway's own worker actor and by webhook routes; the
// implementations know nothing of events, queues or claims. Every call may be repeated: one reference, one
// transaction; one refund id, one refund.
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

/// Integer minor units with their ISO 4217 code.
struct gateway_money {
  std::int64_t amount = 0;
  std::string currency;
  friend bool operator==(const gateway_money&, const gateway_money&) = default;
};

/// A line of what is charged, as the payer is shown it.
struct gateway_line {
  std::string name;
  std::int64_t unit_amount = 0;
  std::int64_t quantity = 1;
  friend bool operator==(const gateway_line&, const gateway_line&) = default;
};

/// A charge, as good as the same in every call about it: what is in it depends on committed rows only, so
/// that a call may be repeated after a crash. If a name in it has changed meanwhile, a gateway may reject the
/// reference as used up.
struct gateway_charge {
  std::string reference; ///< ours, unique; chosen before the first call
  std::string gateway_id; ///< the gateway's own name for it; empty until it was heard
  gateway_money money;
  std::vector<gateway_line> lines; ///< their sum is money.amount; empty: one line of it
  std::string title; ///< what is bought, for the payer
  std::string customer_email; ///< empty: unknown
  std::string success_url,
    cancel_url; ///< where the payer's browser is sent afterwards; empty: the gateway's own default
  timestamp expires_at; ///< until when it should be payable; `never`: the gateway's own default. A gateway
                        ///< with a least life makes it later
  std::string destination; ///< account at the gateway that the money goes on to; empty: it stays
  std::int64_t application_fee = 0; ///< of money.amount, what stays with us if it goes on
  trace_context trace = {}; ///< what this call is a part of; no part of the charge
};

/// Infrastructure failures, as opposed to answers. `unavailable` (network, 429, 5xx, nonsense) is worth a
/// retry, `rejected` is not.
struct gateway_error {
  enum class kind_type { unavailable, rejected } kind = kind_type::unavailable;
  milliseconds retry_after{0}; ///< as the gateway wishes; 0: it did not say
  std::string what; ///< for people: status and the gateway's error code; no secret, no personal data
  bool is_used_up = false; ///< rejected: only because of its reference, which the gateway took before: with
                           ///< another one it may do
};

struct gateway_authorization {
  std::string url; ///< where the payer pays
  std::string gateway_id; ///< empty: it has none beside the reference
};

/// Same reference and charge again: the same answer. Same reference, another charge: `rejected`.
using initialize_result = std::variant<gateway_authorization, gateway_error>;

enum class charge_status {
  unknown, ///< the gateway has no such reference: initialize never reached it
  unpaid, ///< open: the payer may still pay
  paid, ///< captured (also when refunded later)
  declined, ///< will never be paid
  expired, ///< closed by us or by time before anybody paid
};

struct charge_state {
  charge_status status = charge_status::unknown;
  gateway_money money; ///< what was captured when paid, without tax; else what was asked
  std::int64_t tax = 0; ///< that the gateway added to it
  std::string gateway_id = {}; ///< if it was learnt on the way
};
using verify_result = std::variant<charge_state, gateway_error>;

enum class gateway_refund_status { pending, processed, failed };

struct refund_order {
  gateway_charge charge; ///< the paid one
  std::string refund_id; ///< ours; the idempotency key
  std::int64_t amount = 0;
};
using refund_result = std::variant<gateway_refund_status, gateway_error>;

enum class gateway_event_kind {
  charge_succeeded, ///< money.amount (and tax) was captured; the body is enough to believe it
  charge_reported, ///< the same, but to be believed only once `verify` says so too
  charge_failed,
  refund_processed,
  refund_failed,
};

/// A webhook whose signature was right.
struct gateway_event {
  std::string
    id; ///< the gateway's, or made from the body if it gives none; equal in every delivery of this event
  gateway_event_kind kind{};
  std::string reference;
  gateway_money money; ///< without tax
  std::int64_t tax = 0;
  std::string refund_id; ///< of refund events
  std::string gateway_id = {}; ///< of the charge, if the event says it
};

enum class webhook_error {
  bad_signature, ///< 401
  unknown_event, ///< genuine, but nothing that we act on: 200
  foreign_event, ///< genuine, about somebody else's charge: 200
};
using webhook_result = std::variant<gateway_event, webhook_error>;

template <class Result>
using gateway_done = std::function<void(Result)>;

/// Each call answers exactly once through `done`: before it returns, or later on another thread. It never
/// throws and never takes longer than the gateway's deadline. Calls come from one worker; `parse_webhook`
/// only computes and may be called anywhere.
class gateway_port {
public:
  virtual ~gateway_port() = default;

  /// "sandbox", "paystack", "stripe": the name in payments and routes.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// The request header (lower case) that carries a webhook's signature.
  [[nodiscard]] virtual std::string_view signature_field() const noexcept = 0;

  virtual void initialize(const gateway_charge& charge, gateway_done<initialize_result> done) = 0;
  virtual void verify(const gateway_charge& charge, gateway_done<verify_result> done) = 0;
  /// Closes an open charge, so that it can no longer be paid; answers what it is afterwards (perhaps paid,
  /// just before). A gateway that cannot close answers `unpaid` for one that is open.
  virtual void expire(const gateway_charge& charge, gateway_done<verify_result> done) = 0;
  virtual void refund(const refund_order& order, gateway_done<refund_result> done) = 0;

  /// Checks the signature over the raw body in constant time, then parses. `now`: wall-clock time, for
  /// signatures that have one.
  [[nodiscard]] virtual webhook_result parse_webhook(std::string_view raw_body, std::string_view signature,
                                                     timestamp now) const = 0;
};

} // namespace fq
