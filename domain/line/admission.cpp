// SPDX-License-Identifier: Apache-2.0
#include "domain/line/admission.hpp"

#include "domain/base/planted.hpp"

#include <algorithm>

namespace fq {

admission_window::groups::const_iterator admission_window::first_after(timestamp t) const {
  return std::ranges::upper_bound(groups_, t, {}, &group::at);
}

void admission_window::record(timestamp at, std::uint64_t count) {
  auto g = groups_.begin() + (first_after(at) - groups_.begin());
  const auto sum = g == groups_.begin() ? forgotten_ : std::prev(g)->sum;
  if (g != groups_.begin() && std::prev(g)->at == at)
    --g;
  else
    g = groups_.insert(g, {at, sum});
  for (; g != groups_.end(); ++g) g->sum += count; // usually only the newest group; a load may touch more
}

std::uint64_t admission_window::count_within(milliseconds span, timestamp now) const {
  const auto g = first_after(now - span);
  if (g == groups_.end()) return 0;
  return groups_.back().sum - (g == groups_.begin() ? forgotten_ : std::prev(g)->sum);
}

timestamp admission_window::oldest_leaves(milliseconds span, timestamp now) const {
  const auto g = first_after(now - span);
  return g == groups_.end() ? never : g->at + span;
}

void admission_window::forget_before(timestamp t) {
  for (; !groups_.empty() && groups_.front().at < t; groups_.pop_front()) forgotten_ = groups_.front().sum;
}

bool unit_pools::serves(hidden_types opens) const {
  return public_ > 0
         || std::ranges::any_of(hidden_, [opens](const pool& p) { return p.units > 0 && is_in(p, opens); });
}

void unit_pools::book(hidden_types opens, std::uint64_t count) {
  const auto take = [&count](std::uint64_t& units) {
    const auto n = std::min(units, count);
    units -= n;
    count -= n;
  };
  for (auto& p : hidden_)
    if (is_in(p, opens)) take(p.units);
  take(public_);
}

admitted_record unit_pools::all() const {
  admitted_record units;
  units.public_units = public_;
  for (const auto& p : hidden_)
    if (p.type < hidden_types_max && p.units > 0)
      units.hidden_units.push_back({static_cast<std::uint8_t>(p.type), p.units});
  return units;
}

std::uint64_t unit_pools::room(std::span<const entry_group> groups) const {
  std::uint64_t waiting = 0, units = public_;
  hidden_types opens = 0;
  for (const auto& g : groups)
    if (g.waiting > 0 && serves(g.opens)) {
      waiting += g.waiting;
      opens |= g.opens;
    }
  for (const auto& p : hidden_)
    if (is_in(p, opens)) units += p.units;
  return std::min(waiting, units);
}

namespace {

void bound(admission_answer& a, std::uint64_t most) { a.count = std::min(a.count, most); }

constexpr std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

/// Allows at most `most` admissions within any `span`. If this limit is the smallest, retry_at is when the
/// window has room.
void bound_window(admission_answer& a, const admission_window& w, milliseconds span, std::uint64_t most,
                  timestamp now) {
  const auto room = less(most, w.count_within(span, now));
  if (room >= a.count) return;
  a.count = room;
  a.retry_at = std::max(a.retry_at, w.oldest_leaves(span, now));
}

} // namespace

admission_answer admissions_now(const queue_settings& q, const admission_window& w,
                                const admission_state& s) {
  admission_answer a{std::min(s.waiting, admissions_per_decision_max), never};
  if (q.policy == admission_policy::open) return a;
  const auto active = planted(bug::admit_without_counting) ? 0 : s.active_sessions;
  if (q.concurrency != 0) bound(a, less(q.concurrency, active));
  if (q.policy == admission_policy::operated) bound(a, s.called);
  if (q.policy == admission_policy::batch) bound_window(a, w, q.admission_interval, q.batch_size, s.now);
  if (q.rate_per_minute != 0) bound_window(a, w, rate_span, q.rate_per_minute, s.now);
  return a;
}

} // namespace fq
