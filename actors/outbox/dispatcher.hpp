// SPDX-License-Identifier: Apache-2.0
// Carries the domain events of one lane of the ledger's outbox to its consumer: at least once, in order per
// aggregate, a bounded number at a time (I16). Which process serves which partition is leased in the ledger,
// for all lanes together.
#pragma once
#include "actors/base/measures.hpp"
#include "actors/storage/ledger_workers.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>

namespace fq {

/// Rows on their way at once at most. On an embedded ledger owners' commits wait while so many are marked: a
/// millisecond.
inline constexpr std::uint32_t outbox_rows_max = 64;
/// How often an empty outbox is looked at.
inline constexpr milliseconds outbox_poll{500};
/// A consumer or ledger that has not answered by then is asked again.
inline constexpr milliseconds outbox_answer_timeout{30'000};

struct dispatcher_settings {
  lane which = lane::mail;
  std::function<bool()> may_take = nullptr; ///< false: nodes of another kind serve, what is in the outbox is
                                            ///< theirs; null: there are none. From the actor's thread
  outbox_counts* counts = nullptr; ///< null: nobody asks
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
  aggregate_id first_{},
    last_{}; ///< whose rows came first and last in the last round: in the next one those of others come first
  std::uint64_t round_ = 0; ///< of the timer; an older one is ignored
};

/// While a changed configuration is rolled out, nodes differ: what this one has no use for may be another's
/// for so long.
inline constexpr milliseconds roll_out_max{15 * 60 * 1000};
/// Takes what is older than that and does nothing with it: the consumer of a lane that nobody listens to.
consumer_handle::behavior_type no_consumer(consumer_handle::pointer self, environment* env);

dispatcher_handle::behavior_type dispatcher(dispatcher_handle::stateful_pointer<dispatcher_state> self,
                                            ledger_workers ledgers, consumer_handle consumer,
                                            dispatcher_settings settings);

} // namespace fq
