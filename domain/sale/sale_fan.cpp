// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about claims: eligibility, hold, release.
#include "domain/base/planted.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>

namespace fq {
namespace {

bool is_shopping(const queue_line::entry* entry, const customer_id& customer, timestamp now) {
  return entry != nullptr && entry->subject == customer && entry->status == entry_status::admitted
         && now < deadline_of(entry->session());
}

} // namespace

refusal sale::may_buy(const ticket_type_row& type, std::uint32_t quantity, const wanted& w,
                      timestamp now) const {
  const bool is_invited = w.invitation != nullptr && w.invitation->ticket_type == type.ordinal;
  const bool is_open = !type.hidden || opens(w.promo, type);
  if (!type.on_sale || (!is_open && !is_invited && !planted(bug::invitation_ignored)))
    return {reason::invalid_field, "items.ticket_type_id: not on sale here"};
  if (!is_open && is_invited && quantity > remaining_of(*w.invitation)) return reason::limit_exceeded;
  const bool is_early = is_set(type.sale_from) && now < type.sale_from;
  if (!is_early && !(is_set(type.sale_until) && now >= type.sale_until)) return {};
  refusal no{reason::not_on_sale};
  if (is_early) no.at = type.sale_from;
  no.id = type.id;
  return no;
}

/// One ticket of the first type that the customer may buy; of those with a free unit, if any. A hidden type
/// is only taken without an explicit request if no public one is free.
refusal sale::default_item(timestamp now, wanted& out) const {
  const ticket_type_row* best = nullptr;
  refusal closed{reason::not_on_sale};
  const auto preference = [](const ticket_type_row& t) {
    return std::pair{inventory::free_units(t) <= 0, t.hidden};
  };
  for (const auto& t : stock_.types()) {
    auto no = may_buy(t, 1, out, now);
    if (!no && (best == nullptr || preference(t) < preference(*best))) best = &t;
    const bool opens_first = is_set(no.at) && (!is_set(closed.at) || no.at < closed.at);
    if (no.why == reason::not_on_sale && (closed.id.is_nil() || opens_first)) closed = no;
  }
  if (best == nullptr) return stock_.sold_out() ? refusal{reason::event_sold_out} : closed;
  out.items.push_back({best->ordinal, 1, best->price, 0, 0});
  return {};
}

/// Why a wish finds no free unit: others hold what the customer may buy now or later, or all of it is sold.
refusal sale::none_free(const wanted& w, timestamp now) const {
  const auto may_come = [&](const ticket_type_row& t) {
    const auto no = may_buy(t, 1, w, now);
    return inventory::has_unsold(t) && (!no || is_set(no.at));
  };
  return std::ranges::any_of(stock_.types(), may_come) ? reason::none_free : reason::event_sold_out;
}

refusal sale::wanted_items(const std::vector<item_wish>& wishes, timestamp now, wanted& out) const {
  if (wishes.empty()) return default_item(now, out);
  for (const auto& wish : wishes) {
    const auto* type = stock_.find(wish.ticket_type);
    if (type == nullptr) return {reason::invalid_field, "items.ticket_type_id: not on sale here"};
    if (auto no = may_buy(*type, wish.quantity, out, now)) return no;
    if (std::ranges::any_of(out.items, [&](const priced_item& i) { return i.ticket_type == type->ordinal; }))
      return {reason::invalid_field, "items.ticket_type_id: given twice"};
    if (wish.quantity == 0) return {reason::invalid_field, "items.quantity: must be at least 1"};
    if (wish.donation < 0 || wish.donation > donation_max)
      return {reason::invalid_field, "items.donation: must be 0 to 1000000000000"};
    if (wish.quantity > type->max_per_order) return reason::limit_exceeded;
    if (!seating_ && !wish.seats.empty())
      return {reason::invalid_field, "items.seats: the event has no seats"};
    out.items.push_back({type->ordinal, wish.quantity, type->price, wish.donation, 0});
  }
  return {};
}

refusal sale::may_hold(const customer_id& customer, timestamp now, std::uint8_t& slot) const {
  if (event_.status == event_status::draft) return reason::not_found;
  if (is_blocked(customer)) return reason::customer_blocked;
  if (event_.status == event_status::cancelled) return reason::event_ended;
  if (now < event_.sale_start) {
    refusal no{reason::sale_not_started};
    no.at = event_.sale_start;
    return no;
  }
  const auto free = claims_.free_slot(customer, event_.claims_per_customer);
  const auto* live = claims_.live(customer);
  if (live != nullptr || !free) {
    refusal no{reason::already_claimed};
    no.id = (live != nullptr ? live : claims_.standing(customer))->id;
    return no;
  }
  slot = *free;
  return {};
}

/// `row` provides customer, slot, items, amount and promo; this function fills in the rest. Seats are held
/// for the whole session.
claim_id sale::hold(const queue_line::entry& entry, claim_row row, std::span<const seat_number> seats,
                    timestamp now, decision& out) {
  row.id = make_uuid(now, event_.aggregate, random_());
  row.entry = entry.number;
  row.created_at = now;
  row.expires_at = entry.session().session_expires_at; // session and claim end together
  if (seats.empty()) row.expires_at = std::min(now + event_.claim_ttl, row.expires_at);
  const auto id = row.id;
  queue_.claim_opened(row.entry, out.content);
  stock_.hold(row.items, out.content);
  promo_codes_.move_uses(row.promo, 1, out.content);
  claims_.open(std::move(row), out.content);
  if (!seats.empty()) seating_->hold(id, seats, out.content);
  out.reveals = true;
  return id;
}

refusal sale::open_claim(const customer_id& customer, const queue_line::entry* entry,
                         const std::vector<item_wish>& wishes, timestamp now, decision& out, claim_id& opened,
                         const seat_wish& seats) {
  claim_row row;
  row.customer = customer;
  if (is_guest(customer)) return reason::sign_in_required; // only an order names who gets the tickets
  if (auto no = may_hold(customer, now, row.live_slot)) return no;
  if (!is_shopping(entry, customer, now)) return reason::not_admitted;
  if (std::ranges::any_of(event_.questions, &question::is_required))
    return {reason::invalid_field, "answers: the event requires some, which only POST /checkout takes"};
  wanted w;
  price_quote quoted;
  if (auto no = price_wish(customer, wishes, seats, {}, now, w, quoted)) return no;
  row.items = items_of(quoted);
  row.amount = quoted.total;
  row.promo = w.promo != nullptr ? w.promo->ordinal + 1 : 0;
  if (!stock_.has_free(row.items)) return none_free(w, now);
  opened = hold(*entry, std::move(row), w.seats, now, out);
  return {};
}

/// Returns the entry that `customer` shops from: the existing entry or, in an `open` event, one that it
/// creates. Null: `no` holds the reason.
const queue_line::entry* sale::find_or_admit(const customer_id& customer, const promo_code_row* promo,
                                             timestamp now, decision& out, refusal& no) {
  const auto* own = queue_.find(customer);
  if (is_shopping(own, customer, now)) return own;
  const bool is_access = promo != nullptr && opens_hidden(*promo);
  auto place = join(customer, 0, now, out, {}, is_access ? promo->code : std::string_view{});
  no = std::move(place.no);
  if (no) return nullptr;
  out.reveals =
    true; // the checkout's answer does not contain the entry: reads of the entry wait for the commit
  admit(now, out);
  own = queue_.find(customer);
  if (is_shopping(own, customer, now)) return own;
  no = reason::not_admitted;
  return nullptr;
}

void sale::release(const claim_row& claim, timestamp now, decision& out, claim_end why) {
  const auto id = claim.id; // `claim` may refer to the row that moves
  const auto items = claim.items;
  const auto entry = claim.entry;
  const auto customer = claim.customer;
  const auto promo = claim.promo;
  const bool again = planted(bug::release_twice) && claim.status == claim_status::released;
  if (!again && !claims_.move(claim.id, claim_trigger::release, now, out.content)) return;
  stock_.release(items, out.content);
  if (seating_) seating_->release(id, out.content);
  const bool keeps_promo =
    planted(bug::promo_not_returned) && why.trigger == order_trigger::fail && orders_.of_claim(id) != nullptr;
  if (!keeps_promo) move_promo_uses(promo, -1, now, out);
  move_order(id, why.trigger, now, out, why.failure);
  regroup(customer, now, out); // its invitation or code may open hidden types again
  close_session_claim(entry, now, out);
  out.reveals = true;
}

/// The session's claim ended without a purchase: its holder has a short window to claim again, or the session
/// ends, so that the stock reaches the next in line.
void sale::close_session_claim(queue_number n, timestamp now, decision& out) {
  queue_.claim_closed(n);
  const auto* e = queue_.find(n);
  if (e->status != entry_status::admitted || e->live_claims() > 0 || planted(bug::returned_stock_kept))
    return;
  if (!queue_.claim_returned(n, now, event_.queue, out.content))
    end_entry(n, entry_trigger::end_session, now, out);
}

refusal sale::release_claim(const customer_id& customer, const claim_id& id, timestamp now, decision& out,
                            bool leaves) {
  const auto* claim = claims_.find(id);
  if (claim == nullptr || claim->customer != customer) return reason::not_found;
  if (claim->status == claim_status::released && !planted(bug::release_twice))
    return leaves ? leave(customer, now, out) : refusal{};
  if (!is_live(claim->status) && claim->status != claim_status::released)
    return {reason::invalid_transition, std::string{name_of(claim->status)}};
  if (payments_.open_of(id) != nullptr) return reason::payment_open;
  release(*claim, now, out, {order_trigger::cancel, {}});
  return leaves ? leave(customer, now, out) : refusal{};
}

} // namespace fq
