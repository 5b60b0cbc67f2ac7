// SPDX-License-Identifier: Apache-2.0
// How the sessions of a sale ended, counted in the order of admission up to the first that has not ended.
// Counted as they end, those who buy at once would be too many among the first.
#pragma once
#include "domain/base/ids.hpp"

#include <cstdint>
#include <deque>

namespace fq {

struct session_outcomes {
  std::uint64_t people = 0; ///< whose session is over
  std::uint64_t claimed = 0; ///< of them: held units at some time
  std::uint64_t buyers = 0, units = 0; ///< of them: bought, and how many units
  std::uint64_t squares = 0; ///< sum of the squares of each buyer's units
  std::deque<queue_number> open = {}; ///< admitted later than those, in order; some have ended
};

} // namespace fq
