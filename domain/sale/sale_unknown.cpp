// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about payments whose rows are lost: what a gateway took becomes a dead letter, which a
// person sends back. The letter's id is the refund's id at the gateway.
#include "domain/sale/sale.hpp"

#include "domain/money/money_text.hpp"

#include <algorithm>

namespace fq {

std::optional<unknown_payment> sale::unknown_charge(const uuid& id) const {
  const auto letter = dead_letters_.find(id);
  return letter != dead_letters_.end() && letter->second.kind == dead_letter_kind::payment_unknown
           ? parse_unknown_payment(letter->second.payload)
           : std::nullopt;
}

bool sale::may_have_lost(const payment_id& payment) const {
  return owner_of(payment) == event_.aggregate && time_of(payment) >= event_.created_at
         && payments_.find(payment) == nullptr;
}

refusal sale::apply_unknown(const payment_id& id, const gateway_fact& fact, timestamp now, decision& out) {
  if (!may_have_lost(id)) return reason::not_found;
  const unknown_payment told{fact.gateway, fact.reference, fact.gateway_id, fact.amount + fact.tax,
                             fact.currency};
  const auto refund = parse_uuid(fact.refund);
  switch (fact.what) {
    case verdict::paid: {
      const auto receipt = "unknown:" + fact.reference; // the same for each of its reports
      if (payments_.has_receipt(fact.gateway, receipt)) return {};
      const auto open = std::ranges::count_if(
        dead_letters_, [](const auto& l) { return l.second.kind == dead_letter_kind::payment_unknown; });
      if (static_cast<std::size_t>(open) >= unknown_payments_max) return reason::unavailable;
      payments_.receive({fact.gateway, receipt, now}, out.content);
      add_unknown(derived_id(id, fact.gateway), told, "and the ledger has no such payment", now, out);
      return {};
    }
    case verdict::refund_processed:
      if (!refund || !unknown_charge(*refund)) return reason::not_found;
      settle_dead_letter(*refund, dead_letter_status::retried, now, out);
      return {};
    case verdict::refund_failed:
      if (!refund) return reason::not_found;
      unknown_not_refunded(*refund, unknown_charge(*refund).value_or(told), now, out);
      return {};
    case verdict::declined:
    case verdict::nothing: return reason::not_found;
  }
  return reason::not_found;
}

void sale::add_unknown(const uuid& id, const unknown_payment& p, std::string_view why, timestamp now,
                       decision& out) {
  if (dead_letters_.contains(id)) return;
  dead_letter_row row;
  row.id = id;
  row.kind = dead_letter_kind::payment_unknown;
  row.subject = parse_reference(p.reference).value_or(payment_id{});
  row.detail = p.gateway + " took " + money_text(p.captured, p.currency) + " as " + p.reference
               + (p.gateway_id.empty() ? "" : " (" + p.gateway_id + ")") + ", " + std::string{why};
  row.payload = text_of(p);
  store_dead_letter(std::move(row), now, out);
  out.reveals = true;
}

/// A refund that failed stays failed at the gateway under its id: the next try is another refund.
void sale::unknown_not_refunded(const uuid& letter, const unknown_payment& p, timestamp now, decision& out) {
  if (dead_letters_.contains(letter)) settle_dead_letter(letter, dead_letter_status::retried, now, out);
  add_unknown(derived_id(letter, p.gateway), p, "and does not give it back", now, out);
}

} // namespace fq
