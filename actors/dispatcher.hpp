// SPDX-License-Identifier: Apache-2.0
// Carries domain events from the ledger's outbox to a consumer: at least once, in order per aggregate, a bounded number at a time (I16). Which
// process serves which partition is leased in the ledger.
#pragma once
#include "actors/ledger_workers.hpp"
#include "actors/measures.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace fq {

/// Rows on their way at once at most.
inline constexpr std::uint32_t outbox_rows_max = 500;
/// How often an empty outbox is looked at.
inline constexpr milliseconds outbox_poll{500};
/// A consumer or ledger that has not answered by then is asked again.
inline constexpr milliseconds outbox_answer_timeout{30'000};

class dispatcher_state {
public:
  static inline const char* name = "dispatcher";
  using pointer = dispatcher_handle::stateful_pointer<dispatcher_state>;

  void init(pointer self, ledger_workers ledgers, consumer_handle consumer, outbox_counts* counts);
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
  outbox_counts* counts_ = nullptr;
  std::uint64_t round_ = 0; ///< of the timer; an older one is ignored
};

/// `counts` null: nobody asks.
dispatcher_handle::behavior_type dispatcher(dispatcher_handle::stateful_pointer<dispatcher_state> self, ledger_workers ledgers,
                                            consumer_handle consumer, outbox_counts* counts);

} // namespace fq
