// SPDX-License-Identifier: Apache-2.0
#include "fair/proof_tiles.hpp"

#include <algorithm>

namespace fq {
namespace {

/// The tiles that `prove` reads, in any order.
template <class Prove>
std::vector<tile> tiles_read_by(std::uint64_t size, Prove prove) {
  std::vector<tile> read;
  prove(subtrees_of(size, [&](const tile& t) {
    if (std::ranges::find(read, t) == read.end()) read.push_back(t);
    return std::string(tile_width * sizeof(tree_hash), '\0');
  }));
  return read;
}

} // namespace

std::vector<tile> tiles_of_inclusion(std::uint64_t index, std::uint64_t size) {
  return tiles_read_by(size, [&](const subtree_reader& read) { return inclusion_proof(index, size, read); });
}

std::vector<tile> tiles_of_consistency(std::uint64_t old_size, std::uint64_t size) {
  return tiles_read_by(size,
                       [&](const subtree_reader& read) { return consistency_proof(old_size, size, read); });
}

subtree_reader subtrees_in(const tile_contents& tiles, std::uint64_t size) {
  return subtrees_of(size, [&tiles](const tile& t) { return tiles.at({t.level, t.index}); });
}

} // namespace fq
