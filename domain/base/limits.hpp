// SPDX-License-Identifier: Apache-2.0
// The limits of domain/base, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- guesses
/// Wrong guesses are forgotten when there was none for this long.
inline constexpr milliseconds guess_memory{24 * 60 * 60 * 1000};

// -- challenge
/// From its opening.
inline constexpr milliseconds challenge_life{5 * 60 * 1000};
/// A fan's work: 15,000 hashes are expected, a tenth of a second of a phone.
inline constexpr std::uint64_t challenge_base = 30'000;
/// Joins of one address at that price, of a household or an office; the work then grows by 1/20 with each. So
/// 10,000 joins cost 125 times as much each, even if every challenge is opened as early as it may be.
inline constexpr std::uint64_t challenge_free_joins = 20;
/// The work grows no more: two minutes of a large machine.
inline constexpr std::uint64_t challenge_client_joins_max = 1'000'000;
/// Joins of an address are forgotten when there was none for this long.
inline constexpr milliseconds challenge_memory{24 * 60 * 60 * 1000};
/// Addresses that an owner remembers, the latest: of those with challenge_free_joins at most, and again of
/// those with more. About 4 MB.
inline constexpr std::size_t challenge_clients_max = 16'384;
/// Open at once: 50,000 a second for their life; a bit each, 4 MB. Beyond it the answer is 503.
inline constexpr std::size_t challenges_open_max = 16'000'000;

// -- ids
/// The bits that an entry's id has for its queue number.
inline constexpr std::uint64_t queue_number_max = (std::uint64_t{1} << 40) - 1;

// -- trace
/// The size that every vendor must be able to forward (§3.3.1.5). A longer `tracestate` is dropped as a
/// whole, which the specification allows.
inline constexpr std::size_t tracestate_max = 512;

} // namespace fq
