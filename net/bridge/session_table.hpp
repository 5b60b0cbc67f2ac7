// SPDX-License-Identifier: Apache-2.0
// The sessions in force, from which this io thread answers `GET /access` without a call. It subscribes to
// every event and queue that was requested; their owners push each change after its commit. Everything runs
// on the io thread.
#pragma once
#include "net/bridge/actor_bridge.hpp"

#include <list>
#include <memory>
#include <string>
#include <unordered_map>

namespace fq::net {

/// A session in force.
struct session_record {
  uuid queue; ///< id of the queue or event
  tenant_id tenant = default_tenant;
  std::uint32_t admission_no = 0;
  std::string subject;
  timestamp expires_at;
  milliseconds ends{0}; ///< `expires_at` as steady time; set by session_table::find

  /// A grant as it was sent last, with the token that it was for.
  struct granted {
    std::string token;
    std::uint32_t renewals = 0; ///< of the keys when the token was checked
    bool is_for_nginx = false;
    std::int64_t seconds_to_keep = 0;
    std::shared_ptr<const std::string> lines; ///< see response
    std::string body;
  };
  std::unique_ptr<granted> last = {};
};

class session_table final : public session_receiver {
public:
  explicit session_table(context& ctx) : ctx_(ctx), swept_at_(ctx.environment.steady_now()) {}
  ~session_table() { stop(); }
  session_table(const session_table&) = delete;
  session_table& operator=(const session_table&) = delete;

  /// Whether the sessions of this aggregate are known `now`, on the steady clock. It then counts as used.
  [[nodiscard]] bool knows(aggregate_id aggregate, milliseconds now);
  /// Whether the owner is on another node: the sessions here may be older.
  [[nodiscard]] bool is_remote(aggregate_id aggregate) const;
  /// Null: the session is not in force `now`. Only valid if the aggregate is known.
  [[nodiscard]] session_record* find(const entry_id& ticket, milliseconds now);
  /// Subscribes to the owner's sessions and waits for them. Returns an error of actors/base/errors.hpp if
  /// there is no owner or it does not answer.
  awaitable<caf::error> learn(aggregate_id aggregate);

  /// Records that another node owns it: for 30 s the cache is read first, without a lookup of the owner in
  /// the ledger.
  void note_elsewhere(aggregate_id aggregate);
  [[nodiscard]] bool is_elsewhere(aggregate_id aggregate) const;
  /// Call it when the cache has no answer for the aggregate any more.
  void forget_elsewhere(aggregate_id aggregate) { elsewhere_.erase(number_of(aggregate)); }

  /// Ends waits past their timeout and removes unused aggregates. Call it about every 250 ms: after
  /// `still_max` without a call nothing is known.
  void sweep(milliseconds now);
  void stop();

private:
  /// A coroutine that waits for the sessions of an aggregate.
  struct waiter {
    std::coroutine_handle<> handle;
    milliseconds give_up{0};
    bool arrived = false;
  };
  struct room {
    bool is_known = false;
    bool is_asked = false;
    bool is_remote = false;
    lease_of_copy lease;
    timestamp clock; ///< the owner's, at `clock_at`
    milliseconds clock_at{0}; ///< steady time
    bool is_paused = false; ///< the owner's clock stands still, because its ledger is unavailable
    std::unordered_map<entry_id, session_record> sessions;
    std::list<waiter*> waiting;
    milliseconds used{0};
  };
  /// Suspends until the sessions arrive or the timeout passes.
  class arrival {
  public:
    arrival(session_table& table, aggregate_id aggregate) : table_(table), aggregate_(aggregate) {}
    ~arrival();
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle);
    bool await_resume() const noexcept { return mine_.arrived; }

  private:
    session_table& table_;
    aggregate_id aggregate_;
    waiter mine_;
    bool is_listed_ = false;
  };

  void on_sessions_changed(const sessions_changed& push) override;
  void on_owner_gone(aggregate_id aggregate) override;
  waiter* take_late(milliseconds now);
  void wake(room& r, bool arrived);
  bool ask(aggregate_id aggregate); ///< for all sessions, from now
  void forget(aggregate_id aggregate);
  void notice_pause(milliseconds now);

  context& ctx_;
  milliseconds swept_at_; ///< steady time
  milliseconds awake_since_{0}; ///< steady time; what was asked before is outdated
  bool stopped_ = false;
  std::unordered_map<std::uint32_t, room> rooms_; ///< by aggregate number
  std::unordered_map<std::uint32_t, milliseconds> elsewhere_; ///< deadline by aggregate number
  unsigned ticks_ = 0;
};

} // namespace fq::net
