// SPDX-License-Identifier: Apache-2.0
#include "store/port/log_store.hpp"

namespace fq {

std::vector<log_tile_key> log_edge(std::uint64_t size) {
  std::vector<log_tile_key> keys;
  if (size % 256 != 0) keys.push_back({bundle_level, size / 256});
  for (std::uint32_t level = 0; size > 0; ++level, size /= 256)
    if (size % 256 != 0) keys.push_back({level, size / 256});
  return keys;
}

std::vector<log_tile_key> keys_of(const log_wish& wish, const log_state_row& state) {
  auto keys = wish.edge ? log_edge(state.size) : std::vector<log_tile_key>{};
  keys.insert(keys.end(), wish.tiles.begin(), wish.tiles.end());
  return keys;
}

} // namespace fq
