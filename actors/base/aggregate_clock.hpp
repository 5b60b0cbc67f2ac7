// SPDX-License-Identifier: Apache-2.0
// An aggregate's time: ledger time at load plus steady time since, never below the last committed time. Jumps
// of the wall clock have no effect. Stops while the ledger is unavailable: no deadline passes while clients
// cannot be answered.
#pragma once
#include "domain/base/environment.hpp"

#include <algorithm>

namespace fq {

class aggregate_clock {
public:
  explicit aggregate_clock(environment& env) : env_(&env) {}

  void start(timestamp ledger_now, timestamp committed_at) {
    base_ = std::max(ledger_now, committed_at);
    steady_base_ = env_->steady_now();
    paused_ = false;
  }
  void pause() {
    if (paused_) return;
    base_ = now();
    paused_ = true;
  }
  void resume() {
    if (!paused_) return;
    paused_ = false;
    steady_base_ = env_->steady_now();
  }
  [[nodiscard]] bool is_paused() const { return paused_; }
  [[nodiscard]] timestamp now() const {
    return paused_ ? base_ : base_ + (env_->steady_now() - steady_base_);
  }

private:
  environment* env_;
  timestamp base_;
  milliseconds steady_base_{0};
  bool paused_ = false;
};

} // namespace fq
