// SPDX-License-Identifier: Apache-2.0
// Limits of requests to actors, of the session table and of the line table.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
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

/// Numbers in one message about presence: bounds the time that it takes from the event actor.
inline constexpr std::size_t present_at_most = 2000;
/// After an owner is lost, its successor is asked for after this time.
inline constexpr milliseconds reopen_after{500};
/// The wait doubles with each failure up to this one, so that an owner in trouble hears few questions.
inline constexpr milliseconds reopen_most{5'000};
/// After an answer about a line came too late to be trusted, polls ask for their places alone for this time.
inline constexpr milliseconds renewal_pause{1'000};
/// A line without sockets is unsubscribed after this time without polls: four times the longest poll
/// interval.
inline constexpr milliseconds polled_for{60'000};
/// Max lines that are subscribed for polls alone; polls of others ask their owners.
inline constexpr std::size_t polled_lines_max = 10'000;
/// Max places with a known position, about 110 bytes each. Certain is the half of them that polled
/// last; the next poll of another may ask the owner.
inline constexpr std::size_t known_places_max = 400'000;
/// Forgotten places that one sweep frees (250 ms): about 1 ms. The memory of a half is free after 5 s.
inline constexpr std::size_t places_freed_at_once = 10'000;

} // namespace fq::net
