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

// -- ids
/// The bits that an entry's id has for its queue number.
inline constexpr std::uint64_t queue_number_max = (std::uint64_t{1} << 40) - 1;

// -- trace
/// The size that every vendor must be able to forward (§3.3.1.5). A longer `tracestate` is dropped as a
/// whole, which the specification allows.
inline constexpr std::size_t tracestate_max = 512;

} // namespace fq
