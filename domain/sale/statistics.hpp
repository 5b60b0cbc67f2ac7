// SPDX-License-Identifier: Apache-2.0
// When an event's owner writes a row of statistics, and what a request for them may read. Called by the event
// actor and by routes.
#pragma once
#include "domain/sale/views.hpp"

#include <algorithm>
#include <optional>

namespace fq {

/// The last row, and what is known since.
class statistics_book {
public:
  /// `step`: at most one row in it; 0: no rows.
  explicit statistics_book(milliseconds step) : step_(step) {}

  /// After each load; `now`: the event as loaded. Without a last row, nothing has happened yet.
  void start(const std::optional<statistics_row>& last, const event_stats& now);
  [[nodiscard]] bool is_on() const { return step_.count() > 0; }
  void see_waiting(std::uint64_t waiting) { peak_ = std::max(peak_, waiting); }
  /// The beginning of the next step.
  [[nodiscard]] timestamp next(timestamp now) const { return minute_of(now) + step_; }
  /// Whether anything changed since the last row.
  [[nodiscard]] bool has_news(const event_stats& now) const;
  /// The row to write; none in the step of the last one, or without news.
  [[nodiscard]] std::optional<statistics_row> take(const event_stats& now);

private:
  [[nodiscard]] timestamp minute_of(timestamp t) const;

  milliseconds step_;
  statistics_row last_;
  std::uint64_t peak_ = 0; ///< of waiting, since `last_`
};

/// The part of an event's statistics that one answer has: one point per step, at the last row in it.
struct statistics_window {
  timestamp from, to; ///< `to` exclusive
  milliseconds step{0};
  friend bool operator==(const statistics_window&, const statistics_window&) = default;
};

/// The first window of [from, to): from the beginning of the step of `from`, as long as one answer may be.
/// `step` 0: the shortest one of which one answer has all, else the longest.
[[nodiscard]] statistics_window window_of(timestamp from, timestamp to, milliseconds step);
/// Whether a request may ask for this step.
[[nodiscard]] bool is_statistics_step(milliseconds step);

} // namespace fq
