// SPDX-License-Identifier: Apache-2.0
// Aggregate number -> owner: starts a supervised owner on first use, forgets it when it stops, wakes at start
// what must run without being asked. An owner whose restart budget is spent is refused for a while, then
// tried again. What another node owns is asked for there; what nobody owns begins where placement says.
#pragma once
#include "actors/base/errors.hpp"
#include "actors/base/supervisor.hpp"
#include "actors/sale/event_actor.hpp"

#include <caf/typed_response_promise.hpp>

#include <map>
#include <string>
#include <vector>

namespace fq {

/// How long an aggregate whose restart budget was spent answers unavailable at once.
inline constexpr milliseconds cool_down{10'000};
/// How long nobody asks again for an aggregate that another node holds.
inline constexpr milliseconds elsewhere_for{1'000};
/// Supervisors alive at most (I14); beyond it new aggregates are refused until others are passivated.
inline constexpr std::size_t owners_max = 100'000;

class region_state {
public:
  static inline const char* name = "region";
  using pointer = region_handle::stateful_pointer<region_state>;

  void init(pointer self, const owner_services& services, restart_budget budget);
  region_handle::behavior_type behavior();
  /// For tests and simulations.
  [[nodiscard]] supervisor_handle find(aggregate_id aggregate) const;
  /// For simulations: of events that moved.
  [[nodiscard]] const std::map<caf::actor_addr, supervisor_handle>& leaving() const { return leaving_; }

private:
  using promise = caf::typed_response_promise<event_handle>;
  caf::result<event_handle> on_resolve(const resolve_event& x);
  /// Who owns this? Answered once.
  struct question {
    aggregate_id aggregate{};
    bool is_forwarded = false; ///< by another node: answered here or not at all
    promise answer;
    milliseconds give_up{0}; ///< steady time
    caf::actor_addr returned_by; ///< not this owner; null: whichever it is
    void refuse(errc why) { answer.deliver(make_error(why)); }
  };
  void answer(question q);
  void answer_here(question q);
  void ask_there(question q, const std::string& node, int steps);
  void on_not_there(question q, const std::string& node, int steps, const caf::error& why);
  void served(aggregate_id aggregate, const event_handle& owner);
  void not_served(aggregate_id aggregate, const supervisor_handle& owner, const caf::error& why);
  std::vector<question> take_loading(aggregate_id aggregate);
  void give_up_loading();
  void ask_others(question q);
  void ask_each(question q, std::vector<std::string> nodes);
  caf::result<ack_reply> on_move_event(const move_event& x);
  void have_moved(caf::typed_response_promise<ack_reply> asked, const move_event& x,
                  std::vector<std::string> nodes);
  void move_served(caf::typed_response_promise<ack_reply> asked, const move_event& x);
  void move_for(caf::typed_response_promise<ack_reply> asked, const move_event& x);
  struct pending_move {
    std::string to;
    milliseconds give_up{0}; ///< steady time: its owner may have died, and the next one not have heard of it
    std::vector<question> asked; ///< meanwhile
    std::vector<caf::typed_response_promise<ack_reply>> told; ///< when it is done: operators
  };
  void on_handed_over(const handed_over& x);
  void keep(aggregate_id aggregate, pending_move& moved, const caf::error& why);
  void gave_away(aggregate_id aggregate, pending_move& moved);
  void tell_successor(aggregate_id aggregate, pending_move& moved);
  void give_away();
  void give_up_moves();
  [[nodiscard]] bool may_begin() const;
  [[nodiscard]] bool is_draining() const;
  void leave_all();
  void move(aggregate_id aggregate, const std::string& to, bool is_forced);
  void ask_later(question q);
  void ask_once_more(question q);
  void ask_again();
  void look_again();
  void note_elsewhere(aggregate_id aggregate, const std::string& owner, bool was_ours);
  void on_supervisor_gone(question q, const supervisor_handle& gone);
  void on_down(const caf::down_msg& down);
  void on_wake(const aggregates_to_wake& found);
  void on_blocks_changed(const blocks_changed& x);
  supervisor_handle start(aggregate_id aggregate);
  void look_around();
  void look_later();
  void on_cluster(const cluster_changed& x);
  [[nodiscard]] region_handle at(const std::string& node) const;
  [[nodiscard]] std::string node_of(const caf::actor_addr& owner) const;
  /// Where it begins; empty: here.
  [[nodiscard]] std::string placed_elsewhere(aggregate_id aggregate) const;
  [[nodiscard]] owned_aggregates owned() const;

  pointer self_ = nullptr;
  const owner_services* services_ = nullptr;
  restart_budget budget_;
  std::map<aggregate_id, supervisor_handle> owners_;
  std::map<caf::actor_addr, aggregate_id> by_address_;
  std::map<caf::actor_addr, supervisor_handle>
    leaving_; ///< of events that moved, until nobody comes by the old owner any more
  struct refused {
    milliseconds until; ///< steady time
    errc why;
  };
  std::map<aggregate_id, refused> cooling_;
  struct held_elsewhere {
    milliseconds until; ///< steady time: then the ledger is asked again
    std::string owner;
    bool was_ours; ///< given away: it must not be taken back before the successor has it
  };
  std::map<aggregate_id, held_elsewhere> elsewhere_;
  std::map<aggregate_id, pending_move> moving_;
  struct loading {
    bool is_asked = false; ///< its supervisor; it answers when the owner serves
    std::vector<question> waiting;
  };
  std::map<aggregate_id, loading> loading_; ///< of owners that do not serve yet
  std::vector<question> asked_later_;
  bool looks_again_ = false; ///< is on its way
  std::map<aggregate_id, milliseconds>
    stays_until_; ///< steady time: owners that said this is no time to move
  cluster_changed cluster_; ///< no peers: we are alone
  std::map<aggregate_id, milliseconds>
    left_to_others_; ///< found without an owner the last time we looked, and since when: steady time
  std::map<aggregate_id, std::vector<question>>
    stopping_; ///< asked of a supervisor that had stopped: until its end is told
  milliseconds share_again_{0}; ///< steady time: not before then
  bool sweep_is_due_ = false; ///< a look around is on its way
};

region_handle::behavior_type region(region_handle::stateful_pointer<region_state> self,
                                    const owner_services* services, restart_budget budget);

} // namespace fq
