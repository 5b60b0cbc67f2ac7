// SPDX-License-Identifier: Apache-2.0
// The steady time until which an aggregate's lease is certainly valid, counted from before the ledger
// request. The ledger worker writes it, the owner reads it on another thread. After it, another node may own
// the aggregate: a process that was suspended or cut off from the ledger must not answer from its memory.
#pragma once
#include "domain/base/time.hpp"

#include <atomic>

namespace fq {

class lease_horizon {
public:
  explicit lease_horizon(milliseconds until) : until_(until.count()) {}
  void set(milliseconds until) { until_ = until.count(); }
  /// Zero or negative: the lease has passed.
  [[nodiscard]] milliseconds left(milliseconds now) const { return milliseconds{until_} - now; }
  [[nodiscard]] bool has_passed(milliseconds now) const { return now.count() >= until_; }

private:
  std::atomic<milliseconds::rep> until_; ///< steady time
};

} // namespace fq
