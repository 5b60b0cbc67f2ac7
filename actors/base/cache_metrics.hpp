// SPDX-License-Identifier: Apache-2.0
// Metrics of the cache worker.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace fq {

/// Written by the worker, read by /metrics.
struct cache_metrics {
  std::atomic<std::uint64_t> steps{0}; ///< applied
  std::atomic<std::uint64_t> elements{0}; ///< in applied steps
  std::atomic<std::uint64_t> lost{0}; ///< mirror_lost messages sent
  std::atomic<std::uint64_t> equal{0}, different{0}; ///< results of mirror comparisons
  std::atomic<std::uint64_t> failures{0}; ///< calls without an answer
  std::atomic<bool> is_away{false}; ///< the circuit breaker is open
  /// Called by the worker when the cache goes away, with the reason, and when it is back, with nothing.
  std::function<void(const std::string& why)> on_change = [](const std::string&) {};
};

} // namespace fq
