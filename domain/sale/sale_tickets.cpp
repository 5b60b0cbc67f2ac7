// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about event tickets: a confirmed claim has a valid one for each unit that is not
// refunded (I3). Purchases of programs that made none get theirs after the load.
#include "domain/sale/sale.hpp"

#include "domain/base/planted.hpp"
#include "domain/sale/attendees.hpp"

#include <algorithm>

namespace fq {
namespace {

std::size_t units_due(const claim_row& claim, const claim_item& item) {
  return claim.status == claim_status::confirmed ? item.quantity - item.refunded : 0;
}

} // namespace

void sale::load(const claim_row& row) {
  claims_.load(row);
  if (is_live(row.status)) queue_.restore_claim(row.entry);
  const bool is_settled = std::ranges::all_of(row.items, [&](const claim_item& i) {
    return event_tickets_.count_valid(row.id, i.ticket_type) == units_due(row, i);
  });
  if (!is_settled) tickets_due_.push_back(row.id);
}

/// Issues the event tickets that the claim has too few, and cancels those that it has too many: those first
/// that refunds of a program without event tickets have named.
void sale::settle_tickets(const claim_row& claim, timestamp now, decision& out) {
  const auto before = out.content.size();
  for (const auto& item : claim.items) {
    const auto due = units_due(claim, item);
    auto valid = event_tickets_.count_valid(claim.id, item.ticket_type);
    const auto seats = valid < due ? seats_to_issue(claim.id, item.ticket_type) : std::vector<seat_number>{};
    for (auto seat = seats.begin(); valid < due; ++valid) {
      event_ticket_row row;
      row.id = make_uuid(now, event_.aggregate, random_());
      row.claim = claim.id;
      row.ticket_type = item.ticket_type;
      row.holder = claim.customer;
      if (seat != seats.end()) row.seat = *seat++ + 1;
      row.created_at = row.updated_at = now;
      event_tickets_.issue(std::move(row), out.content);
    }
    if (valid == due) continue;
    const refund_item too_many{item.ticket_type, static_cast<std::uint32_t>(valid - due)};
    const auto cancelled = chosen(claim.id, {{too_many}, refunded_tickets(claim.id)});
    end_offers_of(cancelled, now, out);
    for (const auto& id : cancelled) event_tickets_.move(id, event_ticket_trigger::cancel, now, out.content);
  }
  if (out.content.size() > before) out.reveals = true;
}

/// The event tickets that successful refunds of the claim's payments name.
std::vector<event_ticket_id> sale::refunded_tickets(const claim_id& claim) const {
  std::vector<event_ticket_id> named;
  for (const auto& payment : payments_.of_claim(claim))
    for (const auto& id : payments_.refunds_of(payment)) {
      const auto& refund = *payments_.find_refund(id);
      if (refund.status == refund_status::succeeded)
        named.insert(named.end(), refund.tickets.begin(), refund.tickets.end());
    }
  return named;
}

void sale::settle_loaded_tickets(timestamp now, decision& out) {
  const auto before = out.content.size();
  while (!tickets_due_.empty() && out.content.size() - before < rules_.bounds.rows_per_run) {
    const auto claim = tickets_due_.back();
    tickets_due_.pop_back();
    settle_tickets(*claims_.find(claim), now, out);
  }
}

/// The named tickets, as far as they are valid, and others of their types up to the quantities.
std::vector<event_ticket_id> sale::chosen(const claim_id& claim, const units_back& units) const {
  std::vector<event_ticket_id> result;
  for (const auto& item : units.items) {
    const auto valid = event_tickets_.first_to_cancel(claim, item.ticket_type, SIZE_MAX);
    const auto from = result.size();
    const auto add = [&](bool named) {
      for (const auto& id : valid)
        if ((std::ranges::find(units.tickets, id) != units.tickets.end()) == named
            && result.size() - from < item.quantity)
          result.push_back(id);
    };
    add(true);
    add(false);
  }
  return result;
}

/// What refunds in progress take, and the attendees, are found once for each claim.
std::vector<event_ticket_view> sale::views_of(ticket_rows tickets) const {
  const auto pending = pending_refunds(tickets);
  std::unordered_map<claim_id, attendee_numbers> attendees;
  std::vector<event_ticket_view> views;
  for (const auto* t : tickets) {
    const auto [found, is_first] = attendees.try_emplace(t->claim);
    auto& of_claim = found->second;
    const auto* order = orders_.of_claim(t->claim);
    if (is_first && order != nullptr)
      of_claim = attendees_of(*claims_.find(t->claim), event_tickets_.of_claim(t->claim));
    auto seat = seat_of(*t);
    views.push_back({*t, event_.id, stock_.types()[t->ticket_type].id,
                     order != nullptr ? order->id : order_id{}, std::ranges::binary_search(pending, t->id),
                     std::move(seat.name), std::move(seat.place), attendee_of(of_claim, t->id)});
  }
  return views;
}

bool sale::is_with_buyer(const event_ticket_row& t) const {
  return t.generation == 1 || t.holder == claims_.find(t.claim)->customer; // only a transfer changes it
}

refusal sale::may_present(const event_ticket_row& t) const {
  if (!is_valid(t.status)) return {reason::invalid_transition, std::string{name_of(t.status)}};
  if (event_.status == event_status::cancelled) return {reason::invalid_transition, "the event is CANCELLED"};
  const auto pending = pending_refunds(*claims_.find(t.claim));
  if (std::ranges::find(pending, t.id) != pending.end()) return reason::refund_open;
  return {};
}

ticket_seat sale::seat_of(const event_ticket_row& t) const {
  if (!seating_ || t.seat == 0) return {t.id, {}, {}};
  const auto& plan = seating_->map().plan();
  return {t.id, plan.name_of(t.seat - 1), plan.place_of(t.seat - 1)};
}

ticket_paper sale::paper_of(const event_ticket_row& t, std::uint32_t attendee) const {
  ticket_paper paper{t, {}, stock_.types()[t.ticket_type].name, price_hidden, 0, seat_of(t).place};
  if (!is_with_buyer(t)) return paper; // a gift says neither what it cost nor whose order it was
  const auto& claim = *claims_.find(t.claim);
  const auto item = std::ranges::find(claim.items, t.ticket_type, &claim_item::ticket_type);
  paper.price = item != claim.items.end() ? price_of_one(*item) - item->donation : 0;
  if (const auto* order = orders_.of_claim(t.claim)) {
    paper.order = order->id;
    paper.attendee = attendee;
  }
  return paper;
}

// -- what an organizer wants to refund

refusal sale::wanted_back(const claim_row& claim, const refund_wish& wish, units_back& out,
                          money& amount) const {
  for (const auto& w : wish.items) {
    const auto* type = stock_.find(w.ticket_type);
    const auto i = std::ranges::find(claim.items, type != nullptr ? type->ordinal : ~std::uint32_t{0},
                                     &claim_item::ticket_type);
    if (i == claim.items.end()) return {reason::invalid_field, "items.ticket_type_id: not in this order"};
    if (std::ranges::find(out.items, i->ticket_type, &refund_item::ticket_type) != out.items.end())
      return {reason::invalid_field, "items.ticket_type_id: given twice"};
    out.items.push_back({i->ticket_type, w.quantity});
  }
  if (auto no = wanted_tickets(claim, wish, out)) return no;
  const auto place = [&](const refund_item& r) {
    return std::ranges::find(claim.items, r.ticket_type, &claim_item::ticket_type);
  };
  std::ranges::sort(out.items, {}, place); // in the order of left_of
  for (const auto& i : out.items) {
    const auto& bought = *place(i);
    if (i.quantity == 0 || i.quantity > bought.quantity - bought.refunded)
      return {reason::invalid_field, "items.quantity: must be 1 to what is left of it"};
    amount += price_of_one(bought) * i.quantity;
  }
  return {};
}

refusal sale::wanted_tickets(const claim_row& claim, const refund_wish& wish, units_back& out) const {
  if (wish.event_tickets.empty()) {
    out.tickets = chosen(claim.id, out);
    return {};
  }
  std::vector<refund_item> named;
  for (const auto& id : wish.event_tickets) {
    const auto* ticket = event_tickets_.find(id);
    if (ticket == nullptr || ticket->claim != claim.id || !is_valid(ticket->status))
      return {reason::invalid_field, "event_ticket_ids: not a valid ticket of this order"};
    if (std::ranges::find(out.tickets, id) != out.tickets.end())
      return {reason::invalid_field, "event_ticket_ids: given twice"};
    out.tickets.push_back(id);
    const auto i = std::ranges::find(named, ticket->ticket_type, &refund_item::ticket_type);
    if (i == named.end())
      named.push_back({ticket->ticket_type, 1});
    else
      ++i->quantity;
  }
  if (out.items.empty()) out.items = named;
  if (!std::ranges::is_permutation(out.items, named))
    return {reason::invalid_field, "event_ticket_ids: must be as many as items say"};
  return {};
}

} // namespace fq
