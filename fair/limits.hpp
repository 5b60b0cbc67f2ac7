// SPDX-License-Identifier: Apache-2.0
// The limits of fair, each with its reason.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- records
/// Bytes of a text in a record: an entry of a bundle has at most 65,535, and a record has two texts.
inline constexpr std::size_t record_text_max = 16'000;

// -- noted
/// Bytes of a row: Postgres stores larger ones in pieces elsewhere, which costs twice as much.
inline constexpr std::size_t noted_piece_max = 1'900;

// -- note
/// Leaves of a tree: the stores keep numbers of 63 bits.
inline constexpr std::uint64_t tree_size_max = (std::uint64_t{1} << 63) - 1;
/// Hashes of a consistency proof: more than a tree of 2^63 leaves needs (c2sp.org/tlog-witness).
inline constexpr std::size_t proof_hashes_max = 63;

// -- cosigning
/// Pause after the first failure of a witness; it doubles. Checkpoints come about once a second.
inline constexpr milliseconds witness_pause{1'000};
inline constexpr milliseconds witness_pause_max{5 * 60'000};

} // namespace fq
