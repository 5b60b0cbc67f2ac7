// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about claims: open, release.
#include "domain/sale.hpp"

#include "domain/planted.hpp"

#include <algorithm>

namespace fq {

refusal sale::wanted_items(const std::vector<item_wish>& wishes, std::vector<claim_item>& items) const {
  if (wishes.empty()) {
    const auto* type = stock_.first_on_sale();
    if (type == nullptr) return reason::event_sold_out;
    items.push_back({type->ordinal, 1, type->price, 0});
    return {};
  }
  for (const auto& wish : wishes) {
    const auto* type = stock_.find(wish.ticket_type);
    if (type == nullptr || !type->on_sale) return {reason::invalid_field, "items.ticket_type_id: not on sale here"};
    if (std::ranges::any_of(items, [&](const claim_item& i) { return i.ticket_type == type->ordinal; }))
      return {reason::invalid_field, "items.ticket_type_id: given twice"};
    if (wish.quantity == 0) return {reason::invalid_field, "items.quantity: must be at least 1"};
    if (wish.quantity > type->max_per_order) return reason::limit_exceeded;
    items.push_back({type->ordinal, wish.quantity, type->price, 0});
  }
  return {};
}

refusal sale::open_claim(const customer_id& customer, const queue_line::entry* entry, const std::vector<item_wish>& wishes,
                         timestamp now, decision& out, claim_id& opened) {
  if (event_.status == event_status::draft) return reason::not_found;
  if (event_.status == event_status::cancelled) return reason::event_ended;
  if (now < event_.sale_start) {
    refusal no{reason::sale_not_started};
    no.at = event_.sale_start;
    return no;
  }
  const auto slot = claims_.free_slot(customer, event_.claims_per_customer);
  const auto* live = claims_.live(customer);
  if (live != nullptr || !slot) {
    refusal no{reason::already_claimed};
    no.id = (live != nullptr ? live : claims_.standing(customer))->id;
    return no;
  }
  if (entry == nullptr || entry->row.subject != customer || entry->row.status != entry_status::admitted
      || now >= deadline_of(entry->row))
    return reason::not_admitted;
  claim_row row;
  if (auto no = wanted_items(wishes, row.items)) return no;
  if (!stock_.has_free(row.items)) return stock_.sold_out() ? reason::event_sold_out : reason::none_free;
  row.id = make_uuid(now, event_.aggregate, random_());
  row.customer = customer;
  row.entry = entry->row.number;
  row.live_slot = *slot;
  for (const auto& i : row.items) row.amount += i.unit_price * i.quantity;
  row.created_at = now;
  row.expires_at = std::min(now + event_.claim_ttl, entry->row.session_expires_at); // one clock for session and claim
  opened = row.id;
  stock_.hold(row.items, out.content);
  queue_.claim_opened(row.entry, out.content);
  claims_.open(std::move(row), out.content);
  out.reveals = true;
  return {};
}

void sale::release(const claim_row& claim, timestamp now, decision& out) {
  const auto items = claim.items; // `claim` may be the row that moves
  const auto entry = claim.entry;
  const bool again = planted(bug::release_twice) && claim.status == claim_status::released;
  if (!again && !claims_.move(claim.id, claim_trigger::release, now, out.content)) return;
  stock_.release(items, out.content);
  queue_.claim_closed(entry);
  out.reveals = true;
}

refusal sale::release_claim(const customer_id& customer, const claim_id& id, timestamp now, decision& out) {
  const auto* claim = claims_.find(id);
  if (claim == nullptr || claim->customer != customer) return reason::not_found;
  if (claim->status == claim_status::released && !planted(bug::release_twice)) return {};
  if (!is_live(claim->status) && claim->status != claim_status::released)
    return {reason::invalid_transition, std::string{name_of(claim->status)}};
  if (payments_.open_of(id) != nullptr) return reason::payment_open;
  release(*claim, now, out);
  return {};
}

} // namespace fq
