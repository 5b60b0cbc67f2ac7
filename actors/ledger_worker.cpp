// SPDX-License-Identifier: Apache-2.0
#include "actors/ledger_worker.hpp"

#include "domain/idempotency.hpp"

#include <algorithm>

namespace fq {
namespace {
batch_settled settled_as(const batch& b, bool unavailable, commit_outcome outcome) {
  return {b.aggregate, b.epoch, b.to_seq, unavailable, outcome};
}
} // namespace

ledger_worker_handle::behavior_type ledger_worker(ledger_worker_handle::stateful_pointer<ledger_worker_state> self,
                                                  ledger* engine, environment* env, milliseconds prune_interval) {
  self->state.init(self, *engine, *env, prune_interval);
  return self->state.behavior();
}

void ledger_worker_state::init(pointer self, ledger& engine, environment& env, milliseconds prune_interval) {
  self_ = self;
  ledger_ = &engine;
  env_ = &env;
  prune_interval_ = prune_interval;
  self->delayed_send(self, prune_interval_, timer_fired{timer_kind::sweep, 0});
}

ledger_worker_handle::behavior_type ledger_worker_state::behavior() {
  return {
    [this](const commit_batch& x) { on_commit(x); },
    [this](const acquire_aggregate& x) { acquire(x); },
    [this](const find_aggregates_to_wake&) {
      aggregates_to_wake found;
      try {
        found.aggregates = ledger_->aggregates_to_wake();
      } catch (const ledger_unavailable&) {
        found.unavailable = true;
      }
      answer(std::move(found));
    },
    [this](const find_last_aggregate&) {
      last_aggregate_found found;
      try {
        found.last = ledger_->last_aggregate();
      } catch (const ledger_unavailable&) {
        found.unavailable = true;
      }
      answer(std::move(found));
    },
    [this](const list_events& x) {
      event_list_reply reply;
      try {
        event_filter filter{{}, x.after, x.limit + 1};
        if (!x.organizer.is_nil()) filter.organizer = x.organizer;
        for (auto& e : ledger_->list_events(filter)) reply.events.push_back({std::move(e.event), std::move(e.ticket_types)});
        reply.more = reply.events.size() > x.limit;
        if (reply.more) reply.events.resize(x.limit);
      } catch (const ledger_unavailable&) {
        reply.no = reason::unavailable;
      }
      return reply;
    },
    [this](const timer_fired& t) { t.kind == timer_kind::sweep ? prune() : flush(); },
  };
}

/// Answers the sender of the message in hand by an ordinary message.
template <class Reply>
void ledger_worker_state::answer(Reply reply) {
  caf::anon_send(caf::actor_cast<caf::actor>(self_->current_sender()), std::move(reply));
}

void ledger_worker_state::on_commit(const commit_batch& x) {
  waiting_.push_back({x.content, caf::actor_cast<owner_handle>(self_->current_sender())});
  if (flush_is_due_) return;
  flush_is_due_ = true; // behind whatever is in the mailbox already: those batches join this commit
  self_->send(self_, timer_fired{timer_kind::flush, 0});
}

void ledger_worker_state::flush() {
  flush_is_due_ = false;
  std::size_t batches = 0, content = 0;
  while (batches < waiting_.size() && batches < batches_per_commit_max && content < changes_per_commit_max)
    content += waiting_[batches++].content->content.size();
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(batches);
  std::vector<waiting> group(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  if (!waiting_.empty()) {
    flush_is_due_ = true;
    self_->send(self_, timer_fired{timer_kind::flush, 0});
  }
  std::vector<batch> all;
  all.reserve(group.size());
  for (const auto& w : group) all.push_back(*w.content);
  try {
    settle(group, ledger_->commit(all));
  } catch (const ledger_unavailable&) {
    fail(group);
  } catch (const commit_unknown&) {
    fail(group); // the same to an owner: it submits again, and applied_seq tells
  }
}

void ledger_worker_state::settle(const std::vector<waiting>& group, const std::vector<commit_outcome>& outcomes) {
  for (std::size_t i = 0; i < group.size(); ++i)
    self_->send(group[i].owner, settled_as(*group[i].content, false, outcomes[i]));
}

void ledger_worker_state::fail(const std::vector<waiting>& group) {
  for (const auto& w : group)
    self_->send(w.owner, settled_as(*w.content, true, commit_outcome::conflict));
}

/// Old answers and receipts go; owners forget theirs by age as well.
void ledger_worker_state::prune() {
  self_->delayed_send(self_, prune_interval_, timer_fired{timer_kind::sweep, 0});
  try {
    ledger_->prune(env_->wall_now() - idempotency_life, env_->wall_now() - receipt_life, rows_per_prune);
  } catch (const ledger_unavailable&) {
    return; // next time
  } catch (const commit_unknown&) {
    return;
  }
}

void ledger_worker_state::acquire(const acquire_aggregate& x) {
  aggregate_acquired reply;
  try {
    auto got = ledger_->acquire(x.aggregate, x.idempotency_since);
    reply.outcome = got ? acquire_outcome::acquired : acquire_outcome::absent;
    if (got) reply.content = std::make_shared<const acquired>(std::move(*got));
  } catch (const ledger_unavailable&) {
    reply.outcome = acquire_outcome::unavailable;
  } catch (const commit_unknown&) {
    reply.outcome = acquire_outcome::unavailable;
  }
  answer(std::move(reply));
}

} // namespace fq
