// SPDX-License-Identifier: Apache-2.0
#include "actors/payments/webhook_facts.hpp"

#include "domain/money/money_text.hpp"
#include "domain/money/payments.hpp"

#include <utility>

namespace fq {
namespace {

verdict verdict_of(gateway_event_kind kind) {
  switch (kind) {
    case gateway_event_kind::charge_succeeded:
    case gateway_event_kind::charge_reported: return verdict::paid;
    case gateway_event_kind::charge_failed: return verdict::declined;
    case gateway_event_kind::refund_processed: return verdict::refund_processed;
    case gateway_event_kind::refund_failed: return verdict::refund_failed;
  }
  return verdict::nothing;
}

apply_fact fact_of(std::string_view gateway, gateway_event&& event) {
  return {.fact = {.gateway = std::string{gateway},
                   .gateway_event = std::move(event.id),
                   .what = verdict_of(event.kind),
                   .reference = std::move(event.reference),
                   .amount = event.money.amount,
                   .currency = std::move(event.money.currency),
                   .refund = std::move(event.refund_id),
                   .tax = event.tax,
                   .gateway_id = std::move(event.gateway_id)},
          .is_report = event.kind == gateway_event_kind::charge_reported};
}

} // namespace

std::variant<webhook_fact, webhook_error> fact_of_webhook(const gateway_port& gateway,
                                                          std::string_view raw_body,
                                                          std::string_view signature, timestamp at) {
  auto parsed = gateway.parse_webhook(raw_body, signature, at);
  if (const auto* wrong = std::get_if<webhook_error>(&parsed)) return *wrong;
  auto& event = std::get<gateway_event>(parsed);
  const auto payment = parse_reference(event.reference);
  if (!payment || number_of(owner_of(*payment)) < number_of(first_event_aggregate))
    return webhook_error::foreign_event;
  return webhook_fact{fact_of(gateway.name(), std::move(event)), owner_of(*payment)};
}

std::string money_in(const apply_fact& wish) {
  const auto& f = wish.fact;
  if (f.what != verdict::paid) return {};
  return f.gateway + (wish.is_report ? " reports " : " took ") + money_text(f.amount + f.tax, f.currency)
         + " as " + f.reference + (f.gateway_id.empty() ? "" : " (" + f.gateway_id + ")");
}

} // namespace fq
