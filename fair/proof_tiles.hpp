// SPDX-License-Identifier: Apache-2.0
// Proofs from stored tiles: which tiles a proof needs, and the proof from them. A tile may be longer than
// when the checkpoint was made: hashes are only added to it.
#pragma once
#include "fair/tiles.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fq {

/// Level and index -> content.
using tile_contents = std::map<std::pair<unsigned, std::uint64_t>, std::string>;

/// Of a proof that the record at `index` is in the log of this size.
[[nodiscard]] std::vector<tile> tiles_of_inclusion(std::uint64_t index, std::uint64_t size);
/// Of a proof that the log of this size continues the one of `old_size`.
[[nodiscard]] std::vector<tile> tiles_of_consistency(std::uint64_t old_size, std::uint64_t size);

/// Throws std::out_of_range for a tile that is not there or too short.
[[nodiscard]] subtree_reader subtrees_in(const tile_contents& tiles, std::uint64_t size);

} // namespace fq
