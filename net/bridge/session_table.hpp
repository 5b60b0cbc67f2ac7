// SPDX-License-Identifier: Apache-2.0
// The sessions that are in force, as this io thread answers `GET /access` from them without asking anybody:
// of every event and queue that was asked about, followed by what its owner tells after each commit.
// Everything runs on the io thread.
#pragma once
#include "net/bridge/actor_bridge.hpp"

#include <list>
#include <string>
#include <unordered_map>

namespace fq::net {

/// A session in force.
struct session_record {
  uuid queue; ///< or event
  tenant_id tenant = default_tenant;
  std::uint32_t admission_no = 0;
  std::string subject;
  timestamp expires_at;
  milliseconds ends{0}; ///< the same as steady time
};

class session_table final : public session_receiver {
public:
  explicit session_table(context& ctx) : ctx_(ctx) {}
  ~session_table() { stop(); }
  session_table(const session_table&) = delete;
  session_table& operator=(const session_table&) = delete;

  /// Whether the sessions of this aggregate are known now.
  [[nodiscard]] bool knows(aggregate_id aggregate);
  /// Its owner is another node: what is known may be older.
  [[nodiscard]] bool is_remote(aggregate_id aggregate) const;
  /// Null: no such session is in force, if the aggregate is known.
  [[nodiscard]] const session_record* find(const entry_id& ticket) const;
  /// Asks the owner for its sessions and waits for them. An error of actors/base/errors.hpp if there is no
  /// owner to ask or it does not answer.
  awaitable<caf::error> learn(aggregate_id aggregate);

  /// Another node has it: for a while the cache is asked first, and its owner not looked for in the ledger.
  void note_elsewhere(aggregate_id aggregate);
  [[nodiscard]] bool is_elsewhere(aggregate_id aggregate) const;
  /// The cache knows nothing of it any more.
  void forget_elsewhere(aggregate_id aggregate) { elsewhere_.erase(number_of(aggregate)); }

  /// Gives up waiting in vain, and forgets aggregates nobody asks about. About every 250 ms.
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
    std::shared_ptr<const lease_horizon> lease;
    std::unordered_map<entry_id, session_record> sessions;
    std::list<waiter*> waiting;
    milliseconds used{0};
  };
  /// Suspends until the sessions have arrived, or it is given up.
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
  void forget(aggregate_id aggregate);

  context& ctx_;
  bool stopped_ = false;
  std::unordered_map<std::uint32_t, room> rooms_; ///< by aggregate number
  std::unordered_map<std::uint32_t, milliseconds> elsewhere_; ///< until when; by aggregate number
  unsigned ticks_ = 0;
};

} // namespace fq::net
