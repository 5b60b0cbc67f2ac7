// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about incoming money: attempts, facts from gateways, late money. The payment row exists
// before a gateway is called. A confirmation moves payment, claim, order, stock and entry in one decision.
#include "domain/sale/sale.hpp"

#include "domain/base/planted.hpp"
#include "domain/money/money_text.hpp"

namespace fq {

sale::attempt sale::open_payment(const customer_id& customer, const claim_id& id, const std::string& gateway,
                                 timestamp now, decision& out) {
  const auto* claim = claims_.find(id);
  if (claim == nullptr || claim->customer != customer) return {reason::not_found};
  if (is_blocked(customer)) return {reason::customer_blocked};
  if (const auto* open = payments_.open_of(id)) {
    if (open->status == payment_status::initializing)
      out.gateway_calls.push_back(
        {gateway_call_kind::initialize, open->id, {}}); // same reference, so repeating the call is harmless
    return {{}, false, open->id};
  }
  if (claim->status != claim_status::claimed || now >= claim->expires_at)
    return {{reason::claim_not_payable, std::string{name_of(claim->status)}}};
  if (claim->amount > 0 && !rules_.has_gateway) return {reason::no_gateway};
  if (payments_.of_claim(id).size() >= rules_.attempts_per_claim) return {reason::attempts_exhausted};
  return {{}, true, begin_attempt(*claim, gateway, now, out)};
}

/// Starts a payment attempt at a gateway; a claim that costs nothing is paid at once.
payment_id sale::begin_attempt(const claim_row& claim, const std::string& gateway, timestamp now,
                               decision& out) {
  const auto of = claim.id;
  payment_row row;
  row.id = make_uuid(now, event_.aggregate, random_());
  row.claim = of;
  row.customer = claim.customer;
  row.gateway = claim.amount == 0 ? std::string{free_gateway} : gateway;
  row.reference = make_reference(row.id);
  if (destination_of_) row.destination = destination_of_(row.gateway);
  row.amount = claim.amount;
  row.created_at = row.updated_at = now;
  const auto payment = payments_.open(std::move(row), out.content).id;
  out.reveals = true;
  if (payments_.find(payment)->amount == 0) {
    payments_.move(payment, payment_trigger::confirm, now, out.content);
    confirm_claim(of, now, out);
  } else {
    out.gateway_calls.push_back({gateway_call_kind::initialize, payment, {}});
  }
  return payment;
}

void sale::initialized(const payment_id& id, const std::string& url, const std::string& gateway_id,
                       timestamp now, decision& out) {
  const auto* p = payments_.find(id);
  if (p == nullptr || p->status != payment_status::initializing) return;
  const auto claim = p->claim;
  payments_.move(id, payment_trigger::initialized, now, out.content, [&](payment_row& row) {
    row.authorization_url = url;
    row.gateway_id = gateway_id;
  });
  out.reveals = true;
  if (claims_.find(claim)->status == claim_status::claimed) return payment_page_ready(claim, now, out);
  out.gateway_calls.push_back({gateway_call_kind::expire, id, {}}); // its claim is being released
}

void sale::not_answered(const payment_id& id, timestamp now) {
  const auto* p = payments_.find(id);
  if (p != nullptr && p->status == payment_status::initializing)
    payments_.ask_again(id, now + rules_.initialize_again);
}

void sale::refused_by_gateway(const payment_id& id, bool reference_already_used, timestamp now,
                              decision& out) {
  const auto* p = payments_.find(id);
  if (p == nullptr || !is_open(p->status)) return;
  if (reference_already_used && p->status == payment_status::pending)
    return; // used up by our own first call, whose page is known
  const auto& claim = *claims_.find(p->claim);
  const auto gateway = p->gateway;
  if (claim.status != claim_status::claimed) return closed(id, now, out);
  if (!reference_already_used || payments_.of_claim(claim.id).size() >= rules_.attempts_per_claim)
    return orders_.of_claim(claim.id) == nullptr ? closed(id, now, out) : give_up(id, now, out);
  payments_.move(id, payment_trigger::fail, now, out.content);
  begin_attempt(claim, gateway, now, out);
}

/// No other attempt would succeed: the order of the claim fails.
void sale::give_up(const payment_id& id, timestamp now, decision& out) {
  const auto claim = payments_.find(id)->claim;
  payments_.move(id, payment_trigger::fail, now, out.content);
  release(*claims_.find(claim), now, out, {order_trigger::fail, "payment_rejected"});
}

void sale::closed(const payment_id& id, timestamp now, decision& out) {
  const auto* p = payments_.find(id);
  if (p == nullptr || !is_open(p->status)) return;
  const auto claim = p->claim;
  payments_.move(id, payment_trigger::fail, now, out.content);
  out.reveals = true;
  if (const auto* c = claims_.find(claim); c->status == claim_status::expiring) return release(*c, now, out);
  move_order(claim, order_trigger::await_payment, now,
             out); // declined before its page was known here: the customer may try again
  cancel_payment_link(claim, now, out);
}

void sale::unpaid(const payment_id& id, bool was_closing, timestamp now, decision& out) {
  const auto* p = payments_.find(id);
  if (p == nullptr || !is_open(p->status)) return;
  const auto claim = claims_.find(p->claim)->status;
  if (claim == claim_status::claimed) return; // in time: the customer may still pay
  if (!was_closing)
    return out.gateway_calls.push_back(
      {gateway_call_kind::expire, id, {}}); // EXPIRING, or paid by another attempt
  // The gateway cannot close it. An EXPIRING claim waits for its grace. For any other claim the attempt
  // fails now, and a later capture is late money.
  if (claim != claim_status::expiring && payments_.move(id, payment_trigger::fail, now, out.content))
    out.reveals = true;
}

/// The refund that `fact` names, if it belongs to `payment`.
std::optional<refund_id> sale::refund_of(const payment_row& payment, const gateway_fact& fact) const {
  const auto id = parse_uuid(fact.refund);
  const auto* refund = id ? payments_.find_refund(*id) : nullptr;
  return refund != nullptr && refund->payment == payment.id ? id : std::nullopt;
}

/// The gateway reported a refund without its id. Repeating each refund call is harmless and returns its
/// state.
void sale::ask_about_refunds(const payment_id& payment, decision& out) {
  for (const auto& refund : payments_.requested_of(payment))
    out.gateway_calls.push_back({gateway_call_kind::refund, payment, refund});
}

namespace {

/// Whether the charge that the fact names is the payment's.
bool is_about(const gateway_fact& fact, const payment_row& payment) {
  return fact.gateway_id.empty() || payment.gateway_id.empty() || fact.gateway_id == payment.gateway_id;
}

} // namespace

refusal sale::apply(const gateway_fact& fact, timestamp now, decision& out) {
  const auto id = parse_reference(fact.reference);
  if (!id) return reason::not_found;
  const auto* payment = payments_.find(*id);
  if (payment == nullptr) return apply_unknown(*id, fact, now, out);
  if (payment->gateway != fact.gateway) return reason::not_found;
  if (payments_.has_receipt(fact.gateway, fact.gateway_event) && !planted(bug::webhook_applied_twice))
    return {};
  payments_.receive({fact.gateway, fact.gateway_event, now}, out.content);
  switch (fact.what) {
    case verdict::paid: return paid(*payment, fact, now, out);
    case verdict::declined:
      if (is_about(fact, *payment)) closed(payment->id, now, out);
      return {};
    case verdict::refund_processed:
      if (const auto refund = refund_of(*payment, fact)) refund_done(*refund, now, out);
      if (fact.refund.empty()) ask_about_refunds(payment->id, out);
      return {};
    case verdict::refund_failed:
      if (const auto refund = refund_of(*payment, fact)) refund_not_processed(*refund, true, now, out);
      if (fact.refund.empty()) ask_about_refunds(payment->id, out);
      return {};
    case verdict::nothing: return {};
  }
  return {};
}

refusal sale::paid(const payment_row& payment, const gateway_fact& fact, timestamp now, decision& out) {
  const auto id = payment.id;
  const auto claim = payment.claim;
  const auto captured = [&](payment_row& row) {
    row.customer = buyer_of(*claims_.find(claim));
    row.captured = fact.amount + fact.tax;
    row.tax = fact.tax;
    row.other_currency = fact.currency == event_.currency ? std::string{} : fact.currency;
    if (row.gateway_id.empty()) row.gateway_id = fact.gateway_id;
  };
  if (planted(bug::webhook_applied_twice) && payment.status == payment_status::confirmed)
    stock_.confirm(claims_.find(claim)->items, out.content);
  const bool is_ours = is_about(fact, payment);
  const bool as_quoted = is_ours && (fact.amount == payment.amount || planted(bug::amount_unchecked))
                         && fact.currency == event_.currency;
  if (!as_quoted) {
    if (!payments_.move(id, payment_trigger::quarantine, now, out.content, captured)) return {};
    out.reveals = true;
    add_dead_letter(dead_letter_kind::payment_quarantined, id,
                    "captured " + money_text(fact.amount, fact.currency) + ", quoted "
                      + money_text(payment.amount, event_.currency)
                      + (is_ours ? "" : ", by " + fact.gateway_id + " instead of " + payment.gateway_id),
                    {}, now, out);
    if (is_live(claims_.find(claim)->status))
      move_order(claim, order_trigger::await_payment, now, out); // the order ends with its hold
    cancel_payment_link(claim, now, out);
    return {};
  }
  if (is_open(payment.status) && is_live(claims_.find(claim)->status) && !is_given_up(claim)) {
    payments_.move(id, payment_trigger::confirm, now, out.content, captured);
    confirm_claim(claim, now, out);
    return {};
  }
  if (payments_.move(id, payment_trigger::confirm_late, now, out.content, captured)) late_money(id, now, out);
  return {};
}

void sale::confirm_claim(const claim_id& id, timestamp now, decision& out) {
  const auto& claim = *claims_.find(id);
  if (const auto* open = payments_.open_of(id))
    out.gateway_calls.push_back({gateway_call_kind::expire, open->id, {}}); // prevents a second payment
  if (is_guest(claim.customer)) {
    const auto buyer = buyer_of(claim);
    claims_.confirm_for(buyer, *slot_of_buyer(buyer), id, now, out.content);
  } else {
    claims_.move(id, claim_trigger::confirm, now, out.content);
  }
  if (seating_) seating_->confirm(id);
  settle_tickets(claim, now, out);
  stock_.confirm(claim.items, out.content);
  queue_.claim_closed(claim.entry);
  move_order(id, order_trigger::succeed, now, out);
  end_entry(claim.entry, entry_trigger::complete, now, out);
  out.reveals = true;
}

/// Who gets what the claim holds.
customer_id sale::buyer_of(const claim_row& claim) const {
  const auto* order = orders_.of_claim(claim.id);
  return order != nullptr ? order->customer : claim.customer;
}

/// The slot of one more purchase (I2).
std::optional<std::uint8_t> sale::slot_of_buyer(const customer_id& buyer) const {
  return claims_.free_slot(buyer,
                           planted(bug::guest_limit_forgotten) ? UINT8_MAX : event_.claims_per_customer);
}

void sale::late_money(const payment_id& id, timestamp now, decision& out) {
  out.reveals = true;
  if (planted(bug::late_money_kept)) return;
  if (claim_again(id, now, out)) return;
  request_refund(id, now, out);
  const auto& claim = *claims_.find(payments_.find(id)->claim);
  if (is_live(claim.status) && payments_.open_of(claim.id) == nullptr)
    release(claim, now, out, // cancelled, and can no longer be paid
            {order_trigger::fail, is_guest(claim.customer) ? "limit_exceeded" : "expired"});
}

/// Whether the customer may still take the claim's tickets of hidden types: with the promo code, or with an
/// invitation that has tickets left.
bool sale::is_still_open(const claim_row& claim, timestamp now) const {
  const auto* promo = claim.promo != 0 ? &promo_codes_.all()[claim.promo - 1] : nullptr;
  const auto* invitation = invitation_of(claim.customer, now);
  return std::ranges::all_of(claim.items, [&](const claim_item& i) {
    const auto& type = stock_.types()[i.ticket_type];
    const bool by_invitation = invitation != nullptr && invitation->ticket_type == i.ticket_type
                               && i.quantity <= remaining_of(*invitation);
    return !type.hidden || opens(promo, type) || by_invitation;
  });
}

/// Buys tickets for late money if the claim still lives or stock is free. False: the money must be refunded.
bool sale::claim_again(const payment_id& id, timestamp now, decision& out) {
  const auto& old = *claims_.find(payments_.find(id)->claim);
  if (event_.status == event_status::cancelled || old.status == claim_status::confirmed
      || old.status == claim_status::refunded || is_given_up(old.id))
    return false;
  if (is_live(old.status)) { // its attempt had failed and was captured after all
    payments_.move(id, payment_trigger::confirm, now, out.content);
    confirm_claim(old.id, now, out);
    return true;
  }
  const auto customer = buyer_of(old);
  const auto slot = slot_of_buyer(customer);
  if (!slot || !stock_.has_free(old.items) || !is_still_open(old, now)) return false;
  if (seating_ && !seating_->are_free_again(old.id)) return false; // others are not what the customer chose
  const auto* promo = old.promo != 0 ? &promo_codes_.all()[old.promo - 1] : nullptr;
  if (promo != nullptr && !(has_room(*promo) && has_room(*promo, claims_.promo_uses(customer, old.promo))))
    return false;
  auto row = old;
  row.id = make_uuid(now, event_.aggregate, random_());
  row.customer = customer;
  row.status = claim_status::claimed;
  row.live_slot = *slot;
  row.created_at = row.expires_at = now;
  row.ended_at = never;
  const auto fresh = row.id, before = old.id;
  stock_.sell(row.items, out.content);
  promo_codes_.move_uses(row.promo, 1, out.content);
  claims_.open(std::move(row), out.content);
  if (seating_) seating_->sell_again(before, fresh, out.content);
  claims_.move(fresh, claim_trigger::confirm, now, out.content);
  if (!planted(bug::late_money_without_event_tickets)) settle_tickets(*claims_.find(fresh), now, out);
  payments_.move_attempts(before, fresh, out.content);
  payments_.move(id, payment_trigger::confirm, now, out.content);
  if (const auto* order = orders_.of_claim(before))
    orders_.move(order->id, order_trigger::succeed, now, out.content, [&](order_row& o) {
      o.claim = fresh;
      o.failure.clear();
    });
  return true;
}

} // namespace fq
