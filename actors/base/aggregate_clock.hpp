// SPDX-License-Identifier: Apache-2.0
// An aggregate's now: ledger time at load plus steady time since, never below the greatest committed time. A
// jump of the wall clock neither expires nor revives anything. It stands still while the ledger is away:
// nobody's deadline may pass in a time in which nobody could be told of anything.
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
