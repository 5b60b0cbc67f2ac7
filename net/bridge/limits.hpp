// SPDX-License-Identifier: Apache-2.0
// Limits of requests to actors and of the session table.
#pragma once
#include "domain/base/time.hpp"

#include <cstdint>

namespace fq::net {

/// Moves of an event that one request follows; after more, nodes do not agree on its owner.
inline constexpr std::uint8_t bounces_max = 3;

/// A subscription to an owner's sessions that is not answered by then is tried again.
inline constexpr milliseconds arrival_timeout{3'000};
/// A thread that was not swept for this time stood still, and so did the process perhaps: it asks owners
/// again. I15 leaves 2 s beside the cache of an origin (net/api/limits.hpp) for an owner on this node.
inline constexpr milliseconds still_max{2'000};
/// An aggregate without a request for this time is unsubscribed, so that ended sales take no memory.
inline constexpr milliseconds unused_max{10 * 60 * 1000};
/// Time for which the cache is read first after another node was found to own an aggregate.
inline constexpr milliseconds elsewhere_for{30'000};
/// Sweeps of 250 ms between two removals of unused aggregates: 10 s, because a removal visits all of them.
inline constexpr unsigned sweep_ticks = 40;

} // namespace fq::net
