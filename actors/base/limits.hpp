// SPDX-License-Identifier: Apache-2.0
// The limits of actors/base, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>

namespace fq {

// -- ask_owner
/// Max owners tried per request.
inline constexpr int owners_asked_max = 3;

// -- supervisor
/// Max requests that wait for an owner to load; more are refused.
inline constexpr std::size_t supervisor_waiting_max = 20'000;

// -- aggregate_clock
/// Max lag that an owner takes over from the one before it. A longer lag probably comes from a wrong clock,
/// or from a server that was off.
inline constexpr milliseconds clock_lag_max{60 * 60 * 1000};

} // namespace fq
