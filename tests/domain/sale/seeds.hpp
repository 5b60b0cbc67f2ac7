// SPDX-License-Identifier: Apache-2.0
// Seeds for property tests: every failure names its seed; FAIRQUEUE_SEED=<n> runs only that seed.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <random>

namespace fq::test {

class dice {
public:
  explicit dice(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  std::uint64_t bits() { return engine_(); }
  /// Nearly uniform in [0, n).
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }

private:
  std::mt19937_64 engine_;
};

/// Calls `f(seed)` for seeds 1..count.
template <class F>
void for_seeds(std::uint64_t count, F f) {
  if (const char* one = std::getenv("FAIRQUEUE_SEED")) return f(std::strtoull(one, nullptr, 10));
  for (std::uint64_t seed = 1; seed <= count; ++seed) f(seed);
}

} // namespace fq::test

/// For loops of thousands of checks: silent on success; on failure names the seed and ends the test.
#define FQ_HOLDS(seed, condition)                                                                            \
  do {                                                                                                       \
    if (!(condition))                                                                                        \
      CAF_FAIL("seed " << (seed) << " (run with FAIRQUEUE_SEED=" << (seed) << "): " #condition);             \
  } while (false)
