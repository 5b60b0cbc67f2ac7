// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about money: attempts, facts from gateways, late money, refunds. The row exists before a gateway is called;
// confirming moves payment, claim, stock and entry in one decision.
#include "domain/sale.hpp"

#include "domain/planted.hpp"

namespace fq {
namespace {
/// Gateway of claims that cost nothing.
constexpr std::string_view no_gateway = "free";
} // namespace

sale::attempt sale::open_payment(const customer_id& customer, const claim_id& id, const std::string& gateway, timestamp now,
                                 decision& out) {
  const auto* claim = claims_.find(id);
  if (claim == nullptr || claim->customer != customer) return {reason::not_found};
  if (const auto* open = payments_.open_of(id)) {
    if (open->status == payment_status::initializing)
      out.orders.push_back({gateway_order_kind::initialize, open->id, {}}); // by reference, so asking again is harmless
    return {{}, false, open->id};
  }
  if (claim->status != claim_status::claimed || now >= claim->expires_at)
    return {{reason::claim_not_payable, std::string{name_of(claim->status)}}};
  if (payments_.of_claim(id).size() >= rules_.attempts_per_claim) return {reason::attempts_exhausted};
  payment_row row;
  row.id = make_uuid(now, event_.aggregate, random_());
  row.claim = id;
  row.customer = customer;
  row.gateway = claim->amount == 0 ? std::string{no_gateway} : gateway;
  row.reference = make_reference(row.id);
  row.amount = claim->amount;
  row.created_at = row.updated_at = now;
  const auto payment = payments_.open(std::move(row), out.content).id;
  out.reveals = true;
  if (claim->amount == 0) {
    payments_.move(payment, payment_trigger::confirm, now, out.content);
    confirm_claim(id, now, out);
  } else {
    out.orders.push_back({gateway_order_kind::initialize, payment, {}});
  }
  return {{}, true, payment};
}

void sale::initialized(const payment_id& id, const std::string& url, timestamp now, decision& out) {
  const auto* p = payments_.find(id);
  if (p == nullptr || p->status != payment_status::initializing) return;
  payments_.move(id, payment_trigger::initialized, now, out.content, [&](payment_row& row) { row.authorization_url = url; });
  out.reveals = true;
}

void sale::closed(const payment_id& id, timestamp now, decision& out) {
  const auto* p = payments_.find(id);
  if (p == nullptr || !is_open(p->status)) return;
  const auto claim = p->claim;
  payments_.move(id, payment_trigger::fail, now, out.content);
  out.reveals = true;
  if (const auto* c = claims_.find(claim); c->status == claim_status::expiring) release(*c, now, out);
}

void sale::unpaid(const payment_id& id, decision& out) {
  const auto* p = payments_.find(id);
  if (p == nullptr || !is_open(p->status)) return;
  if (claims_.find(p->claim)->status != claim_status::claimed) // EXPIRING, or paid by another attempt
    out.orders.push_back({gateway_order_kind::expire, id, {}});
}

/// The refund that `fact` speaks of, if it is one of `payment`.
std::optional<refund_id> sale::refund_of(const payment_row& payment, const gateway_fact& fact) const {
  const auto id = parse_uuid(fact.refund);
  const auto* refund = id ? payments_.find_refund(*id) : nullptr;
  return refund != nullptr && refund->payment == payment.id ? id : std::nullopt;
}

refusal sale::apply(const gateway_fact& fact, timestamp now, decision& out) {
  const auto id = parse_reference(fact.reference);
  const auto* payment = id ? payments_.find(*id) : nullptr;
  if (payment == nullptr || payment->gateway != fact.gateway) return reason::not_found;
  if (payments_.has_receipt(fact.gateway, fact.gateway_event)) return {};
  payments_.receive({fact.gateway, fact.gateway_event, now}, out.content);
  switch (fact.what) {
    case verdict::paid: return paid(*payment, fact, now, out);
    case verdict::declined: closed(payment->id, now, out); return {};
    case verdict::refund_processed:
      if (const auto refund = refund_of(*payment, fact)) refund_done(*refund, now, out);
      return {};
    case verdict::refund_failed:
      if (const auto refund = refund_of(*payment, fact)) refund_not_done(*refund, true, now, out);
      return {};
  }
  return {};
}

refusal sale::paid(const payment_row& payment, const gateway_fact& fact, timestamp now, decision& out) {
  const auto id = payment.id;
  const auto claim = payment.claim;
  const auto captured = [&](payment_row& row) { row.captured = fact.amount; };
  const bool as_quoted = (fact.amount == payment.amount || planted(bug::amount_unchecked)) && fact.currency == event_.currency;
  if (!as_quoted) {
    if (payments_.move(id, payment_trigger::quarantine, now, out.content, captured)) out.reveals = true;
    return {};
  }
  if (is_open(payment.status) && is_live(claims_.find(claim)->status)) {
    payments_.move(id, payment_trigger::confirm, now, out.content, captured);
    confirm_claim(claim, now, out);
    return {};
  }
  if (payments_.move(id, payment_trigger::confirm_late, now, out.content, captured)) late_money(id, now, out);
  return {};
}

void sale::confirm_claim(const claim_id& id, timestamp now, decision& out) {
  const auto& claim = *claims_.find(id);
  claims_.move(id, claim_trigger::confirm, now, out.content);
  stock_.confirm(claim.items, out.content);
  queue_.claim_closed(claim.entry);
  end_entry(claim.entry, entry_trigger::complete, now, out);
  out.reveals = true;
}

void sale::late_money(const payment_id& id, timestamp now, decision& out) {
  out.reveals = true;
  if (planted(bug::late_money_kept)) return;
  if (!claim_again(id, now, out)) request_refund(id, now, out);
}

/// A ticket for money that came late, if its claim still lives or its stock is free; false: it must go back.
bool sale::claim_again(const payment_id& id, timestamp now, decision& out) {
  const auto& old = *claims_.find(payments_.find(id)->claim);
  if (event_.status == event_status::cancelled || old.status == claim_status::confirmed
      || old.status == claim_status::refunded)
    return false;
  if (is_live(old.status)) { // its attempt had failed, then was captured after all
    payments_.move(id, payment_trigger::confirm, now, out.content);
    confirm_claim(old.id, now, out);
    return true;
  }
  const auto slot = claims_.free_slot(old.customer, event_.claims_per_customer);
  if (!slot || !stock_.has_free(old.items)) return false;
  auto row = old;
  row.id = make_uuid(now, event_.aggregate, random_());
  row.status = claim_status::claimed;
  row.live_slot = *slot;
  row.created_at = row.expires_at = now;
  row.ended_at = never;
  const auto fresh = row.id;
  stock_.sell(row.items, out.content);
  claims_.open(std::move(row), out.content);
  claims_.move(fresh, claim_trigger::confirm, now, out.content);
  payments_.move(id, payment_trigger::confirm, now, out.content, [&](payment_row& p) { p.claim = fresh; });
  return true;
}

void sale::request_refund(const payment_id& id, timestamp now, decision& out) {
  if (!payments_.move(id, payment_trigger::request_refund, now, out.content)) return;
  const auto& p = *payments_.find(id);
  refund_row row;
  row.id = make_uuid(now, event_.aggregate, random_());
  row.payment = id;
  row.amount = p.captured - p.refunded;
  row.next_attempt_at = now + rules_.refund_retry.cap; // the first call goes out now; this one if its answer is lost
  row.created_at = row.updated_at = now;
  out.orders.push_back({gateway_order_kind::refund, id, row.id});
  payments_.open(std::move(row), out.content);
  out.reveals = true;
}

void sale::refund_done(const refund_id& id, timestamp now, decision& out) {
  const auto* refund = payments_.find_refund(id);
  if (refund == nullptr || refund->status != refund_status::requested) return;
  const auto payment = refund->payment;
  const auto amount = refund->amount;
  payments_.move(id, refund_trigger::succeed, now, out.content);
  const auto before = *payments_.find(payment);
  const bool whole = before.refunded + amount >= before.captured;
  payments_.move(payment, whole ? payment_trigger::refund_done : payment_trigger::refund_part_done, now, out.content,
                 [&](payment_row& row) { row.refunded += amount; });
  out.reveals = true;
  const auto* claim = claims_.find(before.claim);
  if (!whole || claim->status != claim_status::confirmed) return;
  for (const auto& other : payments_.of_claim(claim->id)) // a second capture of a sold claim: the first one still pays it
    if (payments_.find(other)->status == payment_status::confirmed) return;
  take_ticket_back(*claim, now, out);
}

/// The money of a CONFIRMED claim is back: its units go to the line.
void sale::take_ticket_back(const claim_row& claim, timestamp now, decision& out) {
  stock_.take_back(claim.items, out.content);
  claims_.refund(claim.id, now, out.content);
}

void sale::refund_not_done(const refund_id& id, bool refused, timestamp now, decision& out) {
  const auto* refund = payments_.find_refund(id);
  if (refund == nullptr || refund->status != refund_status::requested) return;
  if (refused && !may_retry(rules_.refund_retry, refund->attempts + 1)) {
    const auto payment = refund->payment;
    payments_.move(id, refund_trigger::give_up, now, out.content);
    payments_.move(payment, payment_trigger::refund_refused, now, out.content);
    return;
  }
  const auto back_off = retry_delay(rules_.refund_retry, refund->attempts + 1, random_()) + rules_.refund_retry.base;
  payments_.tried(id, refused, now + (refused ? back_off : rules_.refund_retry.cap), now, out.content);
}

} // namespace fq
