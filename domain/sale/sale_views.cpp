// SPDX-License-Identifier: Apache-2.0
// Views of a sale: entries, claims, payments, orders, counts.
#include "domain/base/planted.hpp"
#include "domain/delivery/outbox.hpp"
#include "domain/sale/limits.hpp"
#include "domain/sale/sale.hpp"
#include "domain/sale/waiting_list.hpp"

#include <algorithm>

namespace fq {

line_pace sale::pace(timestamp now) const {
  line_pace p;
  p.admitted = queue_.window().count_within(eta_span, now);
  // The rate is the count over a minute, or over the time since the queue opened.
  const auto open_for = std::max<milliseconds>(now - event_.queue_opens_at, seconds{1});
  p.span = std::min<milliseconds>(eta_span, open_for);
  p.claim_window = admission_of(event_, rules_, now).claim_window;
  return p;
}

entry_view sale::view_of(const queue_line::entry& e, timestamp now) const {
  const auto& session = e.session();
  entry_view v;
  v.id = make_entry_id(e.joined_at, event_.aggregate, e.number);
  v.event = event_.id;
  v.kind = event_.kind;
  v.customer = e.subject;
  v.subject_name = e.subject_name();
  v.message = event_.message;
  v.number = e.number;
  v.status = e.status;
  v.joined_at = e.joined_at;
  v.poll_after_ms = static_cast<std::uint32_t>(poll_min_ms);
  v.spot = queue_.spot_of(e);
  if (is_in_line(e.status)) {
    const auto lobby = lobby_now();
    lobby.phase == lobby_phase::none ? set_wait(v, queue_.position(e), pace(now)) : set_wait(v, lobby, now);
    v.party = lobby.phase == lobby_phase::none ? queue_number{} : queue_.parties().party_of(e.number);
    v.party_size = static_cast<std::uint32_t>(queue_.parties().members(v.party).size());
  }
  if (!is_set(session.admitted_at)) return v;
  v.admission_no = session.admission_no;
  v.admission_batch = session.admission_batch;
  v.admitted_at = session.admitted_at;
  v.session_expires_at = session.session_expires_at;
  v.claim_by = deadline_of(session);
  if (planted(bug::claim_window_at_read) && !session.has_claimed)
    v.claim_by = session.admitted_at + event_.queue.claim_window;
  return v;
}

claim_view sale::view_of(const claim_row& c) const {
  claim_view v{c, event_.id, event_.currency, {}};
  for (const auto& i : c.items) {
    v.item_ids.push_back(stock_.types()[i.ticket_type].id);
    v.item_names.push_back(stock_.types()[i.ticket_type].name);
  }
  if (!seating_) return v;
  const auto held = seating_->seats_of(c.id);
  std::vector<seat_number> sorted(held.begin(), held.end());
  std::ranges::sort(sorted);
  for (const auto n : sorted) {
    v.seats.push_back(seating_->map().plan().name_of(n));
    v.places.push_back(seating_->map().plan().place_of(n));
  }
  return v;
}

payment_view sale::view_of(const payment_row& p) const { return {p, event_.id, event_.currency}; }

order_view sale::view_of(const order_row& o) const {
  const auto& claim = *claims_.find(o.claim);
  order_view v;
  v.order = o;
  v.claim = view_of(claim);
  v.event_name = event_.name;
  v.typical_page_time = orders_.typical_page_time();
  const auto attempts = payments_.of_claim(o.claim);
  const payment_row* shown = payments_.open_of(o.claim);
  for (const auto& id : attempts) {
    const auto* p = payments_.find(id);
    v.refunded += p->refunded;
    if (shown == nullptr || (!is_open(shown->status) && p->id > shown->id)) shown = p;
  }
  if (shown != nullptr) {
    v.payment = shown->id;
    v.payment_state = shown->status;
    if (shown->status == payment_status::pending && claim.status == claim_status::claimed)
      v.payment_url = shown->authorization_url;
  }
  const bool may_pay_again = claim.status == claim_status::claimed
                             && (shown == nullptr || shown->status == payment_status::failed)
                             && attempts.size() < rules_.attempts_per_claim;
  v.can_retry = may_pay_again || (o.status == order_status::failed && event_.status == event_status::active);
  return v;
}

domain_event sale::related(domain_event told) const {
  const auto* claim = claims_.find(told.claim.is_nil() ? told.subject : told.claim);
  if (claim == nullptr) return told;
  const auto* order = orders_.of_claim(claim->id);
  if (order != nullptr) told.order = order->id;
  if (told.customer.is_nil()) told.customer = claim->customer;
  const auto* place = queue_.find(claim->entry);
  if (place != nullptr) told.entry = make_entry_id(place->joined_at, event_.aggregate, place->number);
  return told;
}

event_view sale::view() const {
  const auto is_hidden = [](const ticket_type_row& t) { return t.hidden && t.on_sale; };
  event_view v{event_,
               stock_.types(),
               sells() && stock_.sold_out(),
               std::ranges::any_of(stock_.types(), is_hidden),
               seating_ != nullptr,
               seating_ != nullptr && seating_->has_obstructed_seats()};
  if (!lobby_) return v;
  v.lobby = *lobby_;
  if (!is_set(lobby_->drawn_at)) v.lobby.seed.clear();
  if (!is_set(lobby_->closed_at)) v.lobby.entrants = lobby_now().people;
  return v;
}

entry_change sale::change_of(const queue_line::entry& e) const {
  const auto& session = e.session();
  entry_change c;
  c.id = make_entry_id(e.joined_at, event_.aggregate, e.number);
  c.number = e.number;
  c.status = e.status;
  c.admission_no = session.admission_no;
  c.admission_batch = session.admission_batch;
  c.admitted_at = session.admitted_at;
  c.session_expires_at = session.session_expires_at;
  c.claim_by = is_set(session.admitted_at) ? deadline_of(session) : never;
  c.spot = queue_.spot_of(e);
  return c;
}

event_stats sale::stats(timestamp now) const {
  const auto& c = queue_.counts();
  event_stats s;
  s.event = event_.id;
  s.status = event_.status;
  s.waiting = c.waiting;
  s.away = c.away;
  s.admitted = c.admitted;
  s.joined_total = c.joined_total;
  s.admitted_total = c.admitted_total;
  s.completed_total = c.completed_total;
  s.total = stock_.total();
  s.held = stock_.held();
  s.sold = stock_.sold();
  s.available = stock_.available();
  s.claims_live = claims_.counts().live;
  s.claims_confirmed = claims_.counts().confirmed;
  s.payments_open = payments_.open_count();
  s.revenue = payments_.revenue();
  s.refunded = payments_.refunded();
  s.admission_rate_per_minute = queue_.window().count_within(rate_span, now);
  s.arrival_rate_per_minute = queue_.arrivals().count_within(rate_span, now);
  s.last_admission_batch = queue_.last_batch();
  s.server_time = now;
  return s;
}

} // namespace fq
