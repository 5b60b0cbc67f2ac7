// SPDX-License-Identifier: Apache-2.0
#include "actors/dispatcher.hpp"

#include <algorithm>
#include <utility>

namespace fq {

dispatcher_handle::behavior_type dispatcher(dispatcher_handle::stateful_pointer<dispatcher_state> self, ledger_workers ledgers,
                                            consumer_handle consumer, outbox_counts* counts) {
  self->state.init(self, std::move(ledgers), std::move(consumer), counts);
  return self->state.behavior();
}

void dispatcher_state::init(pointer self, ledger_workers ledgers, consumer_handle consumer, outbox_counts* counts) {
  self_ = self;
  ledgers_ = std::move(ledgers);
  consumer_ = std::move(consumer);
  counts_ = counts;
  take();
}

dispatcher_handle::behavior_type dispatcher_state::behavior() {
  return {
    [this](const outbox_taken& x) { on_taken(x); },
    [this](const outbox_marked&) { next_round(milliseconds{0}); },
    [this](const outbox_consumed& x) { on_consumed(x); },
    [this](const timer_fired& t) {
      if (t.generation == round_) take();
    },
  };
}

/// One round: take rows, have them consumed, mark them, again. If an answer is lost, the timer begins the next round: rows that were
/// consumed but not marked go out twice, never out of order.
void dispatcher_state::take() {
  next_round(outbox_answer_timeout);
  self_->send(ledgers_.reader(1), take_outbox{outbox_rows_max});
}

void dispatcher_state::on_taken(const outbox_taken& x) {
  if (!x.unavailable) show(*x.items);
  if (x.unavailable || x.items->empty()) return next_round(outbox_poll);
  self_->send(consumer_, consume_outbox{x.items});
}

/// To whoever measures.
void dispatcher_state::show(const std::vector<outbox_item>& items) {
  if (counts_ == nullptr) return;
  const auto oldest = std::ranges::min_element(items, {}, [](const outbox_item& i) { return i.row.created_at; });
  counts_->rows.set(static_cast<std::int64_t>(items.size()));
  counts_->oldest.set(oldest == items.end() ? 0 : unix_ms(oldest->row.created_at));
}

void dispatcher_state::on_consumed(const outbox_consumed& x) {
  if (counts_ != nullptr) counts_->delivered.add(x.keys->size());
  if (x.keys->empty()) return next_round(outbox_poll); // the consumer cannot now
  self_->send(ledgers_.reader(1), mark_outbox{x.keys});
}

void dispatcher_state::next_round(milliseconds after) { self_->delayed_send(self_, after, timer_fired{timer_kind::sweep, ++round_}); }

} // namespace fq
