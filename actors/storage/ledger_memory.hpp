// SPDX-License-Identifier: Apache-2.0
// The latest epoch of each aggregate that this node knows to have been committed, also those of other nodes.
// A ledger that is behind it has lost commits. Shared by a process's ledger workers, region and cluster; any
// thread.
#pragma once
#include "actors/protocol/cluster_messages.hpp"
#include "actors/storage/limits.hpp"
#include "store/port/ledger.hpp"

#include <algorithm>
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
    return known == known_.end() ? ledger_mark{} : mark_of(known->second.last);
  }

  /// If `x` and what is known cannot both be true, the ledger went back between them. Then an epoch that no
  /// ledger has counts as seen, so that the aggregate is stopped.
  void saw(ledger_sight x) {
    const std::scoped_lock held{mutex_};
    auto& mine = known_[x.aggregate];
    if (mine.version != 0) {
      const auto& [last, version] = mine;
      if (contradict(last, x)) {
        const auto seq = std::max(last.seq, x.seq);
        x = {x.aggregate, std::max(last.epoch, x.epoch) + 1, seq, seq, 0};
      } else if (x.epoch == last.epoch) {
        x.began = std::min(x.began, last.began);
      }
      if (!mark_of(last).is_behind(mark_of(x))) return;
      by_version_.erase(version);
    }
    if (stopped_.erase(x.aggregate) != 0) count_ = stopped_.size(); // it continues, perhaps at another node
    mine = {x, ++version_};
    by_version_.emplace(version_, x.aggregate);
    if (known_.size() <= most_) return;
    known_.erase(by_version_.begin()->second);
    by_version_.erase(by_version_.begin());
  }

  /// What changed after `version`, oldest first, at most `most`; `version` becomes that of the last one.
  [[nodiscard]] std::vector<ledger_sight> news(std::uint64_t& version, std::size_t most) const {
    const std::scoped_lock held{mutex_};
    std::vector<ledger_sight> all;
    for (auto i = by_version_.upper_bound(version); i != by_version_.end() && all.size() < most; ++i) {
      all.push_back(known_.at(i->second).last);
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
  void resume(aggregate_id aggregate) {
    if (count_ == 0) return;
    const std::scoped_lock held{mutex_};
    stopped_.erase(aggregate);
    count_ = stopped_.size();
  }
  [[nodiscard]] const std::atomic<std::uint64_t>& stopped() const { return count_; }

private:
  struct remembered {
    ledger_sight last;
    std::uint64_t version = 0; ///< 0: nothing is known
  };
  static ledger_mark mark_of(const ledger_sight& x) { return {x.epoch, x.seq}; }
  /// An epoch has one holder, and begins after everything that earlier ones committed.
  static bool contradict(const ledger_sight& a, const ledger_sight& b) {
    if (a.epoch == b.epoch) return a.holder != b.holder;
    return a.epoch < b.epoch ? a.seq > b.began : b.seq > a.began;
  }
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::unordered_map<aggregate_id, remembered> known_;
  std::map<std::uint64_t, aggregate_id> by_version_; ///< of known_
  std::uint64_t version_ = 0;
  std::set<aggregate_id> stopped_;
  std::atomic<std::uint64_t> count_{0};
};

} // namespace fq
