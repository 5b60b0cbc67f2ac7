// SPDX-License-Identifier: Apache-2.0
// The limits of actors/payments, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>

namespace fq {

// -- payments
/// Max calls over all gateways, beyond it `unavailable` (I14). Refunds are not urgent and may use half of it.
inline constexpr std::size_t gateway_calls_max = 20'000;
/// Upper bound for a gateway's Retry-After.
inline constexpr milliseconds retry_after_max{60'000};

// -- workers
/// Max sandbox webhooks per round, so that calls are served in between.
inline constexpr std::size_t webhooks_per_round = 64;

} // namespace fq
