// SPDX-License-Identifier: Apache-2.0
// Where the simulated sale's domain events go: a consumer with faults, and the watch over I16.
#pragma once
#include "tests/sim/world.hpp"

#include <map>
#include <vector>

namespace fq::sim {

/// Knows every committed domain event, whether it tells what happened, and how it was delivered.
class outbox_watch {
public:
  explicit outbox_watch(world& w) : world_(w) {}
  void applied(const batch& b);
  void delivered(lane which, const outbox_item& item);
  /// At the end of the quiet phase.
  void check_end();

private:
  struct row {
    outbox_key key;
    outbox_row content;
    milliseconds committed_at; ///< steady time
  };
  /// What must pass one lane.
  struct passage {
    std::vector<row> rows; ///< in order
    std::map<outbox_key, std::size_t> places;
    std::size_t delivered = 0; ///< rows before this one went out at least once
  };
  void check_end(lane which, const passage& p) const;

  world& world_;
  std::map<lane, passage> lanes_;
  std::set<uuid> ids_;
};

/// Refuses, takes only the first ones, answers late or not at all.
consumer_handle::behavior_type sim_consumer(consumer_handle::pointer self, world* w, lane which);

} // namespace fq::sim
