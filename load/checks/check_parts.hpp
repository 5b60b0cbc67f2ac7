// SPDX-License-Identifier: Apache-2.0
// Shared by the files of this folder only: recording violations, and stock that was provably held for a time.
#pragma once
#include "load/checks/checker.hpp"
#include "load/checks/limits.hpp"

#include <limits>
#include <map>

namespace fq::load {

inline constexpr run_time_us never_us = std::numeric_limits<run_time_us>::max();

inline std::string fan_name(std::size_t index) { return "fan " + std::to_string(index); }

inline std::string money(std::int64_t amount, const std::string& currency) {
  return std::to_string(amount) + " " + currency;
}

inline void add_violation(check_result& check, std::string example) {
  check.result = verdict::broken;
  ++check.violations;
  if (check.examples.size() < example_limit) check.examples.push_back(std::move(example));
}

// Keeps what was found.
inline void not_judged(check_result& check, std::string why) {
  if (check.violations > 0) return;
  check.result = verdict::not_judged;
  check.detail = std::move(why);
}

inline check_result& check_of(judgement& out, check_id id) {
  return out.checks[static_cast<std::size_t>(id)];
}

inline bool holds_stock(claim_status status) {
  return status == claim_status::claimed || status == claim_status::expiring
         || status == claim_status::confirmed;
}

inline bool holds_stock(order_status status) { return is_open(status) || is_bought(status); }

// The units of a claim or order, provably held from the arrival of the first live sighting to the sending of
// the last one.
struct holding {
  std::size_t fan = 0;
  run_time_us first_sent_us = never_us; // of the request that claimed them
  run_time_us from_us = never_us;
  run_time_us until_us = -1;
  bool refunded = false;
  std::vector<claim_item> items;
};

struct payment_facts {
  std::size_t fan = 0;
  payment_sight last;
  run_time_us confirmed_seen_us = never_us;
  run_time_us last_sent_us = -1;
};

using payment_map = std::map<uuid, payment_facts>;

} // namespace fq::load
