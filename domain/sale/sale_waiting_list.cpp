// SPDX-License-Identifier: Apache-2.0
// A sale's waiting list: from the moment that no unit is free or held, the line waits for units that come
// back. Each goes to the first who may buy it, as always, with a longer window; nobody has to be present.
// And what the odds of a place depend on.
#include "domain/sale/sale.hpp"

#include <algorithm>

namespace fq {

/// Begins when the event is sold out. Ends when nobody is on it and units are free: the sale goes on as
/// before.
void sale::follow_waiting_list(timestamp now, decision& out) {
  if (!sells()) return;
  auto& list = event_.waiting_list;
  const auto& line = queue_.counts();
  const bool is_served = line.waiting + line.away == 0 && !stock_.sold_out();
  const bool begins = list.enabled && event_.status == event_status::active && stock_.sold_out();
  const bool is_due = is_waiting_list() ? list.enabled && !is_served : begins;
  if (is_due == is_waiting_list()) return;
  const bool watched = watches_presence();
  list.began_at = is_due ? now : never;
  out.content.emplace_back(std::in_place_type<event_changed>, event_changed{event_.status, event_});
  out.reveals = true;
  out.notices.push_back(is_due ? socket_notice_kind::waiting_list : socket_notice_kind::no_waiting_list);
  if (watches_presence() == watched) return;
  out.notices.push_back(watched ? socket_notice_kind::presence_unwatched
                                : socket_notice_kind::presence_watched);
  watch_presence(now);
}

quiet_hours sale::quiet(timestamp now) const {
  const auto& list = event_.waiting_list;
  const auto& zone = event_.facts.time_zone;
  return {list.quiet_from, list.quiet_until, rules_.zone_offset ? rules_.zone_offset(now, zone) : seconds{0}};
}

/// On the list one person is offered each unit, and has time to read the mail about it. Only then may the
/// session buy until the claim's end.
queue_settings sale::admission_settings(timestamp now) const {
  auto q = event_.queue;
  if (!is_waiting_list()) return q;
  if (q.policy == admission_policy::open || q.policy == admission_policy::operated)
    q.policy = admission_policy::capacity;
  q.over_admission_percent = 100;
  q.claim_window = quiet(now).after(now, event_.waiting_list.claim_window) - now;
  q.session_ttl = q.claim_window + event_.claim_ttl;
  return q;
}

/// Amortized, one step for each admission.
void sale::count_outcomes() {
  for (; !outcomes_.open.empty(); outcomes_.open.pop_front()) {
    const auto* e = queue_.find(outcomes_.open.front());
    if (e->status == entry_status::admitted) return;
    std::uint64_t units = 0;
    for (const auto& id : claims_.standing_of(e->subject)) {
      const auto& claim = *claims_.find(id);
      if (claim.entry != e->number || claim.status != claim_status::confirmed) continue;
      for (const auto& i : claim.items) units += i.quantity;
    }
    ++outcomes_.people;
    outcomes_.claimed += e->session().has_claimed || e->session().reclaims > 0 ? 1 : 0;
    outcomes_.buyers += units > 0 ? 1 : 0;
    outcomes_.units += units;
    outcomes_.squares += units * units;
  }
}

/// After a load: those that were ever admitted, by time.
void sale::find_outcomes() {
  std::vector<std::pair<timestamp, queue_number>> all;
  queue_.each([&](const queue_line::entry& e) {
    if (is_set(e.session().admitted_at)) all.emplace_back(e.session().admitted_at, e.number);
  });
  std::ranges::sort(all);
  for (const auto& [at, number] : all) outcomes_.open.push_back(number);
  count_outcomes();
}

sale_evidence sale::evidence() const {
  sale_evidence e;
  e.sells = sells();
  if (!sells()) return e;
  e.waiting_list = is_waiting_list();
  for (const auto& t : stock_.types()) {
    if (t.hidden || !t.on_sale) continue;
    e.free += static_cast<std::uint64_t>(std::max<std::int64_t>(inventory::free_units(t), 0));
    e.held += static_cast<std::uint64_t>(t.held);
    e.most = std::max<std::uint64_t>(e.most, t.max_per_order);
  }
  const auto& line = queue_.counts();
  e.claims = claims_.counts().live;
  e.choosing = line.admitted - line.admitted_with_claim;
  e.decided = outcomes_.people;
  e.claimed = outcomes_.claimed;
  e.buyers = outcomes_.buyers;
  e.bought = outcomes_.units;
  e.squares = outcomes_.squares;
  e.joined = line.joined_total;
  e.waiting = line.waiting + line.away;
  e.admitted = line.admitted_total;
  e.left = e.joined - std::min(e.joined, e.waiting + e.admitted);
  return e;
}

outlook sale::outlook_of(const queue_line::entry& e) const {
  const bool is_told = is_in_line(e.status) && e.group == 0;
  return is_told ? fq::outlook_of(evidence(), queue_.position(e)) : outlook{};
}

} // namespace fq
