// SPDX-License-Identifier: Apache-2.0
// Keeps one event's owner running: restarts it with exponential back-off within a budget, then gives up; the
// region then answers 503 for that event only. The supervisor's handle is stable.
#pragma once
#include "actors/protocol/region_messages.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <deque>
#include <functional>
#include <vector>

namespace fq {

class environment;

struct restart_budget {
  std::uint32_t restarts = 5;
  milliseconds window{60'000};
  milliseconds backoff_min{50};
  milliseconds backoff_max{5'000};
};

/// Spawns the owner, monitored by the supervisor.
using owner_factory = std::function<event_handle(supervisor_handle::pointer, supervisor_handle)>;

class supervisor_state {
public:
  static inline const char* name = "supervisor";
  using pointer = supervisor_handle::stateful_pointer<supervisor_state>;

  void init(pointer self, environment& env, owner_factory factory, restart_budget budget);
  ~supervisor_state();
  supervisor_handle::behavior_type behavior();
  /// For tests and simulations: the current owner; null between a crash and the restart.
  [[nodiscard]] const event_handle& owner() const { return owner_; }

private:
  using promise = caf::typed_response_promise<event_handle>;
  void start_owner();
  void on_down(const caf::down_msg& down);
  caf::result<event_handle> on_resolve();
  void on_ready();
  void on_idle();
  void end_idle_owner();
  void on_timer(const timer_fired& t);
  void stop(caf::error why);

  pointer self_ = nullptr;
  environment* env_ = nullptr;
  owner_factory factory_;
  restart_budget budget_;
  event_handle owner_;
  bool ready_ = false;
  bool has_moved_ = false; ///< see owner_moved
  event_handle idle_owner_; ///< returns late requests for a while; null: none
  std::uint64_t idles_ = 0; ///< number of the latest one; generation of its timer
  std::deque<milliseconds> restarts_; ///< steady times of restarts within the window
  std::uint32_t failures_in_a_row_ = 0;
  std::vector<promise> waiting_;
};

supervisor_handle::behavior_type supervisor(supervisor_handle::stateful_pointer<supervisor_state> self,
                                            environment* env, owner_factory factory, restart_budget budget);

} // namespace fq
