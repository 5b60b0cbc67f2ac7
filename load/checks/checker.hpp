// SPDX-License-Identifier: Apache-2.0
// Judges a finished sale from what its fans saw. Pure: no I/O, no clock, O(n log n). Called by the crowd's
// report and by tests with planted violations. It must not read any server counter; only orders are compared
// with the organizer's books.
//
// Sound, not complete: a check reports only what the sightings prove. A lost answer proves nothing and never
// makes a violation; open outcomes are counted in `undetermined`.
#pragma once

#include "load/base/history.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fq::load {

enum class check_id : std::uint8_t {
  sold_equals_stock,
  oversold,
  overtakes,
  batch_too_large,
  duplicate_numbers,
  lost_places,
  lost_claims,
  position_grew,
  extra_claims,
  amount_mismatch,
  money_balance,
  paid_without_ticket,
  false_sold_out,
  illegal_history,
  lost_orders,
  order_reverted,
  order_amounts,
  orders_confirmed,
  order_stock,
  promo_uses,
  order_money,
  seat_twice,
  seat_map
};

enum class verdict : std::uint8_t { held, broken, not_judged };

struct check_result {
  check_id id = check_id::sold_equals_stock;
  verdict result = verdict::held;
  std::uint64_t violations = 0;
  std::string detail; // one line for the table
  std::vector<std::string> examples; // at most example_limit
};

// Sums over the orders of a run, each in its last seen state.
struct order_sums {
  std::array<std::int64_t, order_status_count> by_status{};
  std::int64_t bought_units = 0; // without refunded units
  std::int64_t gateway_paid = 0; // minor units: payments for orders that the gateway confirmed to fans
  std::int64_t bought_value = 0; // minor units, without refunds
  std::int64_t refunds = 0;
  std::int64_t in_flight = 0;
};

struct judgement {
  std::vector<check_result> checks; // one per check_id, in the order of check_id
  std::int64_t stock = 0; // units on sale when the run began
  std::int64_t sold_units = 0; // units of claims last seen CONFIRMED and of bought orders
  std::int64_t confirmed_claims = 0;
  std::int64_t claims_value = 0; // minor units
  std::int64_t payments_value = 0; // minor units, without refunds
  std::int64_t undetermined = 0; // claims or payments whose end no fan saw
  std::int64_t admitted_entries = 0;
  std::int64_t largest_batch = 0;
  order_sums orders;
  std::int64_t claim_units = 0; // of claims last seen CONFIRMED
  std::int64_t open_order_units = 0; // of orders whose end no fan saw

  [[nodiscard]] bool broken() const;
  [[nodiscard]] const check_result& of(check_id id) const;
};

std::string_view name_of(check_id id);
// The invariant (docs/glossary.md) that a check covers, or "-".
std::string_view invariant_of(check_id id);
std::string_view name_of(verdict result);

judgement judge(const sale_history& history);

} // namespace fq::load
