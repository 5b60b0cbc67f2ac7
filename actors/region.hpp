// SPDX-License-Identifier: Apache-2.0
// Aggregate number -> owner: starts a supervised owner on first use, forgets it when it stops, wakes at start what must run without
// being asked. An owner whose restart budget is spent is refused for a while, then tried again.
#pragma once
#include "actors/errors.hpp"
#include "actors/event_actor.hpp"
#include "actors/supervisor.hpp"

#include <caf/typed_response_promise.hpp>

#include <map>
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

private:
  using promise = caf::typed_response_promise<event_handle>;
  caf::result<event_handle> on_resolve(const resolve_event& x);
  void answer(const resolve_event& x, promise p);
  void on_supervisor_gone(const resolve_event& x, const supervisor_handle& gone, promise p);
  void on_down(const caf::down_msg& down);
  void on_wake(const aggregates_to_wake& found);
  supervisor_handle start(aggregate_id aggregate);
  void look_around();
  [[nodiscard]] owned_aggregates owned() const;

  pointer self_ = nullptr;
  const owner_services* services_ = nullptr;
  restart_budget budget_;
  std::map<aggregate_id, supervisor_handle> owners_;
  std::map<caf::actor_addr, aggregate_id> by_address_;
  struct refused {
    milliseconds until; ///< steady time
    errc why;
  };
  std::map<aggregate_id, refused> cooling_;
  std::map<aggregate_id, std::vector<promise>> stopping_; ///< asked of a supervisor that had stopped: until its end is told
  bool sweep_is_due_ = false; ///< a look around is on its way
};

region_handle::behavior_type region(region_handle::stateful_pointer<region_state> self, const owner_services* services,
                                    restart_budget budget);

} // namespace fq
