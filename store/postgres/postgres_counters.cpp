// SPDX-License-Identifier: Apache-2.0
// The sums of moves of one counter within a round.
#include "store/postgres/limits.hpp"
#include "store/postgres/postgres_rounds.hpp"

#include <algorithm>

namespace fq {
namespace {

std::int64_t cut(std::int64_t delta) {
  return std::clamp(delta, -postgres_limits::counter_move_max, postgres_limits::counter_move_max);
}

} // namespace

void postgres_rounds::stock_sum::add(const stock_moved& c) {
  held += cut(c.held_delta);
  sold += cut(c.sold_delta);
  least_held = std::min(least_held, held);
  least_sold = std::min(least_sold, sold);
  most_taken = std::max(most_taken, held + sold);
}

void postgres_rounds::uses_sum::add(const promo_uses_moved& c) {
  uses += cut(c.delta);
  least = std::min(least, uses);
  most = std::max(most, uses);
}

void postgres_rounds::place_sums() {
  for (const auto& [key, sum] : stock_) {
    const auto& [round, aggregate, ordinal] = key;
    rows(round, postgres_write::move_stock)
      .add(aggregate, ordinal, sum.held, sum.sold, sum.least_held, sum.least_sold, sum.most_taken);
  }
  for (const auto& [key, sum] : promo_uses_) {
    const auto& [round, aggregate, ordinal] = key;
    rows(round, postgres_write::move_promo_uses).add(aggregate, ordinal, sum.uses, sum.least, sum.most);
  }
  stock_.clear();
  promo_uses_.clear();
}

} // namespace fq
