// SPDX-License-Identifier: Apache-2.0
// An owner's journal: sends its changes to the ledger, at most one batch in flight, and holds replies and
// effects until their commit. Used by the event, accounts and catalog actors. Runs inside the owner, so it
// needs no lock.
#pragma once
#include "actors/base/limits.hpp"
#include "actors/base/shared_timer.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/storage/limits.hpp"
#include "domain/base/planted.hpp"

#include <caf/response_promise.hpp>

#include <functional>
#include <vector>

namespace fq {

class journal {
public:
  /// The journal's connections to its owner.
  struct port {
    std::function<void(batch_ptr)> submit; ///< to the ledger worker
    std::function<void(milliseconds, std::uint64_t number)> set_timer; ///< timer_kind::journal
    std::function<milliseconds()> steady_now;
    /// Called once per batch, before it is submitted: a boundary. May append changes.
    std::function<void(batch&)> begun = {};
    std::size_t held_max = owner_bounds{}.held;
  };
  /// Reads the owner's memory at a boundary, when all of it is committed or in the batch about to be
  /// submitted. The returned function runs after that commit.
  using boundary_work = std::function<std::function<void()>()>;

  explicit journal(port p) : port_(std::move(p)) {}

  /// Call when the aggregate is acquired. Drops all pending work.
  void start(aggregate_id aggregate, const acquired& image);

  /// Appends the changes of one decision; returns its sequence number (the last one if there are no changes).
  /// `reveals`: later reads must wait for it.
  std::uint64_t append(changes&& content, timestamp at, bool reveals);

  /// Sends `answer` when everything up to `seq` is committed; an error if the owner has to reload.
  void hold(std::uint64_t seq, caf::response_promise promise, caf::message answer);
  /// Runs `effect` when everything up to `seq` is committed. Dropped if the owner has to reload.
  void hold(std::uint64_t seq, std::function<void()> effect);

  /// Runs `work` at the next boundary: immediately if the journal is idle. Dropped if the owner has to
  /// reload.
  void at_boundary(boundary_work work);
  /// Runs `work` when the next batch starts, not before.
  void at_next_batch(boundary_work work) { at_next_boundary_.push_back(std::move(work)); }

  /// The read barrier: the decision that a read must wait for.
  [[nodiscard]] std::uint64_t reveal_barrier() const { return last_reveal_; }
  [[nodiscard]] bool is_committed(std::uint64_t seq) const { return seq <= committed_; }
  /// Changes of the next batch.
  [[nodiscard]] std::size_t pending() const { return next_.size(); }
  /// Replies and effects that wait for a commit.
  [[nodiscard]] std::size_t held_count() const { return in_flight_held_.size() + next_held_.size(); }
  [[nodiscard]] bool is_full() const {
    return held_count() >= port_.held_max && !planted(bug::full_journal_accepts);
  }
  /// The batch in flight failed or timed out: the ledger is probably unavailable.
  [[nodiscard]] bool is_stalled() const { return stalled_; }
  [[nodiscard]] bool is_idle() const { return in_flight_ == nullptr && next_.empty(); }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] std::uint64_t last_seq() const { return decided_; }

  /// Handles the ledger worker's answer. False: memory and ledger have diverged or a successor took over; the
  /// owner must call fail() and reload.
  [[nodiscard]] bool settled(const batch_settled& answer);
  void timer_fired(std::uint64_t number);

  /// Answers all held replies with errc::unavailable and drops what is not committed.
  void fail();

private:
  struct held {
    caf::response_promise promise;
    caf::message answer;
    std::function<void()> effect;
  };
  void keep(std::uint64_t seq, held h);
  void submit_next();
  void submit();
  void wait(milliseconds span);
  void set_timer();
  static void release(std::vector<held>& items);

  port port_;
  aggregate_id aggregate_{};
  std::uint64_t epoch_ = 0;
  std::uint64_t committed_ = 0; ///< last applied_seq that the ledger confirmed
  std::uint64_t decided_ = 0; ///< last appended decision
  std::uint64_t last_reveal_ = 0;
  timestamp last_at_;
  batch_ptr in_flight_;
  changes next_;
  std::vector<held> in_flight_held_, next_held_;
  std::vector<boundary_work> at_next_boundary_;
  shared_timer timer_;
  milliseconds due_{0}; ///< steady time at which the batch in flight is submitted again
  milliseconds retry_ = journal_retry_min;
  bool stalled_ = false;
};

} // namespace fq
