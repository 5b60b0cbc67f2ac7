// SPDX-License-Identifier: Apache-2.0
// What every owner has: clock, journal, lease, loading, held replies (owner_core, a base of the event actor);
// and what accounts and catalog have besides: forwarding to the owning node (global_owner).
#pragma once
#include "actors/base/aggregate_clock.hpp"
#include "actors/base/errors.hpp"
#include "actors/protocol/cluster_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/storage/journal.hpp"
#include "actors/storage/ledger_workers.hpp"
#include "actors/storage/limits.hpp"
#include "domain/base/planted.hpp"
#include "domain/sale/idempotency.hpp"

#include <caf/make_message.hpp>
#include <caf/result.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace fq {

/// `Self`: pointer to the typed actor.
template <class Self>
class owner_core {
protected:
  owner_core() = default;
  ~owner_core() {
    if (journal_) journal_->fail();
  }

  /// `ledgers` outlives the owner. `begun`: see journal::port.
  void init(Self self, aggregate_id aggregate, environment& env, const ledger_workers& ledgers,
            std::function<void(batch&)> begun = {}, const owner_bounds& bounds = {}) {
    self_ = self;
    aggregate_ = aggregate;
    env_ = &env;
    ledgers_ = &ledgers;
    clock_.emplace(env);
    journal_ = std::make_unique<journal>(journal::port{
      [this](batch_ptr b) {
        self_->template send<caf::message_priority::high>(ledgers_->of(aggregate_),
                                                          commit_batch{std::move(b)});
      },
      [this](milliseconds span, std::uint64_t number) { set_timer(timer_kind::journal, span, number); },
      [this] { return env_->steady_now(); }, std::move(begun), bounds.held});
  }
  void set_timer(timer_kind kind, milliseconds delay, std::uint64_t generation) {
    self_->delayed_send(self_, delay, timer_fired{kind, generation});
  }

  /// Fails held replies and drops what is not committed.
  void stop_serving() {
    serving_ = false;
    journal_->fail();
  }
  /// Asks the ledger for the aggregate. `may_load` false: tries again later, without a ledger call.
  void load(bool may_load) {
    stop_serving();
    ++loads_;
    if (!may_load) return load_later(serve_retry);
    self_->send(ledgers_->of(aggregate_),
                acquire_aggregate{aggregate_, idempotency_life, memory_retention_, loads_});
  }
  void load_later(milliseconds delay) { set_timer(timer_kind::retry_load, delay, loads_); }
  [[nodiscard]] bool is_load_due(const timer_fired& t) const { return !serving_ && t.generation == loads_; }
  /// Whether it answers the latest load. An earlier one has an epoch and a lease that the later one ended.
  [[nodiscard]] bool is_awaited(const aggregate_acquired& answer) const {
    return !serving_ && answer.load == loads_;
  }
  /// Begins a tenure with an acquired image.
  void start(const aggregate_acquired& answer) {
    lease_ = answer.lease;
    const auto ledger_now = answer.content->now + (env_->steady_now() - answer.read_at);
    clock_->start(ledger_now, answer.content->committed_at, answer.content->clock_lag);
    journal_->start(aggregate_, *answer.content);
  }

  [[nodiscard]] timestamp now() const { return clock_->now(); }
  /// Serving, with room in the journal.
  [[nodiscard]] bool accepts() const { return serving_ && !journal_->is_full(); }
  /// Past the lease's end another node may own the aggregate, and memory may be stale.
  [[nodiscard]] bool has_no_lease() const {
    return lease_ && lease_->has_passed(env_->steady_now()) && !planted(bug::serves_after_lease);
  }
  /// Delivers `reply` once everything up to `seq` is committed.
  template <class Reply>
  caf::result<Reply> hold(std::uint64_t seq, caf::response_promise promise, Reply reply) {
    journal_->hold(seq, std::move(promise), caf::make_message(std::move(reply)));
    return caf::delegated<Reply>{};
  }

  Self self_ = nullptr;
  aggregate_id aggregate_{};
  environment* env_ = nullptr;
  const ledger_workers* ledgers_ = nullptr;
  std::optional<aggregate_clock> clock_;
  std::unique_ptr<journal> journal_;
  std::shared_ptr<const lease_horizon> lease_; ///< null: owned without a lease
  bool serving_ = false;
  milliseconds memory_retention_{0}; ///< of ended entries of a standalone queue

private:
  std::uint64_t loads_ = 0; ///< number of the latest load; generation of the retry timer
};

template <class Result>
struct reply_in;
template <class Reply>
struct reply_in<caf::result<Reply>> {
  using type = Reply;
};

template <class Self>
class global_owner : owner_core<Self> {
  using core = owner_core<Self>;
  using core::aggregate_, core::clock_, core::env_, core::journal_, core::lease_, core::self_, core::serving_;

public:
  using core::now;

  /// `has_cluster`: load only after cluster_changed says that this node serves.
  void init(Self self, aggregate_id aggregate, environment& env, ledger_workers ledgers, bool has_cluster) {
    may_load_ = !has_cluster;
    all_ledgers_ = std::move(ledgers);
    core::init(self, aggregate, env, all_ledgers_);
    load();
  }
  /// The image to load; null if not acquired (a retry is scheduled).
  const acquired* on_acquired(const aggregate_acquired& answer) {
    if (!core::is_awaited(answer)) return nullptr;
    elsewhere_ = answer.outcome == acquire_outcome::not_owner;
    is_lost_ = answer.outcome == acquire_outcome::lost;
    lease_owner_ = answer.lease_owner;
    if (answer.outcome != acquire_outcome::acquired) {
      load_later(is_lost_ ? lost_retry : may_load_ ? owner_load_retry : serve_retry);
      return nullptr;
    }
    is_acquired_ = true;
    core::start(answer);
    clock_->catch_up(); // nothing here has a deadline that an outage extends
    return answer.content.get();
  }
  /// Starts serving, unless the aggregate was lost during loading and is loaded again.
  void serve() {
    serving_ = is_acquired_;
    has_failed_ = false;
    answer_held();
  }
  /// The load failed. Until the next one succeeds, requests are refused at once.
  void load_later(milliseconds delay) {
    has_failed_ = true;
    answer_held();
    core::load_later(delay);
  }
  void on_settled(const batch_settled& answer) {
    if (!journal_->settled(answer)) return load();
    leave_if_due();
  }
  /// Another node owns it: fails held replies, then retries until that lease ends.
  void on_lease_lost() { load(); }
  void on_timer(const timer_fired& t) {
    if (t.kind == timer_kind::journal) return journal_->timer_fired(t.generation);
    if (t.kind == timer_kind::retry_load && core::is_load_due(t)) load();
  }

  [[nodiscard]] bool refuses() const { return leaves_ || !core::accepts() || core::has_no_lease(); }
  /// `peer_of`: the member of node_peer with this actor's counterpart.
  void on_cluster(const cluster_changed& x, caf::strong_actor_ptr node_peer::*peer_of) {
    peers_.clear();
    for (const auto& p : x.peers) peers_.emplace(p.node, p.*peer_of);
    leaves_ = x.leaves_to_successors;
    may_load_ = x.serves && !leaves_;
    if (may_load_ && !serving_ && !has_failed_) is_loading_ = true; // within serve_retry
    if (!may_load_) answer_held();
    leave_if_due();
  }
  /// `serve()`, after the load if there is one, or the answer of the owning node. A request from another node
  /// is not delegated again: it could loop.
  template <class Message, class Serve>
  auto here_or_there(const Message& x, Serve serve) -> decltype(serve()) {
    if (is_loading_ && held_.size() < held_while_loading_max) {
      held_.push_back([this, x, promise = self_->make_response_promise()]() mutable {
        promise.delegate(caf::actor_cast<caf::actor>(self_->ctrl()), std::move(x));
      });
      return caf::delegated<typename reply_in<decltype(serve())>::type>{};
    }
    const auto there = elsewhere_ ? peers_.find(lease_owner_) : peers_.end();
    const auto& asker = self_->current_sender();
    if (there == peers_.end() || !asker || asker->node() != self_->node()) return serve();
    self_->delegate(caf::actor_cast<caf::actor>(there->second), x);
    return caf::delegated<typename reply_in<decltype(serve())>::type>{};
  }
  /// The reason of refuses(), as an answer.
  [[nodiscard]] caf::error refusal() const {
    return make_error(elsewhere_ ? errc::not_owner : is_lost_ ? errc::ledger_lost : errc::unavailable);
  }
  [[nodiscard]] environment& env() const { return *env_; }
  /// For reads that need no owner.
  [[nodiscard]] const ledger_worker_handle& reader() const { return all_ledgers_.reader(); }
  [[nodiscard]] uuid make_id() const { return env_->make_id(now(), aggregate_); }

  template <class Reply>
  caf::result<Reply> commit(changes content, Reply reply) {
    return hold(self_->make_response_promise(), std::move(content), std::move(reply));
  }
  /// As commit(), for an existing promise.
  template <class Reply>
  caf::result<Reply> hold(caf::response_promise promise, changes content, Reply reply) {
    const auto seq = journal_->append(std::move(content), now(), true);
    return core::hold(std::max(seq, journal_->reveal_barrier()), std::move(promise), std::move(reply));
  }
  void note(changes content) { journal_->append(std::move(content), now(), true); }

private:
  void load() {
    is_acquired_ = false;
    is_loading_ = may_load_ && !has_failed_;
    core::load(may_load_);
  }
  void answer_held() {
    is_loading_ = false;
    for (auto& answer : std::exchange(held_, {})) answer();
  }
  /// Releases the aggregate once all decisions are committed, so that a successor can acquire it.
  void leave_if_due() {
    if (!leaves_ || !serving_ || !journal_->is_idle()) return;
    serving_ = is_acquired_ = false;
    elsewhere_ = true;
    self_->send(all_ledgers_.of(aggregate_), release_aggregate{aggregate_});
    load_later(serve_retry);
  }

  ledger_workers all_ledgers_;
  bool may_load_ = true;
  bool leaves_ = false; ///< nodes of another kind take over
  bool is_acquired_ = false;
  bool is_loading_ = false; ///< requests wait for the end of the load
  bool has_failed_ = false; ///< the last load
  std::vector<std::function<void()>> held_; ///< these requests
  bool elsewhere_ = false; ///< another node holds the lease; retrying
  bool is_lost_ = false; ///< the ledger lost commits of it; retrying
  std::string lease_owner_; ///< that node
  std::map<std::string, caf::strong_actor_ptr> peers_; ///< this actor's counterparts on other nodes
};

} // namespace fq
