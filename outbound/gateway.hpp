// SPDX-License-Identifier: Apache-2.0
// The port to a payment gateway. Called by the gateway's own worker actor and by webhook routes; the
// implementations know nothing of events, queues or claims. Every call may be repeated: one reference, one
// transaction; one refund id, one refund.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace fq {

/// Integer minor units with their ISO 4217 code.
struct gateway_money {
  std::int64_t amount = 0;
  std::string currency;
  friend bool operator==(const gateway_money&, const gateway_money&) = default;
};

struct gateway_charge {
  std::string reference; ///< ours, unique; chosen before the call
  gateway_money money;
  std::string customer_email; ///< empty if unknown
  std::string callback_url;   ///< where the gateway sends the payer's browser afterwards; empty: nowhere
};

/// Infrastructure failures, as opposed to answers. `unavailable` is worth a retry, the others are not.
enum class gateway_error { unavailable, rejected };

struct gateway_authorization {
  std::string url; ///< where the payer pays
};

/// Same reference and charge again: the same answer. Same reference, another charge: `rejected`.
using initialize_result = std::variant<gateway_authorization, gateway_error>;

enum class charge_status {
  unknown,  ///< the gateway has no such reference: initialize never reached it
  unpaid,   ///< open: the payer may still pay
  paid,     ///< captured (also when refunded later)
  declined, ///< will never be paid
  expired,  ///< closed by us before anybody paid
};

struct charge_state {
  charge_status status = charge_status::unknown;
  gateway_money money; ///< what was captured when paid, else what was asked
};
using verify_result = std::variant<charge_state, gateway_error>;

enum class gateway_refund_status { pending, processed, failed };

struct refund_order {
  std::string reference; ///< the paid charge
  std::string refund_id; ///< ours; the idempotency key
  std::int64_t amount = 0;
};
using refund_result = std::variant<gateway_refund_status, gateway_error>;

enum class gateway_event_kind { charge_succeeded, charge_failed, refund_processed, refund_failed };

/// A webhook whose signature was right.
struct gateway_event {
  std::string id; ///< the gateway's; equal in every delivery of this event
  gateway_event_kind kind{};
  std::string reference;
  gateway_money money;
  std::string refund_id; ///< of refund events
};

/// `bad_signature` is answered 401, `unknown_event` (genuine, but nothing we act on) 200.
enum class webhook_error { bad_signature, unknown_event };
using webhook_result = std::variant<gateway_event, webhook_error>;

/// All calls block: on a detached worker only, but for `parse_webhook`, which computes and may run anywhere.
class gateway_port {
public:
  virtual ~gateway_port() = default;

  /// "sandbox", "paystack", ...: the name in payments and routes.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  [[nodiscard]] virtual initialize_result initialize(const gateway_charge& charge) = 0;
  [[nodiscard]] virtual verify_result verify(const std::string& reference) = 0;

  /// Closes an open charge, so that it can no longer be paid; answers what it is afterwards (perhaps paid,
  /// just before).
  [[nodiscard]] virtual verify_result expire(const std::string& reference) = 0;

  [[nodiscard]] virtual refund_result refund(const refund_order& order) = 0;

  /// Checks the signature over the raw body, then parses.
  [[nodiscard]] virtual webhook_result parse_webhook(std::string_view raw_body,
                                                     std::string_view signature) const = 0;
};

} // namespace fq
