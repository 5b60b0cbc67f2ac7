// SPDX-License-Identifier: Apache-2.0
#include "actors/storage/ledger_worker.hpp"

#include "actors/base/limits.hpp"
#include "actors/storage/log_audit.hpp"
#include "domain/base/planted.hpp"
#include "domain/sale/idempotency.hpp"
#include "store/port/restored.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace fq {
namespace {
/// Counts from the owner's first time (aggregate_clock::start), not from this node's clock.
load_since since_of(const acquire_aggregate& x, const acquired& got) {
  const auto begins = got.now - std::min(got.clock_lag, clock_lag_max);
  return {begins - x.idempotency_age, begins - x.entries_age};
}

batch_settled settled_as(const batch& b, bool unavailable, commit_outcome outcome) {
  return {b.aggregate, b.epoch, b.to_seq, unavailable, outcome};
}

/// Name of an outcome after which the owner must reload; null for the others.
const char* refusal_name(commit_outcome outcome) {
  switch (outcome) {
    case commit_outcome::fenced: return "another owner has taken it";
    case commit_outcome::out_of_order: return "it is not the next one";
    case commit_outcome::conflict: return "memory and ledger have diverged";
    case commit_outcome::committed:
    case commit_outcome::already_applied:
    case commit_outcome::busy: break;
  }
  return nullptr;
}

} // namespace

ledger_worker_handle::behavior_type ledger_worker(
  ledger_worker_handle::stateful_pointer<ledger_worker_state> self, ledger* engine, environment* env,
  ledger_worker_settings settings) {
  self->state.init(self, *engine, *env, std::move(settings));
  return self->state.behavior();
}

void ledger_worker_state::init(pointer self, ledger& engine, environment& env,
                               ledger_worker_settings settings) {
  self_ = self;
  ledger_ = &engine;
  env_ = &env;
  settings_ = std::move(settings);
  if (!settings_.process) settings_.process = std::make_shared<incarnation>();
  if (!settings_.memory) settings_.memory = std::make_shared<ledger_memory>();
  clock_.emplace(env);
  clock_->start(env.wall_now(), never);
  on_timer({timer_kind::renew, 0});
  if (settings_.prune_interval.count() > 0)
    self->delayed_send(self, settings_.prune_interval, timer_fired{timer_kind::sweep, 0});
  if (settings_.tasks != nullptr) on_timer({timer_kind::tasks, 0});
}

/// Runs `work`; false if the ledger is unavailable. An unknown commit also counts as failed: the requester
/// repeats it.
bool ledger_worker_state::reached(const std::function<void()>& work) {
  bool done = false;
  std::string why;
  try {
    work();
    done = true;
  } catch (const superseded&) {
    on_superseded();
    return false;
  } catch (const ledger_unavailable& e) { why = e.what(); } catch (const commit_unknown& e) {
    why = e.what();
  }
  if (settings_.reachable) *settings_.reachable = done;
  if (std::exchange(is_reached_, done) != done)
    note(done ? "the ledger is back" : "the ledger is away: " + why);
  return done;
}

/// The process does not end by itself: a restart would make it the latest, and take everything back.
void ledger_worker_state::on_superseded() {
  if (settings_.process->supersede() && settings_.alarm)
    settings_.alarm("superseded: a later process has the name " + settings_.lease.owner
                    + "; end this one, or give one of them another node.id");
}

lease_terms ledger_worker_state::lease() {
  auto mine = settings_.lease;
  if (!mine.owner.empty()) mine.incarnation = settings_.process->in(*ledger_, mine.owner);
  return mine;
}

std::vector<tenure> ledger_worker_state::tenures() const {
  std::vector<tenure> mine;
  mine.reserve(leased_.size());
  for (const auto& [aggregate, lease] : leased_) mine.push_back({aggregate, lease.epoch});
  return mine;
}

void ledger_worker_state::note(const std::string& what) const {
  if (settings_.note) settings_.note(what);
}

ledger_worker_state::~ledger_worker_state() {
  if (settings_.tasks != nullptr) store_tasks();
  for (const auto& [aggregate, lease] : leased_) lease.horizon->end();
  if (!leased_.empty()) reached([&] { ledger_->release(settings_.lease.owner, tenures()); });
  if (!beats_for_.empty()) reached([&] { ledger_->leave(beats_for_, settings_.process->number()); });
}

ledger_worker_handle::behavior_type ledger_worker_state::behavior() {
  return {
    // CAF compares a message with one handler after the other: the frequent ones first
    [this](const timer_fired& t) { on_timer(t); },
    [this](const commit_batch& x) { on_commit(x); },
    [this](const acquire_aggregate& x) { acquire(x); },
    [this](const load_acquired& x) { load(x); },
    [this](const fq::read_entry& x) { return read(x); },
    [this](const release_aggregate& x) { release(x); },
    [this](const find_aggregates_to_wake& x) { find_unowned(x); },
    [this](const find_last_aggregate& x) { find_last(x); },
    [this](const fq::take_outbox& x) { take_outbox(x); },
    [this](const fq::mark_outbox& x) { mark_outbox(x); },
    [this](const peek_aggregate& x) { peek(x); },
    [this](const fq::read_directory&) { read_directory(); },
    [this](const fq::read_blocks&) { read_blocks(); },
    [this](const beat_node& x) { beat(x); },
    [this](const accept_losses& x) { return accept(x); },
    [this](const end_leases_of& x) { return end(x); },
    [this](const end_lease& x) { return release({x.aggregate}), ack_reply{}; },
    [this](const list_audit& x) { return list(x); },
    [this](const fq::list_orders& x) { return list(x); },
    [this](const fq::list_statistics& x) { return list(x); },
    [this](const list_tenant_plans& x) { return list(x); },
    [this](const list_held_tickets& x) { return list(x); },
    [this](const fq::list_transfers& x) { return list(x); },
    [this](const fq::list_dead_letters& x) { return list(x); },
    [this](const list_events& x) { return list(x); },
    [this](const fq::list_records& x) { return list(x); },
    [this](const fq::find_open_purchase& x) { return find(x); },
    [this](const find_audience& x) { return find(x); },
    [this](const find_crowd& x) { return find(x); },
    [this](const fq::store_deliveries& x) { return store(x); },
    [this](const fq::take_deliveries& x) { return take(x); },
    [this](const fq::settle_deliveries& x) { return done([&] { ledger_->settle_deliveries(*x.rows); }); },
    [this](const fq::end_device& x) {
      return done([&] { ledger_->end_device(x.device, x.since, x.why, clock_->now()); });
    },
    [this](const fq::disable_endpoint& x) { return disable(x); },
    [this](const fq::list_deliveries& x) { return list(x); },
    [this](const fq::replay_delivery& x) {
      return found([&] { return ledger_->replay_delivery(x.tenant, x.target, x.notice, clock_->now()); });
    },
    [this](const fq::register_device& x) { return add(x); },
    [this](const fq::list_devices& x) { return list(x); },
    [this](const fq::remove_device& x) {
      return found([&] { return ledger_->remove_device(x.holder, x.device); });
    },
    [this](const fq::store_endpoint& x) { return store(x); },
    [this](const fq::list_endpoints& x) { return list(x); },
    [this](const fq::remove_endpoint& x) {
      return found([&] { return ledger_->remove_endpoint(x.tenant, x.endpoint); });
    },
    [this](const fq::store_picture& x) { return store(x); },
    [this](const fq::find_picture& x) { return find(x); },
    [this](const fq::read_log& x) { return find(x); },
    [this](const fq::find_witnessed& x) { return find(x); },
    [this](const fq::store_witnessed& x) { return store(x); },
  };
}

void ledger_worker_state::find_last(const find_last_aggregate& x) {
  last_aggregate_found found{x.epoch};
  found.unavailable = !reached([&] { found.last = ledger_->last_aggregate(); });
  answer(std::move(found));
}

void ledger_worker_state::on_timer(const timer_fired& t) {
  if (t.kind == timer_kind::flush) return flush();
  if (t.kind == timer_kind::sweep) return prune();
  if (t.kind == timer_kind::tasks) {
    self_->delayed_send(self_, tasks_interval, timer_fired{timer_kind::tasks, 0});
    return store_tasks();
  }
  if (t.kind != timer_kind::renew || settings_.lease.owner.empty()) return;
  self_->delayed_send(self_, std::min(settings_.lease.term / 3, lease_check_max),
                      timer_fired{timer_kind::renew, 0});
  renew();
}

/// Sends an ordinary message to the sender of the current message.
template <class Reply>
void ledger_worker_state::answer(Reply reply) {
  caf::anon_send(caf::actor_cast<caf::actor>(self_->current_sender()), std::move(reply));
}

void ledger_worker_state::on_commit(const commit_batch& x) {
  waiting_.push_back({x.content, caf::actor_cast<owner_handle>(self_->current_sender())});
  if (flush_is_due_) return;
  flush_is_due_ = true; // after the batches in the mailbox, which join this commit; before notices and reads
  self_->send<caf::message_priority::high>(self_, timer_fired{timer_kind::flush, 0});
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
    self_->send<caf::message_priority::high>(self_, timer_fired{timer_kind::flush, 0});
  }
  std::vector<batch> copies; // of several batches: the ledger takes them in a row
  if (group.size() > 1)
    for (const auto& w : group) copies.push_back(*w.content);
  const std::span<const batch> all =
    group.size() == 1 ? std::span{group.front().content.get(), 1} : std::span<const batch>{copies};
  std::vector<ledger_mark> before;
  for (const auto& b : all) before.push_back(seen_of(b.aggregate));
  std::vector<commit_outcome> outcomes;
  // After an unknown commit the owner submits again, and applied_seq shows whether it was applied.
  if (!reached([&] { outcomes = ledger_->commit(all); })) return fail(group);
  for (std::size_t i = 0; i < all.size(); ++i) compare(all[i], before[i], outcomes[i]);
  settle(group, outcomes);
}

/// What is known to be committed. Ask before the ledger is called: afterwards others may have gone further.
ledger_mark ledger_worker_state::seen_of(aggregate_id aggregate) const {
  return planted(bug::loss_unnoticed) ? ledger_mark{} : settings_.memory->of(aggregate);
}

/// A batch that begins below what was seen committed was stored in a ledger that had gone back. Its owner
/// loaded too little: it must load again, which stops the aggregate.
void ledger_worker_state::compare(const batch& b, const ledger_mark& before, commit_outcome& outcome) const {
  const ledger_mark begins{b.epoch, b.from_seq};
  if (outcome == commit_outcome::committed && begins.is_behind(before))
    outcome = commit_outcome::out_of_order;
  if (outcome == commit_outcome::committed || outcome == commit_outcome::already_applied)
    settings_.memory->saw({b.aggregate, b.epoch, b.from_seq, b.to_seq, holder_});
}

void ledger_worker_state::settle(const std::vector<waiting>& group,
                                 const std::vector<commit_outcome>& outcomes) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (const auto* refused = refusal_name(outcomes[i]))
      note("aggregate " + std::to_string(number_of(group[i].content->aggregate))
           + ": a batch was refused: " + refused);
    self_->send(group[i].owner,
                settled_as(*group[i].content, outcomes[i] == commit_outcome::busy, outcomes[i]));
  }
}

void ledger_worker_state::fail(const std::vector<waiting>& group) {
  for (const auto& w : group) self_->send(w.owner, settled_as(*w.content, true, commit_outcome::busy));
}

/// A few rows at a time: on SQLite commits wait for each round. Owners also drop their own records by age.
void ledger_worker_state::prune() {
  const auto now = clock_->now();
  std::size_t gone = 0;
  reached([&] {
    gone = ledger_->prune({now - idempotency_life, now - receipt_life, now - outbox_life, rows_per_prune,
                           now - delivery_life, now - device_life, now - settings_.entries_life,
                           settings_.contacts_life.count() > 0 ? now - settings_.contacts_life : never,
                           now - settings_.statistics_life, now - picture_life, now - settings_.logs_life,
                           [this](const std::string& address) {
                             if (settings_.mail_eraser)
                               self_->send(settings_.mail_eraser, erase_mail{address});
                           }});
  });
  self_->delayed_send(self_, gone < rows_per_prune ? settings_.prune_interval : prune_pause,
                      timer_fired{timer_kind::sweep, 0});
}

/// Those of an unknown commit count as stored: one may be missing, none is there twice.
void ledger_worker_state::store_tasks() {
  auto& history = *settings_.tasks;
  const auto finished = history.to_store();
  reached([&] {
    try {
      history.stored(ledger_->keep_tasks(finished, history.last_id()));
    } catch (const commit_unknown&) {
      history.stored({});
      throw;
    }
  });
}

void ledger_worker_state::acquire(const acquire_aggregate& x) {
  aggregate_acquired reply{acquire_outcome::unavailable, nullptr, nullptr, {}, milliseconds{0}, x.load, {}};
  const auto looked = env_->steady_now();
  const auto lease_end = looked + settings_.lease.term; // earliest possible
  reached([&] {
    const auto seen = seen_of(x.aggregate);
    const auto terms = planted(bug::lease_ignored) ? lease_terms{} : lease();
    holder_ = std::hash<std::string>{}(terms.owner + '/' + std::to_string(terms.incarnation));
    auto result = ledger_->acquire(x.aggregate, terms, {}, seen);
    reply.read_at = env_->steady_now();
    const auto* lost = std::get_if<ledger_lost>(&result);
    lost ? on_lost(x.aggregate, *lost) : settings_.memory->resume(x.aggregate);
    if (lost) reply.outcome = acquire_outcome::lost;
    if (auto* got = std::get_if<acquired>(&result)) {
      settings_.memory->saw({x.aggregate, got->epoch, got->applied_seq, got->applied_seq, holder_});
      if (!settings_.loader) got->image = ledger_->load(x.aggregate, since_of(x, *got));
      reply.outcome = acquire_outcome::acquired;
      if (!settings_.lease.owner.empty()) {
        auto horizon = std::make_shared<lease_horizon>(lease_end, looked, settings_.doubt);
        reply.lease = horizon;
        leased_[x.aggregate] = {caf::actor_cast<owner_handle>(self_->current_sender()), got->epoch,
                                std::move(horizon)};
      }
      reply.content = std::make_shared<const acquired>(std::move(*got));
    } else if (const auto* held = std::get_if<lease_held>(&result)) {
      reply.outcome = acquire_outcome::not_owner;
      reply.lease_owner = held->owner;
      reply.lease_left = held->left;
    } else if (std::holds_alternative<no_such_aggregate>(result)) {
      reply.outcome = acquire_outcome::absent;
    }
  });
  if (is_superseded()) {
    reply.outcome = acquire_outcome::not_owner;
    reply.lease_owner = settings_.lease.owner; // the later process
  }
  if (settings_.loader && reply.outcome == acquire_outcome::acquired)
    return self_->send(settings_.loader, load_acquired{x, std::move(reply), self_->current_sender()});
  answer(std::move(reply));
}

void ledger_worker_state::on_lost(aggregate_id aggregate, const ledger_lost& lost) const {
  if (!settings_.memory->stop(aggregate) || !settings_.alarm) return;
  const auto text = [](const ledger_mark& m) {
    return "epoch " + std::to_string(m.epoch) + ", decision " + std::to_string(m.seq);
  };
  settings_.alarm("aggregate " + std::to_string(number_of(aggregate))
                  + " is stopped: the ledger has lost "
                    "commits of it (it has "
                  + text(lost.stored) + "; seen was " + text(lost.seen)
                  + "); see `fairqueue admin accept-loss`");
}

losses_accepted ledger_worker_state::accept(const accept_losses& x) {
  losses_accepted reply;
  reply.unavailable = !reached([&] {
    for (auto& lost : ledger_->losses()) {
      if (number_of(x.aggregate) != 0 && x.aggregate != lost.aggregate) continue;
      const auto number = std::to_string(number_of(lost.aggregate)), count = std::to_string(lost.decisions());
      const auto row = accepted_row(lost, R"({"decisions_lost":)" + count + "}", *env_, clock_->now());
      if (!ledger_->accept_loss(lost.aggregate, row)) continue; // another node did
      note("aggregate " + number + " goes on: the loss of " + count + " decisions was accepted");
      settings_.memory->resume(lost.aggregate);
      reply.losses.push_back(lost);
    }
  });
  return reply;
}

void ledger_worker_state::load(load_acquired x) {
  const bool loaded = reached([&] {
    auto all = *x.reply.content;
    all.image = ledger_->load(x.what.aggregate, since_of(x.what, all));
    x.reply.content = std::make_shared<const acquired>(std::move(all));
  });
  if (!loaded) x.reply = {acquire_outcome::unavailable, nullptr, nullptr, {}, milliseconds{0}, x.what.load};
  caf::anon_send(caf::actor_cast<caf::actor>(x.owner), std::move(x.reply));
}

entry_read ledger_worker_state::read(const fq::read_entry& x) {
  entry_read found;
  found.was_read = reached([&] {
    if (auto row = ledger_->read_entry(x.aggregate, x.number))
      found.row = std::make_shared<const entry_row>(std::move(*row));
  });
  return found;
}

void ledger_worker_state::find_unowned(const find_aggregates_to_wake& x) {
  const auto& owner = settings_.lease.owner;
  aggregates_to_wake found;
  found.to_settle.next = x.settle_after;
  if (!is_superseded()) { // else it may start none
    found.unavailable = !reached([&] { found.aggregates = ledger_->aggregates_to_wake(owner); });
    if (!found.unavailable && x.settle_after != aggregate_id{})
      reached([&] { found.to_settle = ledger_->find_events_to_settle(owner, x.settle_after); });
  }
  answer(std::move(found));
}

/// The owner releases after its last batch is answered.
void ledger_worker_state::release(const release_aggregate& x) {
  const auto mine = leased_.find(x.aggregate);
  if (mine == leased_.end()) return;
  // Invalidated before another node can acquire it.
  if (!planted(bug::answers_after_handover)) mine->second.horizon->end();
  const tenure ended{x.aggregate, mine->second.epoch};
  leased_.erase(mine);
  reached([&] { ledger_->release(settings_.lease.owner, {&ended, 1}); }); // on failure the lease expires
}

void ledger_worker_state::renew() {
  if (settings_.process->number() == 0) reached([&] { static_cast<void>(lease()); }); // earlier ones end
  if (leased_.empty()) return;
  lease_renewal renewal;
  const auto looked = env_->steady_now();
  const auto lease_end = looked + lease_kept(settings_.lease.term); // earliest possible
  if (!reached([&] { renewal = ledger_->renew(settings_.lease, tenures()); })
      && !planted(bug::renewal_taken_for_granted))
    return;
  for (const auto aggregate : renewal.lost) {
    self_->send(leased_.at(aggregate).owner, lease_lost{aggregate});
    leased_.erase(aggregate);
  }
  for (const auto& [aggregate, lease] : leased_)
    if (std::ranges::find(renewal.busy, aggregate) == renewal.busy.end())
      lease.horizon->set(lease_end, looked);
}

void ledger_worker_state::take_outbox(const fq::take_outbox& x) {
  static constexpr auto all_partitions = [] {
    std::array<std::uint32_t, outbox_partitions> all{};
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }();
  std::vector<outbox_item> items;
  const bool read = reached([&] {
    const auto mine = ledger_->lease_outbox(lease(), all_partitions);
    if (!mine.empty()) items = ledger_->undelivered(x.which, mine, x.limit, x.after);
    if (planted(bug::marked_before_consumed))
      for (const auto& i : items) ledger_->mark_delivered(x.which, {&i.key, 1}, clock_->now());
  });
  answer(outbox_taken{!read, std::make_shared<const std::vector<outbox_item>>(std::move(items))});
}

void ledger_worker_state::mark_outbox(const fq::mark_outbox& x) {
  answer(outbox_marked{!reached([&] { ledger_->mark_delivered(x.which, *x.keys, clock_->now()); })});
}

void ledger_worker_state::peek(const peek_aggregate& x) {
  aggregate_peeked reply{x.reading, nullptr, {}};
  reached([&] {
    auto rows = ledger_->peek(x.aggregate);
    reply.of_log = contradictions_of_log(*ledger_, x.aggregate, rows);
    reply.found = std::make_shared<const aggregate_snapshot>(std::move(rows));
  });
  answer(std::move(reply));
}

void ledger_worker_state::read_directory() {
  directory_read reply;
  reached([&] { reply.content = std::make_shared<const access_directory>(ledger_->directory()); });
  answer(std::move(reply));
}

void ledger_worker_state::read_blocks() {
  blocks_read reply;
  reached([&] { reply.content = std::make_shared<const std::vector<block_row>>(ledger_->blocks()); });
  answer(std::move(reply));
}

void ledger_worker_state::beat(const beat_node& x) {
  beats_for_ = x.self.id;
  nodes_seen reply;
  reply.is_unavailable = !reached([&] {
    auto row = x.self;
    row.incarnation = lease().incarnation;
    reply.nodes = ledger_->beat(row, x.alive_for);
  });
  reply.incarnation = settings_.process->number();
  reply.is_superseded = is_superseded();
  reply.begun = x.begun;
  answer(std::move(reply));
}

leases_ended ledger_worker_state::end(const end_leases_of& x) {
  leases_ended reply;
  reached([&] { reply.leases = ledger_->end_leases(x.last, x.is_silent, settings_.lease.term); });
  return reply;
}

} // namespace fq
