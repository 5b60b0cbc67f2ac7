// SPDX-License-Identifier: Apache-2.0
// How many entries to admit now: the minimum of all configured limits. Pure; the queue supplies the counts,
// the sale the stock.
#pragma once
#include "domain/line/limits.hpp"
#include "domain/model/rows.hpp"

#include <cstdint>
#include <deque>

namespace fq {

/// Recent admissions, for rate and batch windows and for the ETA. Rebuilt from committed admitted_at, so a
/// restart admits no extra entries.
class admission_window {
public:
  /// Accepts any order of time: a load records by queue number, and an entry that came back from AWAY was
  /// admitted after higher numbers.
  void record(timestamp at, std::uint64_t count);
  /// Admissions in (now - span, now].
  [[nodiscard]] std::uint64_t count_within(milliseconds span, timestamp now) const;
  /// When the oldest admission in (now - span, now] leaves the window; `never` if there is none.
  [[nodiscard]] timestamp oldest_leaves(milliseconds span, timestamp now) const;
  void forget_before(timestamp t);

private:
  struct group {
    timestamp at;
    std::uint64_t sum; ///< all admissions up to and including `at`
  };
  using groups = std::deque<group>;
  [[nodiscard]] groups::const_iterator first_after(timestamp t) const;

  groups groups_; ///< ascending by time
  std::uint64_t forgotten_ = 0; ///< sum before groups_
};

struct admission_state {
  timestamp now;
  std::uint64_t waiting = 0; ///< in line and not away
  std::uint64_t active_sessions = 0;
  bool stock_bound = false; ///< false for standalone queues, which have no stock
  std::int64_t units_available = 0; ///< of types on sale, free
  std::uint64_t admitted_without_claim = 0;
  std::uint64_t called = 0; ///< policy `operated`: entries called by an operator, not admitted yet
};

struct admission_answer {
  std::uint64_t count = 0;
  timestamp retry_at; ///< when a rate or batch window has room; `never` if time alone changes nothing
};

admission_answer admissions_now(const queue_settings& settings, const admission_window& window,
                                const admission_state& s);

} // namespace fq
