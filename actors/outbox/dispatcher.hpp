// SPDX-License-Identifier: Apache-2.0
// Carries the domain events of one lane from the ledger's outbox to its consumer: at least once, in order per
// aggregate, a bounded number at a time (I16). Partitions are leased to processes in the ledger, for all
// lanes together.
#pragma once
#include "actors/base/measures.hpp"
#include "actors/outbox/limits.hpp"
#include "actors/protocol/outbox_messages.hpp"
#include "actors/storage/ledger_workers.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>

namespace fq {

struct dispatcher_settings {
  lane which = lane::mail;
  std::function<bool()> may_take = nullptr; ///< false: nodes of another kind serve and own the outbox; null:
                                            ///< always true. Called on the actor's thread
  outbox_counts* counts = nullptr; ///< may be null
};

class dispatcher_state {
public:
  static inline const char* name = "dispatcher";
  using pointer = dispatcher_handle::stateful_pointer<dispatcher_state>;

  void init(pointer self, ledger_workers ledgers, consumer_handle consumer, dispatcher_settings settings);
  dispatcher_handle::behavior_type behavior();

private:
  void take();
  void on_taken(const outbox_taken& x);
  void on_consumed(const outbox_consumed& x);
  void next_round(milliseconds after);
  void show(const std::vector<outbox_item>& items);

  pointer self_ = nullptr;
  ledger_workers ledgers_;
  consumer_handle consumer_;
  dispatcher_settings settings_;
  aggregate_id first_{}, last_{}; ///< aggregates of the first and last row of the previous round; the next
                                  ///< round starts with others
  std::uint64_t round_ = 0; ///< of the timer; older timers are ignored
};

/// Null consumer: drops rows older than roll_out_max on lanes without a configured sink.
consumer_handle::behavior_type no_consumer(consumer_handle::pointer self, environment* env);

dispatcher_handle::behavior_type dispatcher(dispatcher_handle::stateful_pointer<dispatcher_state> self,
                                            ledger_workers ledgers, consumer_handle consumer,
                                            dispatcher_settings settings);

} // namespace fq
