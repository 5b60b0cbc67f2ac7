// SPDX-License-Identifier: Apache-2.0
// Wraps a ledger for owners: collects the batches that wait and commits them as one transaction, so throughput grows with load while
// latency stays near one fsync. Detached in production because a ledger blocks; an ordinary actor in simulations.
#pragma once
#include "actors/protocol.hpp"
#include "domain/environment.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <vector>

namespace fq {

/// Batches and changes that one transaction carries at most; the rest goes into the next one.
inline constexpr std::size_t batches_per_commit_max = 256;
inline constexpr std::size_t changes_per_commit_max = 20'000;

/// Webhook receipts are kept longer than any gateway repeats (Paystack and Stripe: three days).
inline constexpr milliseconds receipt_life{30ll * 24 * 60 * 60 * 1000};
/// Rows that one round of pruning deletes at most; the next round follows after the interval.
inline constexpr std::size_t rows_per_prune = 5'000;

class ledger_worker_state {
public:
  static inline const char* name = "ledger_worker";
  using pointer = ledger_worker_handle::stateful_pointer<ledger_worker_state>;

  void init(pointer self, ledger& engine, environment& env, milliseconds prune_interval);
  ledger_worker_handle::behavior_type behavior();

private:
  struct waiting {
    batch_ptr content;
    owner_handle owner;
  };
  void on_commit(const commit_batch& x);
  void flush();
  void settle(const std::vector<waiting>& group, const std::vector<commit_outcome>& outcomes);
  void fail(const std::vector<waiting>& group);
  void acquire(const acquire_aggregate& x);
  void prune();
  template <class Reply>
  void answer(Reply reply);

  pointer self_ = nullptr;
  ledger* ledger_ = nullptr;
  environment* env_ = nullptr;
  milliseconds prune_interval_{0};
  std::vector<waiting> waiting_;
  bool flush_is_due_ = false;
};

ledger_worker_handle::behavior_type ledger_worker(ledger_worker_handle::stateful_pointer<ledger_worker_state> self,
                                                  ledger* engine, environment* env, milliseconds prune_interval);

} // namespace fq
