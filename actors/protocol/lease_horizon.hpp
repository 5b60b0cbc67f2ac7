// SPDX-License-Identifier: Apache-2.0
// The steady time until which an aggregate's lease is certainly valid, counted from before the ledger
// request. The ledger worker writes it, the owner reads it on another thread. After it, another node may own
// the aggregate: a process that was suspended or cut off from the ledger must not answer from its memory.
#pragma once
#include "domain/base/time.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <utility>

namespace fq {

/// The steady time until which other nodes certainly take no lease of this process. Without a bound while
/// they are connected. Else they may hold it for dead. The cluster writes it.
class lease_bound {
public:
  void set(milliseconds until) { until_ = until.count(); }
  void lift() { until_ = none; }
  [[nodiscard]] milliseconds until() const { return milliseconds{until_}; }

private:
  static constexpr auto none = std::numeric_limits<milliseconds::rep>::max();
  std::atomic<milliseconds::rep> until_{none};
};

class lease_horizon {
public:
  explicit lease_horizon(milliseconds until, std::shared_ptr<const lease_bound> bound = nullptr) :
      until_(until.count()), bound_(std::move(bound)) {}
  void set(milliseconds until) { until_ = until.count(); }
  /// Zero or negative: the lease has passed.
  [[nodiscard]] milliseconds left(milliseconds now) const {
    return (bound_ ? std::min(milliseconds{until_}, bound_->until()) : milliseconds{until_}) - now;
  }
  [[nodiscard]] bool has_passed(milliseconds now) const { return left(now) <= milliseconds{0}; }

private:
  std::atomic<milliseconds::rep> until_; ///< steady time
  std::shared_ptr<const lease_bound> bound_;
};

} // namespace fq
