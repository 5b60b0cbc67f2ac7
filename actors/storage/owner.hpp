// SPDX-License-Identifier: Apache-2.0
// Common part of the global owners (accounts, catalog): clock, journal, loading, held replies.
#pragma once
#include "actors/base/aggregate_clock.hpp"
#include "actors/base/errors.hpp"
#include "actors/protocol/cluster_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/storage/journal.hpp"
#include "actors/storage/ledger_workers.hpp"
#include "domain/sale/idempotency.hpp"

#include <caf/make_message.hpp>
#include <caf/result.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace fq {

inline constexpr milliseconds owner_load_retry{200};
/// Retry interval of loading while this node does not serve. No ledger call is made; short, so that the owner
/// is there soon after the node starts to serve.
inline constexpr milliseconds serve_retry{20};

template <class Result>
struct reply_in;
template <class Reply>
struct reply_in<caf::result<Reply>> {
  using type = Reply;
};

/// `Self`: pointer to the typed actor.
template <class Self>
class owner_core {
public:
  /// `has_cluster`: load only after cluster_changed says that this node serves.
  void init(Self self, aggregate_id aggregate, environment& env, ledger_workers ledgers, bool has_cluster) {
    may_load_ = !has_cluster;
    self_ = self;
    aggregate_ = aggregate;
    env_ = &env;
    ledgers_ = std::move(ledgers);
    clock_.emplace(env);
    journal_ = std::make_unique<journal>(
      journal::port{[this](batch_ptr b) {
                      self_->template send<caf::message_priority::high>(ledgers_.of(aggregate_),
                                                                        commit_batch{std::move(b)});
                    },
                    [this](milliseconds delay, std::uint64_t generation) {
                      self_->delayed_send(self_, delay, timer_fired{timer_kind::journal, generation});
                    }});
    load();
  }
  ~owner_core() {
    if (journal_) journal_->fail();
  }

  void load() {
    serving_ = is_acquired_ = false;
    journal_->fail();
    if (!may_load_) return load_later();
    self_->send(ledgers_.of(aggregate_), acquire_aggregate{aggregate_, env_->wall_now() - idempotency_life});
  }
  /// The image to load; null if not acquired (a retry is scheduled).
  const acquired* on_acquired(const aggregate_acquired& answer) {
    if (serving_) return nullptr;
    elsewhere_ = answer.outcome == acquire_outcome::not_owner;
    lease_owner_ = answer.lease_owner;
    if (answer.outcome != acquire_outcome::acquired) {
      load_later();
      return nullptr;
    }
    is_acquired_ = true;
    lease_ = answer.lease;
    clock_->start(answer.content->now, answer.content->committed_at);
    journal_->start(aggregate_, *answer.content);
    return answer.content.get();
  }
  /// Starts serving, unless the aggregate was lost during loading and is loaded again.
  void serve() { serving_ = is_acquired_; }
  void on_settled(const batch_settled& answer) {
    if (!journal_->settled(answer)) return load();
    leave_if_due();
  }
  /// Another node owns it: fails held replies, then retries until that lease ends.
  void on_lease_lost() { load(); }
  void on_timer(const timer_fired& t) {
    if (t.kind == timer_kind::journal) return journal_->timer_fired(t.generation);
    if (t.kind == timer_kind::retry_load && !serving_) load();
  }

  /// Also true past the lease's end: another node may own the aggregate and memory may be stale.
  [[nodiscard]] bool refuses() const {
    return !serving_ || leaves_ || journal_->is_full() || (lease_ && lease_->has_passed(env_->steady_now()));
  }
  /// `peer_of`: the member of node_peer with this actor's counterpart.
  void on_cluster(const cluster_changed& x, caf::strong_actor_ptr node_peer::*peer_of) {
    peers_.clear();
    for (const auto& p : x.peers) peers_.emplace(p.node, p.*peer_of);
    leaves_ = x.leaves_to_successors;
    may_load_ = x.serves && !leaves_;
    leave_if_due();
  }
  /// `serve()`, or the answer of the owning node. A request from another node is not delegated again: it
  /// could loop.
  template <class Message, class Serve>
  auto here_or_there(const Message& x, Serve serve) -> decltype(serve()) {
    const auto there = elsewhere_ ? peers_.find(lease_owner_) : peers_.end();
    const auto& asker = self_->current_sender();
    if (there == peers_.end() || !asker || asker->node() != self_->node()) return serve();
    self_->delegate(caf::actor_cast<caf::actor>(there->second), x);
    return caf::delegated<typename reply_in<decltype(serve())>::type>{};
  }
  /// The reason of refuses(), as an answer.
  [[nodiscard]] caf::error refusal() const {
    return make_error(elsewhere_ ? errc::not_owner : errc::unavailable);
  }
  [[nodiscard]] timestamp now() const { return clock_->now(); }
  [[nodiscard]] environment& env() const { return *env_; }
  [[nodiscard]] aggregate_id aggregate() const { return aggregate_; }
  /// For reads that need no owner.
  [[nodiscard]] const ledger_worker_handle& reader() const { return ledgers_.reader(); }
  [[nodiscard]] uuid make_id() const { return env_->make_id(now(), aggregate_); }

  template <class Reply>
  caf::result<Reply> commit(changes content, Reply reply) {
    return hold(self_->make_response_promise(), std::move(content), std::move(reply));
  }
  /// As commit(), for an existing promise.
  template <class Reply>
  caf::result<Reply> hold(caf::response_promise promise, changes content, Reply reply) {
    const auto seq = journal_->append(std::move(content), now(), true);
    journal_->hold(std::max(seq, journal_->reveal_barrier()), std::move(promise),
                   caf::make_message(std::move(reply)));
    return caf::delegated<Reply>{};
  }
  void note(changes content) { journal_->append(std::move(content), now(), true); }

private:
  void load_later() {
    self_->delayed_send(self_, may_load_ ? owner_load_retry : serve_retry,
                        timer_fired{timer_kind::retry_load, 0});
  }
  /// Releases the aggregate once all decisions are committed, so that a successor can acquire it.
  void leave_if_due() {
    if (!leaves_ || !serving_ || !journal_->is_idle()) return;
    serving_ = is_acquired_ = false;
    elsewhere_ = true;
    self_->send(ledgers_.of(aggregate_), release_aggregate{aggregate_});
    load_later();
  }

  Self self_ = nullptr;
  aggregate_id aggregate_{};
  environment* env_ = nullptr;
  ledger_workers ledgers_;
  std::optional<aggregate_clock> clock_;
  std::unique_ptr<journal> journal_;
  std::shared_ptr<const lease_horizon> lease_; ///< null: owned without a lease
  bool may_load_ = true;
  bool leaves_ = false; ///< nodes of another kind take over
  bool serving_ = false;
  bool is_acquired_ = false;
  bool elsewhere_ = false; ///< another node holds the lease; retrying
  std::string lease_owner_; ///< that node
  std::map<std::string, caf::strong_actor_ptr> peers_; ///< this actor's counterparts on other nodes
};

} // namespace fq
