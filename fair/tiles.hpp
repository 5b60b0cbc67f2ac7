// SPDX-License-Identifier: Apache-2.0
// Tiles and entry bundles of a log (c2sp.org/tlog-tiles): their paths and contents.
#pragma once
#include "fair/merkle.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

inline constexpr std::uint64_t tile_width = 256;
inline constexpr unsigned tile_height = 8;

/// 256 hashes, fewer at the right edge. A bundle of entries has the place of the tile of level 0 over them.
struct tile {
  unsigned level = 0;
  std::uint64_t index = 0;
  std::uint64_t width = tile_width;
  friend bool operator==(const tile&, const tile&) = default;
};

/// "tile/0/x001/234", "tile/1/000.p/7".
[[nodiscard]] std::string path_of(const tile& t);
/// "tile/entries/…" for a tile of level 0.
[[nodiscard]] std::string bundle_path_of(const tile& t);
/// Reads `path` of a tile or bundle as far as it is canonical; a bundle has level 0.
struct tile_path {
  bool is_bundle = false;
  tile what;
};
[[nodiscard]] std::optional<tile_path> parse_tile_path(std::string_view path);

/// The tiles that a checkpoint over `size` leaves needs and one over `old_size` did not have.
[[nodiscard]] std::vector<tile> new_tiles(std::uint64_t old_size, std::uint64_t size);

/// The tile's bytes: its hashes, from subtrees of height 8 * level.
[[nodiscard]] std::string content_of(const tile& t, const subtree_reader& read);

/// Returns the bytes of a tile; of a full one where the width is that of an older checkpoint.
using tile_reader = std::function<std::string(const tile&)>;
/// Subtrees of a tree of `size` leaves from its tiles. Throws std::out_of_range for a tile that is too short.
[[nodiscard]] subtree_reader subtrees_of(std::uint64_t size, tile_reader read);

/// Appends an entry to a bundle: its length in 16 bits, its bytes. Precondition: at most 65,535 bytes.
void append_entry(std::string& bundle, std::string_view entry);
/// Takes the first entry of a bundle off; empty: there is none that is whole.
[[nodiscard]] std::optional<std::string_view> next_entry(std::string_view& bundle);

} // namespace fq
