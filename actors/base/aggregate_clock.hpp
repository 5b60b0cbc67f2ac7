// SPDX-License-Identifier: Apache-2.0
// An aggregate's time: ledger time at load plus steady time since. It never goes back, and never below the
// last committed time. Jumps of the wall clock have no effect. It stops while the ledger is unavailable: no
// deadline passes while clients cannot be answered. Then it lags behind the ledger. The next owner takes the
// lag over.
#pragma once
#include "actors/base/limits.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/planted.hpp"

#include <algorithm>
#include <utility>

namespace fq {

class aggregate_clock {
public:
  explicit aggregate_clock(environment& env) : env_(&env) {}

  /// `lag`: see acquired::clock_lag; at most clock_lag_max of it counts.
  void start(timestamp ledger_now, timestamp committed_at, milliseconds lag = milliseconds{0}) {
    base_ = std::max({ledger_now - std::min(lag, clock_lag_max), committed_at, now()});
    if (planted(bug::time_follows_ledger)) base_ = ledger_now;
    lag_ = ledger_now - base_;
    steady_base_ = env_->steady_now();
    paused_ = false;
  }
  /// Gives up the lag. Call it only if no deadline of a customer is open.
  void catch_up() {
    if (lag_ <= milliseconds{0}) return;
    base_ += std::exchange(lag_, milliseconds{0});
  }
  void pause() {
    if (paused_) return;
    base_ = now();
    steady_base_ = env_->steady_now();
    paused_ = true;
  }
  void resume() {
    if (!paused_) return;
    paused_ = false;
    lag_ += env_->steady_now() - steady_base_;
    steady_base_ = env_->steady_now();
  }
  [[nodiscard]] bool is_paused() const { return paused_; }
  [[nodiscard]] timestamp now() const {
    if (planted(bug::time_follows_wall) && base_ != never) return env_->wall_now();
    return paused_ || base_ == never ? base_ : base_ + (env_->steady_now() - steady_base_);
  }

private:
  environment* env_;
  timestamp base_;
  milliseconds steady_base_{0}; ///< at base_
  milliseconds lag_{0}; ///< behind the ledger's clock; negative: ahead of it
  bool paused_ = false;
};

} // namespace fq
