// SPDX-License-Identifier: Apache-2.0
// Until when an aggregate's lease holds for certain, by the steady clock: counted from before the ledger was
// asked. Written by the ledger worker, read by the owner on another thread. Past it another node may own the
// aggregate and know more: a process that was stopped, or cut off from the ledger, must not answer from its
// memory.
#pragma once
#include "domain/base/time.hpp"

#include <atomic>

namespace fq {

class lease_horizon {
public:
  explicit lease_horizon(milliseconds until) : until_(until.count()) {}
  void set(milliseconds until) { until_ = until.count(); }
  /// Not positive: it has passed.
  [[nodiscard]] milliseconds left(milliseconds now) const { return milliseconds{until_} - now; }
  [[nodiscard]] bool has_passed(milliseconds now) const { return now.count() >= until_; }

private:
  std::atomic<milliseconds::rep> until_; ///< steady time
};

} // namespace fq
