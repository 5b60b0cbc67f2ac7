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

/// How far this process trusts its leases before they end: its peers end the leases of a node that they take
/// for dead. The cluster writes it. Without a cluster every lease is trusted to its end. All times are
/// steady.
class lease_doubt {
public:
  /// The process runs. Unless it is called again before, leases are trusted until `until`.
  void runs(milliseconds until) { runs_until_ = until.count(); }
  /// The process stood still until `now`: leases are trusted after the next look at them.
  void stood_still(milliseconds now) { looked_since_ = now.count(); }
  /// The ledger has a heartbeat that was begun at this time: others count the silence of this node from it.
  /// After a long silence of a node that was not connected to all, leases are trusted after the next look.
  void beat(milliseconds begun) {
    const auto before = beat_at_.exchange(begun.count());
    if (begun.count() - before > trusted_for_ && before < whole_since_) looked_since_ = begun.count();
  }
  /// Not all nodes are connected: a lease is trusted for this time after a look at it, and after the last
  /// heartbeat.
  void apart(milliseconds trusted_for) {
    trusted_for_ = trusted_for.count();
    whole_since_ = forever.count();
  }
  /// All nodes are connected since then. Earlier looks and heartbeats still count as apart: another node may
  /// have asked the ledger to end the leases just before.
  void whole(milliseconds since) { whole_since_ = since.count(); }

  /// Until when a lease is trusted. `looked`: time of the last look at it.
  [[nodiscard]] milliseconds end_of(milliseconds looked) const {
    if (looked.count() < looked_since_) return milliseconds{0};
    const auto since = std::min(looked.count(), beat_at_.load());
    const auto trusted = since >= whole_since_ ? forever.count() : since + trusted_for_;
    return milliseconds{std::min(runs_until_.load(), trusted)};
  }

private:
  static constexpr milliseconds forever = milliseconds::max();
  std::atomic<milliseconds::rep> runs_until_{forever.count()}, looked_since_{milliseconds::min().count()},
    trusted_for_{0}, whole_since_{milliseconds::min().count()}, beat_at_{forever.count()};
};

class lease_horizon {
public:
  explicit lease_horizon(milliseconds until, milliseconds looked = milliseconds{0},
                         std::shared_ptr<const lease_doubt> doubt = nullptr) :
      until_(until.count()), looked_(looked.count()), doubt_(std::move(doubt)) {}
  /// The ledger was asked at `looked`, and the lease lasts until `until`.
  void set(milliseconds until, milliseconds looked) {
    if (has_passed(looked)) ++lapses_;
    until_ = until.count();
    looked_ = looked.count();
  }
  void end() { until_ = 0; }
  /// Number of renewals that came after the lease had passed.
  [[nodiscard]] unsigned lapses() const { return lapses_; }
  /// Zero or negative: the lease has passed.
  [[nodiscard]] milliseconds left(milliseconds now) const {
    const milliseconds until{until_};
    return (doubt_ ? std::min(until, doubt_->end_of(milliseconds{looked_})) : until) - now;
  }
  [[nodiscard]] bool has_passed(milliseconds now) const { return left(now) <= milliseconds{0}; }

private:
  std::atomic<milliseconds::rep> until_, looked_;
  std::atomic<unsigned> lapses_ = 0;
  std::shared_ptr<const lease_doubt> doubt_;
};

/// A copy of what an owner knows is valid until its lease passes. A later renewal does not make the copy
/// valid again: the process may have stood still for any time.
class lease_of_copy {
public:
  lease_of_copy() = default; ///< no lease: never passes
  explicit lease_of_copy(std::shared_ptr<const lease_horizon> lease) :
      lease_(std::move(lease)), lapses_(lease_ ? lease_->lapses() : 0) {}
  [[nodiscard]] bool has_passed(milliseconds now) const {
    return lease_ && (lease_->has_passed(now) || lease_->lapses() != lapses_);
  }

private:
  std::shared_ptr<const lease_horizon> lease_;
  unsigned lapses_ = 0;
};

} // namespace fq
