// SPDX-License-Identifier: Apache-2.0
// Where the simulated sale's domain events go: a consumer with faults, and the watch over I16.
#pragma once
#include "world.hpp"

#include <map>
#include <vector>

namespace fq::sim {

/// Knows every committed domain event, whether it tells what happened, and how it was delivered.
class outbox_watch {
public:
  explicit outbox_watch(world& w) : world_(w) {}
  void applied(const batch& b);
  void delivered(const outbox_item& item);
  /// At the end of the quiet phase.
  void check_end();

private:
  struct row {
    outbox_item item;
    milliseconds committed_at; ///< steady time
  };

  world& world_;
  std::vector<row> rows_; ///< in order
  std::map<outbox_key, std::size_t> places_;
  std::set<uuid> ids_;
  std::size_t delivered_ = 0; ///< rows before this one went out at least once
};

/// Refuses, takes only the first ones, answers late or not at all.
consumer_handle::behavior_type sim_consumer(consumer_handle::pointer self, world* w);

} // namespace fq::sim
