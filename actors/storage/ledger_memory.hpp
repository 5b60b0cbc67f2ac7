// SPDX-License-Identifier: Apache-2.0
// The highest epoch and applied_seq that this node knows to have been committed, for each aggregate, also of
// other nodes. A ledger that says less has lost commits. Shared by a process's ledger workers, region and
// cluster; any thread.
#pragma once
#include "actors/protocol/cluster_messages.hpp"
#include "actors/storage/limits.hpp"
#include "store/port/ledger.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fq {

class ledger_memory {
public:
  /// Beyond `most` aggregates the one that was silent for longest is forgotten.
  explicit ledger_memory(std::size_t most = remembered_aggregates_max) : most_(most) {}

  /// Zeros: nothing is known.
  [[nodiscard]] ledger_mark of(aggregate_id aggregate) const {
    const std::scoped_lock held{mutex_};
    const auto known = known_.find(aggregate);
    return known == known_.end() ? ledger_mark{} : known->second.seen;
  }

  void saw(aggregate_id aggregate, const ledger_mark& seen) {
    const std::scoped_lock held{mutex_};
    auto& mine = known_[aggregate];
    if (!mine.seen.is_behind(seen)) return;
    mine.seen.raise(seen);
    if (stopped_.erase(aggregate) != 0) count_ = stopped_.size(); // it goes on, perhaps at another node
    if (mine.version != 0) by_version_.erase(mine.version);
    mine.version = ++version_;
    by_version_.emplace(mine.version, aggregate);
    if (known_.size() <= most_) return;
    known_.erase(by_version_.begin()->second);
    by_version_.erase(by_version_.begin());
  }

  /// What changed after `version`, oldest first, at most `most`; `version` becomes that of the last one.
  [[nodiscard]] std::vector<ledger_sight> news(std::uint64_t& version, std::size_t most) const {
    const std::scoped_lock held{mutex_};
    std::vector<ledger_sight> all;
    for (auto i = by_version_.upper_bound(version); i != by_version_.end() && all.size() < most; ++i) {
      const auto& seen = known_.at(i->second).seen;
      all.push_back({i->second, seen.epoch, seen.seq});
      version = i->first;
    }
    return all;
  }

  // -- aggregates that are stopped, because the ledger lost commits of them

  /// True the first time.
  bool stop(aggregate_id aggregate) {
    const std::scoped_lock held{mutex_};
    const bool is_new = stopped_.insert(aggregate).second;
    count_ = stopped_.size();
    return is_new;
  }
  void go_on(aggregate_id aggregate) {
    if (count_ == 0) return;
    const std::scoped_lock held{mutex_};
    stopped_.erase(aggregate);
    count_ = stopped_.size();
  }
  [[nodiscard]] const std::atomic<std::uint64_t>& stopped() const { return count_; }

private:
  struct remembered {
    ledger_mark seen;
    std::uint64_t version = 0;
  };
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<aggregate_id, remembered> known_;
  std::map<std::uint64_t, aggregate_id> by_version_; ///< of known_
  std::uint64_t version_ = 0;
  std::set<aggregate_id> stopped_;
  std::atomic<std::uint64_t> count_{0};
};

} // namespace fq
