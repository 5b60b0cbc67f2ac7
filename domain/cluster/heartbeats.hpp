// SPDX-License-Identifier: Apache-2.0
// Decides which nodes have stopped writing heartbeats.
#pragma once
#include "domain/cluster/limits.hpp"
#include "domain/model/rows.hpp"

#include <map>
#include <span>
#include <string>

namespace fq {

/// The other nodes' heartbeats, as one node reads them again and again.
class heartbeat_watch {
public:
  struct node {
    node_row row; ///< with its last heartbeat
    milliseconds counted_at{0}; ///< steady time of the last reading that counted
    std::uint32_t unchanged = 0; ///< readings that counted and showed no new heartbeat
    bool knows_us = false; ///< its last heartbeat came after one of this node, whose row it then read
    [[nodiscard]] bool is_silent() const { return unchanged >= silent_readings; }
  };

  /// Takes a reading of all live nodes at the steady time `now`. A node's reading counts if the previous one
  /// was about a heartbeat interval ago: a ledger that was away answers many requests at once. `was_missing`:
  /// this node's row may have ended since the last reading, so that others did not see it.
  void read(const std::string& self, std::span<const node_row> nodes, milliseconds now, milliseconds interval,
            bool was_missing = false);
  void clear() { others_.clear(); }

  /// By id. Includes nodes that are missing in the last reading, for some more readings.
  [[nodiscard]] const std::map<std::string, node>& others() const { return others_; }

private:
  std::map<std::string, node> others_;
};

} // namespace fq
