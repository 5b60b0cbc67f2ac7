// SPDX-License-Identifier: Apache-2.0
// Which process of its node this one is: a number from the ledger, greater than that of every earlier
// process. Shared by the ledger workers of a process. A superseded process stays so until it ends.
#pragma once
#include "store/port/ledger.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace fq {

class incarnation {
public:
  /// Begins in the ledger at the first call. Throws as the ledger does, and superseded.
  std::uint64_t in(ledger& engine, const std::string& node) {
    if (is_superseded_) throw superseded("a later process has this node's name");
    const std::scoped_lock held{mutex_}; // the workers that wait need the number too
    if (number_ == 0) number_ = engine.enlist(node);
    return number_;
  }
  /// 0: not known yet.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::atomic<bool>& is_superseded() const { return is_superseded_; }
  /// True the first time.
  bool supersede() { return !is_superseded_.exchange(true); }

private:
  std::mutex mutex_;
  std::atomic<std::uint64_t> number_{0};
  std::atomic<bool> is_superseded_{false};
};

} // namespace fq
