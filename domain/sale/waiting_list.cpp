// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/waiting_list.hpp"

#include "domain/line/quiet_hours.hpp"
#include "domain/sale/log_settings.hpp"

#include <algorithm>

namespace fq {
namespace {

quiet_hours quiet_of(const event_row& event, const sale_rules& rules, timestamp now) {
  const auto& list = event.waiting_list;
  return {list.quiet_from, list.quiet_until,
          rules.zone_offset ? rules.zone_offset(now, event.facts.time_zone) : seconds{0}};
}

std::string why_changed(bool begins, bool is_enabled) {
  if (begins) return "no unit is left to sell or held";
  return is_enabled ? "units are free again" : "the organizer has turned the list off";
}

} // namespace

/// Begins when no unit is held or can be sold any more, and one that comes back could be. Ends when the line
/// is empty, no offer stands and there are such units, or when the organizer turns it off.
void sale::follow_waiting_list(timestamp now, decision& out) {
  if (!sells()) return;
  auto& list = event_.waiting_list;
  const auto& line = queue_.counts();
  const bool was_list = is_waiting_list(event_);
  const bool is_offered = line.admitted > line.admitted_with_claim;
  const bool has_units = stock_.has_units_to_sell(now);
  const bool has_ended =
    std::ranges::all_of(stock_.types(), [now](const auto& t) { return inventory::has_ended(t, now); });
  const bool is_served = line.waiting + line.away == 0 && !is_offered && has_units;
  const bool begins = list.enabled && event_.status == event_status::active && !has_ended && !has_units;
  const bool is_due = was_list ? list.enabled && !is_served : begins;
  if (is_due == was_list) return;
  const bool watched = watches_presence(event_);
  const auto settings = settings_text(event_, stock_.types());
  list.began_at = is_due ? now : never;
  note(hand_record{hand_action::waiting_list,
                   {},
                   0,
                   changed_lines(settings, settings_text(event_, stock_.types())),
                   why_changed(is_due, list.enabled)},
       out);
  out.content.emplace_back(std::in_place_type<event_changed>, event_changed{event_.status, event_});
  out.reveals = true;
  out.notices.push_back(is_due ? socket_notice_kind::waiting_list : socket_notice_kind::no_waiting_list);
  if (watches_presence(event_) == watched) return;
  out.notices.push_back(watched ? socket_notice_kind::presence_unwatched
                                : socket_notice_kind::presence_watched);
  watch_presence(now);
}

milliseconds presence_timeout_of(const event_row& event) {
  return is_waiting_list(event) ? milliseconds{0} : event.queue.presence_timeout;
}

timestamp quiet_until(const event_row& event, const sale_rules& rules, timestamp now) {
  return is_waiting_list(event) ? quiet_of(event, rules, now).end_at(now) : never;
}

queue_settings admission_of(const event_row& event, const sale_rules& rules, timestamp now) {
  auto q = event.queue;
  if (!is_waiting_list(event)) return q;
  if (q.policy == admission_policy::open || q.policy == admission_policy::operated)
    q.policy = admission_policy::capacity;
  q.over_admission_percent = 100;
  q.claim_window = quiet_of(event, rules, now).after(now, event.waiting_list.claim_window) - now;
  q.session_ttl = q.claim_window + event.claim_ttl;
  return q;
}

sale_evidence evidence_of(const sale& s, timestamp now) {
  sale_evidence e;
  e.sells = s.sells();
  if (!e.sells) return e;
  e.waiting_list = is_waiting_list(s.event());
  for (const auto& t : s.stock().types()) {
    if (t.hidden || !inventory::may_sell(t, now)) continue;
    e.free += static_cast<std::uint64_t>(std::max<std::int64_t>(inventory::free_units(t), 0));
    e.held += static_cast<std::uint64_t>(t.held);
    e.most = std::max<std::uint64_t>(e.most, t.max_per_order);
  }
  const auto& line = s.queue().counts();
  const auto& seen = s.outcomes();
  e.claims = s.claims().counts().live;
  e.choosing = line.admitted - line.admitted_with_claim;
  e.decided = seen.people;
  e.claimed = seen.claimed;
  e.buyers = seen.buyers;
  e.bought = seen.units;
  e.squares = seen.squares;
  e.joined = line.joined_total;
  e.waiting = line.waiting + line.away;
  e.admitted = line.admitted_total;
  e.left = e.joined - std::min(e.joined, e.waiting + e.admitted);
  return e;
}

outlook outlook_of(const sale& s, const queue_line::entry& e, timestamp now) {
  const bool has_odds = is_in_line(e.status) && e.group == 0 && s.lobby_now().phase == lobby_phase::none;
  return has_odds ? outlook_of(evidence_of(s, now), s.queue().position(e)) : outlook{};
}

} // namespace fq
