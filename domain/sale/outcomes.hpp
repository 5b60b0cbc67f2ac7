// SPDX-License-Identifier: Apache-2.0
// Outcomes of a sale's sessions. They are counted in the order of admission, up to the first session that has
// not ended. Counted in the order of their ends, the share of buyers would be too high: fast buyers end
// first.
#pragma once
#include "domain/line/queue.hpp"
#include "domain/money/orders.hpp"
#include "domain/sale/claims.hpp"

#include <cstdint>
#include <deque>

namespace fq {

struct session_outcomes {
  std::uint64_t people = 0; ///< whose session is over
  std::uint64_t claimed = 0; ///< of them: held units at some time
  std::uint64_t buyers = 0, units = 0; ///< of them: bought, and how many units
  std::uint64_t squares = 0; ///< sum of the squares of each buyer's units
  std::deque<queue_number> open = {}; ///< admitted later than those, in order; some have ended

  /// Counts those whose turn it is. Amortized, one step for each admission.
  void follow(const queue_line& line, const claims_book& claims, const orders_book& orders);
  /// After a load: those that were ever admitted, by time.
  void load(const queue_line& line, const claims_book& claims, const orders_book& orders);
};

} // namespace fq
