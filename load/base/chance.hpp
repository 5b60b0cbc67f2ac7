// SPDX-License-Identifier: Apache-2.0
// The load program's only source of random numbers and its only clock. Random numbers come from the run's
// printed seed, times count from the run's start. Owned by one thread. Does not use the server's environment
// port, so that the load program stays an independent witness.
#pragma once

#include "load/base/history.hpp"

#include <chrono>
#include <cstdint>
#include <random>

namespace fq::load {

class chance {
public:
  explicit chance(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }

  // Uniform in [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

  // Uniform in [0, below); below > 0.
  std::uint64_t under(std::uint64_t below) { return engine_() % below; }

private:
  std::mt19937_64 engine_;
};

class run_clock {
public:
  using steady = std::chrono::steady_clock;

  [[nodiscard]] run_time_us now_us() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - start_).count();
  }
  [[nodiscard]] steady::time_point at(run_time_us us) const { return start_ + std::chrono::microseconds(us); }
  void restart() { start_ = steady::now(); }

private:
  steady::time_point start_ = steady::now();
};

} // namespace fq::load
