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

void bound_stock(admission_answer& a, const queue_settings& q, const admission_state& s) {
  const auto units = static_cast<std::uint64_t>(std::max<std::int64_t>(s.units_available, 0));
  bound(a, less(units * q.over_admission_percent / 100, s.admitted_without_claim));
}

} // namespace

admission_answer admissions_now(const queue_settings& q, const admission_window& w,
                                const admission_state& s) {
  admission_answer a{std::min(s.waiting, admissions_per_decision_max), never};
  if (q.policy == admission_policy::open) return a;
  const auto counted = planted(bug::admit_without_counting)
                         ? admission_state{s.now, s.waiting, 0, s.stock_bound, s.units_available, 0, s.called}
                         : s;
  if (q.concurrency != 0) bound(a, less(q.concurrency, counted.active_sessions));
  if (s.stock_bound) bound_stock(a, q, counted);
  if (q.policy == admission_policy::operated) bound(a, s.called);
  if (q.policy == admission_policy::batch) bound_window(a, w, q.admission_interval, q.batch_size, s.now);
  if (q.rate_per_minute != 0) bound_window(a, w, rate_span, q.rate_per_minute, s.now);
  return a;
}

} // namespace fq
