// SPDX-License-Identifier: Apache-2.0
// What the cache worker counts for /metrics.
#pragma once
#include <atomic>
#include <cstdint>

namespace fq {

/// Counted by the worker, read by /metrics.
struct cache_metrics {
  std::atomic<std::uint64_t> steps{0}; ///< applied
  std::atomic<std::uint64_t> elements{0}; ///< in applied steps
  std::atomic<std::uint64_t> lost{0}; ///< mirrors told lost
  std::atomic<std::uint64_t> equal{0}, different{0}; ///< comparisons of a mirror with what it should be
  std::atomic<std::uint64_t> failures{0}; ///< calls that the cache did not answer
  std::atomic<bool> is_away{false}; ///< the circuit is open
};

} // namespace fq
