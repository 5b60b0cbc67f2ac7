// SPDX-License-Identifier: Apache-2.0
// An owner's journal: carries its changes to the ledger, at most one batch in flight, and holds everything
// the outside would see until it is committed. Used by the event, accounts and catalog actors; runs inside
// the owner, so it needs no lock.
#pragma once
#include "actors/protocol/messages.hpp"

#include <caf/response_promise.hpp>

#include <functional>
#include <vector>

namespace fq {

/// Replies and effects held at most; beyond it an owner answers 503 at once (I14).
inline constexpr std::size_t journal_held_max = 20'000;

/// A submitted batch that is not answered by then is submitted again: `applied_seq` makes that harmless.
inline constexpr milliseconds journal_answer_timeout{5'000};
/// Pause before an unavailable ledger is asked again, doubling up to the maximum.
inline constexpr milliseconds journal_retry_min{50};
inline constexpr milliseconds journal_retry_max{1'000};

class journal {
public:
  /// How the journal reaches its surroundings.
  struct port {
    std::function<void(batch_ptr)> submit; ///< to the ledger worker
    std::function<void(milliseconds, std::uint64_t generation)> set_timer; ///< timer_kind::journal
    std::function<void(const batch&)> begun = {}; ///< once for each batch, before it is submitted: a boundary
  };
  /// Looks at the owner's memory at a boundary, when that holds nothing which is neither committed nor in the
  /// batch about to be submitted; what it returns runs after that commit.
  using boundary_work = std::function<std::function<void()>()>;

  explicit journal(port p) : port_(std::move(p)) {}

  /// The owner has acquired its aggregate. Forgets everything that was under way.
  void start(aggregate_id aggregate, const acquired& image);

  /// Appends the changes of one decision; returns its sequence number (the last one if there are no changes).
  /// `reveals`: later reads must wait for it.
  std::uint64_t append(changes&& content, timestamp at, bool reveals);

  /// Sends `answer` when everything up to `seq` is committed; an error if the owner has to reload.
  void hold(std::uint64_t seq, caf::response_promise promise, caf::message answer);
  /// Runs `effect` when everything up to `seq` is committed; never, if the owner has to reload.
  void hold(std::uint64_t seq, std::function<void()> effect);

  /// Runs `work` at the next boundary: now, if nothing is under way. Forgotten if the owner has to reload.
  void at_boundary(boundary_work work);
  /// Runs `work` when the next batch begins, not before.
  void at_next_batch(boundary_work work) { at_next_boundary_.push_back(std::move(work)); }

  /// What a read must wait for so that it reveals nothing uncommitted.
  [[nodiscard]] std::uint64_t reveal_barrier() const { return last_reveal_; }
  [[nodiscard]] bool is_committed(std::uint64_t seq) const { return seq <= committed_; }
  [[nodiscard]] bool is_full() const {
    return in_flight_held_.size() + next_held_.size() >= journal_held_max;
  }
  /// The batch in flight has failed or had no answer: the ledger is away, as far as we know.
  [[nodiscard]] bool is_stalled() const { return stalled_; }
  [[nodiscard]] bool is_idle() const { return in_flight_ == nullptr && next_.empty(); }
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  [[nodiscard]] std::uint64_t last_seq() const { return decided_; }

  /// The worker's answer. False: memory and ledger have diverged or a successor took over; the owner must
  /// call fail() and load.
  [[nodiscard]] bool settled(const batch_settled& answer);
  void timer_fired(std::uint64_t generation);

  /// Answers everything held with errc::unavailable and drops what is not committed.
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
  void arm(milliseconds delay);
  static void release(std::vector<held>& items);

  port port_;
  aggregate_id aggregate_{};
  std::uint64_t epoch_ = 0;
  std::uint64_t committed_ = 0; ///< applied_seq that the ledger has confirmed
  std::uint64_t decided_ = 0; ///< last decision appended
  std::uint64_t last_reveal_ = 0;
  timestamp last_at_;
  batch_ptr in_flight_;
  changes next_;
  std::vector<held> in_flight_held_, next_held_;
  std::vector<boundary_work> at_next_boundary_;
  std::uint64_t generation_ = 0;
  milliseconds retry_ = journal_retry_min;
  bool stalled_ = false;
};

} // namespace fq
