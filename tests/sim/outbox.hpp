// SPDX-License-Identifier: Apache-2.0
// The receiver of the simulated sale's domain events: a faulty consumer, and the check of I16.
#pragma once
#include "tests/sim/world.hpp"

#include <map>
#include <vector>

namespace fq::sim {

/// Whether an organizer sends the row of a dead letter again, under its id.
[[nodiscard]] bool is_retried(const batch& b, const uuid& id);

/// Tracks every committed domain event, its content and its deliveries.
class outbox_watch {
public:
  explicit outbox_watch(world& w) : world_(w) {}
  void applied(const batch& b);
  void delivered(lane which, const outbox_item& item);
  /// For the end of the quiet phase.
  void check_end();

private:
  [[nodiscard]] bool check_people(const outbox_row& row, std::size_t& told_news) const;
  struct row {
    outbox_key key;
    outbox_row content;
    milliseconds committed_at; ///< steady time
  };
  /// The rows of one aggregate in one lane.
  struct passage {
    std::vector<row> rows; ///< in order
    std::map<outbox_key, std::size_t> places;
    std::size_t delivered = 0; ///< all rows before this index were delivered at least once
  };
  void check_end(lane which, const passage& p) const;
  void check_marked(lane which) const;

  world& world_;
  std::map<std::pair<lane, aggregate_id>, passage> passages_;
  std::set<uuid> ids_;
};

/// Refuses, accepts only the first rows, answers late or never.
consumer_handle::behavior_type sim_consumer(consumer_handle::pointer self, world* w, lane which);

} // namespace fq::sim
