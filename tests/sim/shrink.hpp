// SPDX-License-Identifier: Apache-2.0
// Makes a failing sale smaller: turns its options and faults off one at a time, and keeps what still fails.
#pragma once
#include "tests/sim/simulation.hpp"

#include <string>
#include <string_view>

namespace fq::sim {

/// Turns off the named parts of a sale, separated by commas, in their order. False: a name is unknown.
bool turn_off(std::string_view names, sale_options& o);

struct shrunk {
  std::string off; ///< for turn_off; empty: nothing could be turned off
  outcome last;
};
/// `failed`: the outcome of `o`. A smaller sale counts if it breaks the same invariant.
shrunk shrink(const sale_options& o, const outcome& failed);

} // namespace fq::sim
