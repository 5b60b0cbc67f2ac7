// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/dispatcher.hpp"

#include "actors/base/idle_poll.hpp"

#include <algorithm>
#include <utility>

namespace fq {

dispatcher_handle::behavior_type dispatcher(dispatcher_handle::stateful_pointer<dispatcher_state> self,
                                            ledger_workers ledgers, consumer_handle consumer,
                                            dispatcher_settings settings) {
  self->state.init(self, std::move(ledgers), std::move(consumer), std::move(settings));
  return self->state.behavior();
}

void dispatcher_state::init(pointer self, ledger_workers ledgers, consumer_handle consumer,
                            dispatcher_settings settings) {
  self_ = self;
  ledgers_ = std::move(ledgers);
  consumer_ = std::move(consumer);
  settings_ = std::move(settings);
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

/// One round: read rows, have them consumed, mark them. If an answer is lost, the timer starts the next
/// round: rows consumed but not marked are sent twice, never out of order.
void dispatcher_state::take() {
  if (settings_.may_take && !settings_.may_take()) {
    show({}); // clears the metrics: the serving nodes report the waiting rows
    return next_round(outbox_poll);
  }
  next_round(outbox_answer_timeout);
  self_->send(ledgers_.reader(1), take_outbox{settings_.which, outbox_rows_max, first_});
}

void dispatcher_state::on_taken(const outbox_taken& x) {
  if (!x.unavailable) show(*x.items);
  if (x.unavailable || x.items->empty()) return next_round(outbox_poll);
  first_ = x.items->front().key.aggregate;
  last_ = x.items->back().key.aggregate;
  self_->send(consumer_, consume_outbox{x.items});
}

/// Updates the metrics.
void dispatcher_state::show(const std::vector<outbox_item>& items) {
  if (settings_.counts == nullptr) return;
  const auto oldest =
    std::ranges::min_element(items, {}, [](const outbox_item& i) { return i.row.created_at; });
  settings_.counts->rows.set(static_cast<std::int64_t>(items.size()));
  settings_.counts->oldest.set(oldest == items.end() ? 0 : unix_ms(oldest->row.created_at));
}

void dispatcher_state::on_consumed(const outbox_consumed& x) {
  if (settings_.counts != nullptr) settings_.counts->delivered.add(x.keys->size());
  if (x.keys->empty()) {
    first_ = x.last == aggregate_id{} ? last_ : x.last; // no row could be sent: start with other aggregates
    return next_round(outbox_poll);
  }
  self_->send(ledgers_.reader(1), mark_outbox{settings_.which, x.keys});
}

void dispatcher_state::next_round(milliseconds after) {
  poll_after(self_, after, timer_fired{timer_kind::sweep, ++round_});
}

consumer_handle::behavior_type no_consumer(consumer_handle::pointer self, environment* env) {
  return {[self, env](const consume_outbox& x) {
    const auto before = env->wall_now() - roll_out_max;
    auto keys = std::make_shared<std::vector<outbox_key>>();
    for (const auto& item : *x.items)
      if (item.row.created_at <= before) keys->push_back(item.key);
    self->send(caf::actor_cast<dispatcher_handle>(self->current_sender()),
               outbox_consumed{std::move(keys), {}});
  }};
}

} // namespace fq
