// SPDX-License-Identifier: Apache-2.0
#include "domain/cluster/heartbeats.hpp"

namespace fq {

void heartbeat_watch::read(const std::string& self, std::span<const node_row> nodes, milliseconds now,
                           milliseconds interval, bool was_missing) {
  for (const auto& row : nodes) {
    if (row.id == self) continue;
    auto& known = others_[row.id];
    if (known.row.seen_at != row.seen_at) known = {row, now, 0, !was_missing};
    known.row = row;
  }
  for (auto& [id, other] : others_)
    if (now - other.counted_at >= interval * reading_tenths / 10) {
      other.counted_at = now;
      ++other.unchanged;
    }
  std::erase_if(others_, [](const auto& n) { return n.second.unchanged > watched_readings_max; });
}

} // namespace fq
