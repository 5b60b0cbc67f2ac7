// SPDX-License-Identifier: Apache-2.0
// The limits of fair, each with its reason.
#pragma once
#include <cstddef>

namespace fq {

// -- records
/// Bytes of a text in a record: an entry of a bundle has at most 65,535, and a record has two texts.
inline constexpr std::size_t record_text_max = 16'000;

// -- note
/// Hashes of a consistency proof: more than a tree of 2^63 leaves needs (c2sp.org/tlog-witness).
inline constexpr std::size_t proof_hashes_max = 63;

} // namespace fq
