// SPDX-License-Identifier: Apache-2.0
// Gateways: event actor <-> payments <-> gateway workers.
#pragma once
#include "actors/protocol/shared_messages.hpp"
#include "outbound/gateway.hpp"

#include <string>

namespace fq {

FQ_INSPECT(gateway_money, x.amount, x.currency)

FQ_INSPECT(gateway_line, x.name, x.unit_amount, x.quantity)

FQ_INSPECT(gateway_label, x.key, x.value)

FQ_INSPECT(gateway_charge, x.reference, x.gateway_id, x.money, x.lines, x.title, x.customer_email,
           x.success_url, x.cancel_url, x.expires_at, x.destination, x.application_fee, x.metadata, x.trace)

/// From an event actor, after the row is committed. Answered once, within a deadline, by gateway_answered to
/// the sender.
struct call_gateway {
  gateway_call_kind kind{};
  std::string gateway;
  payment_id payment;
  gateway_charge charge;
  refund_id refund = {};
  money refund_amount = 0;
  std::uint8_t priority_class = 0; ///< orders waiting calls
};
FQ_INSPECT(call_gateway, x.kind, x.gateway, x.payment, x.charge, x.refund, x.refund_amount, x.priority_class)

enum class gateway_result : std::uint8_t {
  initialized, ///< authorization_url is set
  paid, ///< amount and currency are set
  unpaid, ///< known and still payable
  closed, ///< declined or expired; final
  unknown_reference, ///< the gateway does not know the reference
  rejected, ///< the gateway refuses the call; `what` has the reason
  refunded,
  refund_pending,
  refund_refused,
  unavailable, ///< after retries, or with an open circuit breaker
};

struct gateway_answered {
  gateway_call_kind kind{};
  gateway_result result{};
  std::string gateway;
  payment_id payment;
  std::string reference;
  refund_id refund = {};
  std::string authorization_url = {};
  std::string gateway_id = {};
  money amount = 0; ///< without tax
  money tax = 0;
  std::string currency = {};
  std::string what = {}; ///< reason, for a person
  bool reference_already_used =
    false; ///< rejected only because the reference was used before; a new reference may work
  milliseconds retry_after{0}; ///< unavailable: the gateway's Retry-After
};
FQ_INSPECT(gateway_answered, x.kind, x.result, x.gateway, x.payment, x.reference, x.refund,
           x.authorization_url, x.gateway_id, x.amount, x.tax, x.currency, x.what, x.reference_already_used,
           x.retry_after)

/// Calls all gateways: bounded concurrency, retries with full jitter, circuit breaker.
using payments_handle =
  caf::typed_actor<caf::reacts_to<call_gateway>, ///< answers gateway_answered to the sender
                   caf::reacts_to<gateway_answered>, ///< INTERNAL, from a gateway worker
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq
