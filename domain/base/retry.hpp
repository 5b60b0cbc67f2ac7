// SPDX-License-Identifier: Apache-2.0
// Capped exponential back-off with full jitter (M. Brooker, "Exponential Backoff And Jitter", 2015).
#pragma once
#include "domain/base/time.hpp"

#include <cstdint>

namespace fq {

struct retry_policy {
  std::uint32_t attempts = 3; ///< total, including the first
  milliseconds base{500};
  milliseconds cap{5000};
};

/// Delay after failed attempt number `attempt` (1-based): uniform in [0, min(cap, base * 2^(attempt-1))].
/// `random`: 64 uniform bits.
milliseconds retry_delay(const retry_policy& policy, std::uint32_t attempt, std::uint64_t random);

constexpr bool may_retry(const retry_policy& policy, std::uint32_t attempts_made) {
  return attempts_made < policy.attempts;
}

} // namespace fq
