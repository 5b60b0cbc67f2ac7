// SPDX-License-Identifier: Apache-2.0
#include "fair/tiles.hpp"

#include "fair/bytes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace fq {
namespace {

std::string index_path(std::uint64_t index) {
  std::string path;
  for (auto n = index;; n /= 1000) {
    auto part = std::to_string(1000 + n % 1000).substr(1);
    if (n != index) part = "x" + part;
    path = path.empty() ? part : part + "/" + path;
    if (n < 1000) return path;
  }
}

std::string with_width(std::string path, std::uint64_t width) {
  return width == tile_width ? path : path + ".p/" + std::to_string(width);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t n = 0;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return n;
}

constexpr std::string_view bundle_prefix = "tile/entries/";

/// Hashes of the level of a tree of `size` leaves.
constexpr std::uint64_t hashes_at(unsigned level, std::uint64_t size) {
  return level * tile_height >= 64 ? 0 : size >> level * tile_height;
}

} // namespace

std::string path_of(const tile& t) {
  return with_width("tile/" + std::to_string(t.level) + "/" + index_path(t.index), t.width);
}

std::string bundle_path_of(const tile& t) {
  return with_width(std::string{bundle_prefix} + index_path(t.index), t.width);
}

std::optional<tile_path> parse_tile_path(std::string_view path) {
  const auto whole = path;
  tile_path result;
  if (const auto at = path.find(".p/"); at != path.npos) {
    const auto width = parse_number(path.substr(at + 3));
    if (!width || *width == 0 || *width >= tile_width) return std::nullopt;
    result.what.width = *width;
    path = path.substr(0, at);
  }
  if (path.starts_with(bundle_prefix)) {
    result.is_bundle = true;
    path.remove_prefix(bundle_prefix.size());
  } else {
    if (!path.starts_with("tile/")) return std::nullopt;
    path.remove_prefix(5);
    const auto slash = path.find('/');
    const auto level = parse_number(path.substr(0, slash));
    if (slash == path.npos || !level || *level > 63) return std::nullopt;
    result.what.level = static_cast<unsigned>(*level);
    path.remove_prefix(slash + 1);
  }
  std::string digits;
  for (const char c : path)
    if (c >= '0' && c <= '9') digits += c;
  const auto index = digits.size() > 18 ? std::nullopt : parse_number(digits);
  if (!index) return std::nullopt;
  result.what.index = *index;
  // One path for each tile: what is not its canonical form is refused.
  if ((result.is_bundle ? bundle_path_of(result.what) : path_of(result.what)) != whole) return std::nullopt;
  return result;
}

std::vector<tile> new_tiles(std::uint64_t old_size, std::uint64_t size) {
  std::vector<tile> tiles;
  for (unsigned level = 0; hashes_at(level, size) > 0; ++level) {
    const auto before = hashes_at(level, old_size), now = hashes_at(level, size);
    if (before == now) continue;
    for (auto i = before / tile_width; i * tile_width < now; ++i)
      tiles.push_back({level, i, std::min(tile_width, now - i * tile_width)});
  }
  return tiles;
}

std::string content_of(const tile& t, const subtree_reader& read) {
  std::string bytes;
  for (std::uint64_t i = 0; i < t.width; ++i) {
    const auto hash = read(t.level * tile_height, t.index * tile_width + i);
    bytes.append(hash.begin(), hash.end());
  }
  return bytes;
}

subtree_reader subtrees_of(std::uint64_t size, tile_reader read) {
  return [size, read = std::move(read)](unsigned height, std::uint64_t index) {
    const auto level = height / tile_height;
    const auto count = std::uint64_t{1} << height % tile_height; // hashes of the level below this subtree
    const auto first = index * count;
    const tile t{level, first / tile_width,
                 std::min(tile_width, hashes_at(level, size) - first / tile_width * tile_width)};
    const auto bytes = read(t);
    const auto at = first % tile_width * sizeof(tree_hash);
    if (bytes.size() < at + count * sizeof(tree_hash)) throw std::out_of_range{"a tile is too short"};
    tree_edge edge;
    for (std::uint64_t i = 0; i < count; ++i) {
      tree_hash hash;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at + i * sizeof hash), sizeof hash,
                  hash.begin());
      edge.append(hash);
    }
    return edge.root();
  };
}

void append_entry(std::string& bundle, std::string_view entry) {
  append_number(bundle, entry.size(), 2);
  bundle += entry;
}

std::optional<std::string_view> next_entry(std::string_view& bundle) {
  const auto size = read_number(bundle, 0, 2);
  if (bundle.size() < 2 + size) return std::nullopt;
  const auto entry = bundle.substr(2, size);
  bundle.remove_prefix(2 + size);
  return entry;
}

} // namespace fq
