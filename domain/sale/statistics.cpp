// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/statistics.hpp"

#include "domain/sale/limits.hpp"

namespace fq {
namespace {

timestamp floor_to(milliseconds step, timestamp t) {
  return from_unix_ms(unix_ms(t) - unix_ms(t) % step.count());
}

statistics_row state_of(const event_stats& s) {
  statistics_row row;
  row.waiting = row.waiting_peak = s.waiting;
  row.admitted = s.admitted;
  row.arrivals_total = s.joined_total;
  row.admissions_total = s.admitted_total;
  row.held = s.held;
  row.sold = s.sold;
  row.available = s.available;
  row.revenue = s.revenue;
  return row;
}

} // namespace

timestamp statistics_book::minute_of(timestamp t) const { return floor_to(step_, t); }

void statistics_book::start(const std::optional<statistics_row>& last, const event_stats& now) {
  statistics_row none;
  none.available = now.available;
  last_ = last.value_or(none);
  peak_ = now.waiting;
}

bool statistics_book::has_news(const event_stats& now) const {
  auto row = state_of(now);
  row.at = last_.at;
  row.waiting_peak = last_.waiting_peak;
  row.arrivals = last_.arrivals;
  row.admissions = last_.admissions;
  return row != last_;
}

std::optional<statistics_row> statistics_book::take(const event_stats& now) {
  const auto at = minute_of(now.server_time);
  if (at <= last_.at || !has_news(now)) return std::nullopt;
  auto row = state_of(now);
  row.at = at;
  row.arrivals = row.arrivals_total - last_.arrivals_total;
  row.admissions = row.admissions_total - last_.admissions_total;
  row.waiting_peak = std::max(peak_, row.waiting);
  last_ = row;
  peak_ = row.waiting;
  return row;
}

statistics_window window_of(timestamp from, timestamp to, milliseconds step) {
  if (step.count() == 0) {
    step = statistics_steps.back();
    for (const auto s : statistics_steps)
      if (to - from <= s * (statistics_points_max - 1)) {
        step = s;
        break;
      }
  }
  const auto begin = floor_to(step, from);
  const auto end = std::min({to, begin + step * statistics_points_max, begin + statistics_span_max});
  return {begin, std::max(begin, end), step};
}

bool is_statistics_step(milliseconds step) {
  return std::ranges::find(statistics_steps, step) != statistics_steps.end();
}

} // namespace fq
