// SPDX-License-Identifier: Apache-2.0
// Resolves aggregates to owners on this node: starts a supervised owner on first use, removes it when it
// stops, and wakes aggregates that must run without requests. Forwards to other nodes for the aggregates that
// they own; unowned aggregates start on the node that placement selects.
#pragma once
#include "actors/base/errors.hpp"
#include "actors/base/supervisor.hpp"
#include "actors/cluster/limits.hpp"
#include "actors/protocol/cluster_messages.hpp"
#include "actors/protocol/directory_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/protocol/region_messages.hpp"
#include "actors/sale/event_actor.hpp"

#include <caf/typed_response_promise.hpp>

#include <map>
#include <string>
#include <vector>

namespace fq {

class region_state {
public:
  static inline const char* name = "region";
  using pointer = region_handle::stateful_pointer<region_state>;

  void init(pointer self, const owner_services& services, restart_budget budget);
  region_handle::behavior_type behavior();
  /// For tests and simulations.
  [[nodiscard]] supervisor_handle find(aggregate_id aggregate) const;
  /// For simulations: the supervisors of moved events.
  [[nodiscard]] const std::map<caf::actor_addr, supervisor_handle>& leaving() const { return leaving_; }
  /// For simulations: how many requests for this aggregate wait.
  [[nodiscard]] owner_bounds peek_used(aggregate_id aggregate) const;

private:
  using promise = caf::typed_response_promise<event_handle>;
  caf::result<event_handle> on_resolve(const resolve_event& x);
  /// A pending resolve request; answered once.
  struct pending_resolve {
    aggregate_id aggregate{};
    bool is_forwarded = false; ///< by another node: must not be forwarded again
    promise answer;
    milliseconds give_up{0}; ///< steady time
    caf::actor_addr returned_by; ///< must not be the answer; null: any owner
    void refuse(errc why) { answer.deliver(make_error(why)); }
  };
  void answer(pending_resolve q);
  void answer_here(pending_resolve q);
  void forward(pending_resolve q, const std::string& node, int hops);
  void on_forward_failed(pending_resolve q, const std::string& node, int hops, const caf::error& why);
  void served(aggregate_id aggregate, const event_handle& owner);
  void not_served(aggregate_id aggregate, const supervisor_handle& owner, const caf::error& why);
  std::vector<pending_resolve> take_loading(aggregate_id aggregate);
  void expire_loading();
  void forward_to_others(pending_resolve q);
  void forward_in_turn(pending_resolve q, std::vector<std::string> nodes);
  caf::result<ack_reply> on_move_event(const move_event& x);
  void forward_move(caf::typed_response_promise<ack_reply> asked, const move_event& x,
                    std::vector<std::string> nodes);
  void move_serving(caf::typed_response_promise<ack_reply> asked, const move_event& x);
  void move_owned(caf::typed_response_promise<ack_reply> asked, const move_event& x);
  struct pending_move {
    std::string to;
    caf::actor_addr owner; ///< the one that hands over; null: not asked yet
    milliseconds give_up{0}; ///< steady time; covers a dead owner and a successor that was not notified
    std::vector<pending_resolve> asked; ///< requests during the move
    /// Operators' requests, answered after the move.
    std::vector<caf::typed_response_promise<ack_reply>> told;
  };
  void on_handed_over(const handed_over& x);
  void end_move(const handed_over& x);
  void cancel_move(aggregate_id aggregate, pending_move& moved, const caf::error& why);
  void finish_move(aggregate_id aggregate, pending_move& moved);
  void notify_successor(aggregate_id aggregate, pending_move& moved);
  void hand_over_all();
  void expire_moves();
  [[nodiscard]] bool may_begin() const;
  [[nodiscard]] bool is_draining() const;
  void leave_all();
  void move(aggregate_id aggregate, const std::string& to, bool is_forced);
  void retry_later(pending_resolve q);
  void retry_once(pending_resolve q);
  void retry_waiting();
  void schedule_retry();
  void cache_owner(aggregate_id aggregate, const std::string& owner, bool was_ours);
  void on_supervisor_gone(pending_resolve q, const supervisor_handle& gone);
  void on_down(const caf::down_msg& down);
  void on_wake(const aggregates_to_wake& found);
  void on_blocks_changed(const blocks_changed& x);
  supervisor_handle start(aggregate_id aggregate);
  void scan_unowned();
  void schedule_scan();
  void on_cluster(const cluster_changed& x);
  [[nodiscard]] region_handle at(const std::string& node) const;
  [[nodiscard]] std::string node_of(const caf::actor_addr& owner) const;
  /// The node where it should start; empty: this one.
  [[nodiscard]] std::string placed_elsewhere(aggregate_id aggregate) const;
  [[nodiscard]] owned_aggregates owned() const;

  pointer self_ = nullptr;
  const owner_services* services_ = nullptr;
  restart_budget budget_;
  std::map<aggregate_id, supervisor_handle> owners_;
  std::map<caf::actor_addr, aggregate_id> by_address_;
  /// Supervisors of moved events, until requests to the former owner have ceased.
  std::map<caf::actor_addr, supervisor_handle> leaving_;
  struct refused {
    milliseconds until; ///< steady time
    errc why;
  };
  std::map<aggregate_id, refused> cooling_;
  struct held_elsewhere {
    milliseconds until; ///< steady time: end of the cache entry
    std::string owner;
    bool was_ours; ///< moved from here: must not start here again before the successor has it
  };
  std::map<aggregate_id, held_elsewhere> elsewhere_;
  std::map<aggregate_id, pending_move> moving_;
  struct loading {
    bool is_asked = false; ///< the supervisor, which answers when the owner serves
    std::vector<pending_resolve> waiting;
  };
  std::map<aggregate_id, loading> loading_; ///< owners that do not serve yet
  std::vector<pending_resolve> to_retry_;
  bool retry_is_due_ = false; ///< the timer is set
  /// Steady time; owners that refused to move.
  std::map<aggregate_id, milliseconds> move_refused_until_;
  cluster_changed cluster_; ///< no peers: single node
  /// Aggregates without an owner in the last scan; value: steady time of the first scan that found them.
  std::map<aggregate_id, milliseconds> unowned_since_;
  /// Ended events up to this one need no owner for their event tickets, or have it; 0: so do all.
  aggregate_id settle_after_{number_of(first_event_aggregate) - 1};
  /// Requests sent to a stopped supervisor, until its down message.
  std::map<aggregate_id, std::vector<pending_resolve>> stopping_;
  milliseconds next_rebalancing_{0}; ///< steady time of the next rebalancing
  bool sweep_is_due_ = false; ///< the timer of the next scan is set
};

region_handle::behavior_type region(region_handle::stateful_pointer<region_state> self,
                                    const owner_services* services, restart_budget budget);

} // namespace fq
