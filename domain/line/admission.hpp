// SPDX-License-Identifier: Apache-2.0
// How many entries to admit now: the minimum of all configured limits, among the entries that could buy
// something. Pure; the queue supplies the counts, the sale the stock.
#pragma once
#include "domain/line/group.hpp"
#include "domain/line/limits.hpp"
#include "domain/line/records.hpp"
#include "domain/model/rows.hpp"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

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

/// Units that admissions may count on: public ones for all entries, those of a hidden type for the entries
/// that may buy it. A session without a live claim keeps one booked, a hidden one first.
class unit_pools {
public:
  static constexpr std::uint64_t unlimited = std::uint64_t{1} << 40;

  void add_public(std::uint64_t units) { public_ += units; }
  void add_hidden(std::uint32_t type, std::uint64_t units) { hidden_.push_back({type, units}); }
  /// Whether an entry with these hidden types could still get a unit.
  [[nodiscard]] bool serves(hidden_types opens) const;
  /// Takes `count` units for entries with these hidden types, or all that they could get.
  void book(hidden_types opens, std::uint64_t count = 1);
  /// What is left, for the public log.
  [[nodiscard]] admitted_record all() const;
  /// The most entries of these groups that could be admitted; 0 if none could.
  [[nodiscard]] std::uint64_t room(std::span<const entry_group> groups) const;

private:
  struct pool {
    std::uint32_t type; ///< ordinal
    std::uint64_t units;
  };
  static bool is_in(const pool& p, hidden_types opens) {
    return p.type < hidden_types_max && (opens >> p.type & 1) != 0;
  }
  std::uint64_t public_ = 0;
  std::vector<pool> hidden_;
};

struct admission_state {
  timestamp now;
  std::uint64_t waiting = 0; ///< in line, not away, and with something to buy
  std::uint64_t active_sessions = 0;
  std::uint64_t called = 0; ///< policy `operated`: entries called by an operator, not admitted yet
};

struct admission_answer {
  std::uint64_t count = 0;
  timestamp retry_at; ///< when a rate or batch window has room; `never` if time alone changes nothing
};

admission_answer admissions_now(const queue_settings& settings, const admission_window& window,
                                const admission_state& s);

} // namespace fq
