// SPDX-License-Identifier: Apache-2.0
// A ledger that goes back over commits, as a failover to an asynchronous replica does. Tracks what processes
// saw committed, and what must be remembered by somebody. Once the ledger has lost commits of the sale that
// are remembered, nothing of the sale may be committed any more; all other checks end there, because their
// model is of the future that is gone.
#pragma once
#include "tests/sim/world.hpp"

#include <optional>
#include <vector>

namespace fq::sim {

class loss_watch {
public:
  explicit loss_watch(world& w) : world_(w) {}

  /// A process saw this committed.
  void saw(const ledger_mark& mark) { seen_.push_back({world_.env->steady_now(), mark}); }
  /// The ledger has gone back, perhaps over nothing that anybody saw.
  void went_back();
  /// A process was told that the sale is stopped: the ledger must remember it from now on.
  void was_told();
  /// A process ends. Without the mark in the ledger only other processes remember.
  void ended();
  /// A process begins. Without the mark it may serve before others tell it.
  void begun() { is_forgotten_ = is_forgotten_ || (has_lost() && !is_told_); }
  void applied() const;

  [[nodiscard]] bool has_lost() const { return stored_.has_value(); }
  /// Nobody can know of a loss any more.
  [[nodiscard]] bool is_over() const { return is_forgotten_; }
  void check_end(bool is_served) const;

private:
  struct sight {
    milliseconds at;
    ledger_mark mark;
  };
  world& world_;
  std::vector<sight> seen_;
  std::optional<ledger_mark> stored_; ///< after the loss
  bool is_told_ = false, is_forgotten_ = false;
};

} // namespace fq::sim
