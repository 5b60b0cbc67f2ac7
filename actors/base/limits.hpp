// SPDX-License-Identifier: Apache-2.0
// The limits of actors/base, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>

namespace fq {

// -- ask_owner
/// Max owners tried per request.
inline constexpr int owners_asked_max = 3;

/// The limits of an owner and its region at which a client's request gets another answer (I14). One per
/// process; a simulation draws small ones.
struct owner_bounds {
  std::size_t held = 20'000; ///< replies and effects that wait for a commit; beyond it 503
  std::size_t loading = 20'000; ///< requests per event that wait for its owner to load; more are refused
  std::size_t moving = 10'000; ///< the same, while the event moves
  std::size_t order_waiters = 20'000; ///< find_order requests that wait; more are answered at once
  std::size_t report_waiters = 10'000; ///< webhooks that wait for the gateway; more are redelivered
  std::size_t forgotten_reads = 256; ///< reads of forgotten entries under way; more are unavailable
};

// -- supervisor
/// Max requests that wait for an owner to load; more are refused.
inline constexpr std::size_t supervisor_waiting_max = 20'000;
/// Time for which an owner that has moved, or is idle, returns late requests to their senders.
inline constexpr milliseconds moved_linger{3'000};

// -- aggregate_clock
/// Max lag that an owner takes over from the one before it: a clock that is an hour wrong, as by daylight
/// saving, and an outage. A longer lag comes from a server that was off.
inline constexpr milliseconds clock_lag_max{90 * 60 * 1000};

/// Timers of idle pollers are due at its multiples.
inline constexpr milliseconds poll_tick{100};

} // namespace fq
