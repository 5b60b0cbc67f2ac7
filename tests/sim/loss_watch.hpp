// SPDX-License-Identifier: Apache-2.0
// A ledger that goes back over commits, as a failover to an asynchronous replica does. Tracks what processes
// saw committed, and whether one of them must remember it. Once the ledger has lost commits of the sale that
// are remembered, nothing of the sale may be committed any more, except by another node before it can know.
// All other checks end there, because their model is of the future that is gone.
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
  /// The ledger has gone back, perhaps over nothing that a process saw.
  void went_back();
  /// A process learned that the sale is stopped: the ledger must remember it from now on.
  void noticed();
  /// A process ends. Without the mark in the ledger only other processes remember.
  void ended();
  /// A process begins. Without the mark it may serve before others tell it.
  void begun() { is_forgotten_ = is_forgotten_ || (has_lost() && !is_noticed_); }
  /// A batch of the sale was committed.
  void applied();

  [[nodiscard]] bool has_lost() const { return stored_.has_value(); }
  /// No process can know of a loss any more.
  [[nodiscard]] bool is_over() const { return is_forgotten_; }
  void check_end(bool is_served) const;

private:
  struct sight {
    milliseconds at;
    ledger_mark mark;
  };
  /// An epoch alone is no commit: a process that begins, or whose leases end, raises it again.
  [[nodiscard]] bool is_lost(const sight& s) const { return s.mark.seq > stored_->seq; }
  [[nodiscard]] milliseconds until_all_know() const;
  world& world_;
  std::vector<sight> seen_;
  std::optional<ledger_mark> stored_; ///< after the loss
  milliseconds back_at_{0};
  bool is_noticed_ = false, is_forgotten_ = false, continues_ = false;
};

} // namespace fq::sim
