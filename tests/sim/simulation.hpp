// SPDX-License-Identifier: Apache-2.0
// One seeded sale: the real actors over the memory ledger, or over SQLite on a disk that fails, on CAF's test
// coordinator, with one thread, virtual time and a schedule drawn from the seed. A phase with faults, then a
// quiet phase in which everything must finish.
#pragma once
#include "tests/sim/checker.hpp"
#include "tests/sim/options.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace fq::sim {

struct outcome {
  std::string violation; ///< empty: all invariants held
  std::uint64_t hash = 0; ///< of the whole trace
  std::uint64_t steps = 0;
  milliseconds virtual_time{0};
  std::int64_t sold = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(rare::count_)> reached{};
  std::map<std::string, std::string> log; ///< files of the public log, as a server would serve it
};

outcome run_sale(const sale_options& o, bool trace);
/// With the options that are drawn from the seed.
outcome run_sale(std::uint64_t seed, bool trace);

} // namespace fq::sim
