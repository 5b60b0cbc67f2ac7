// SPDX-License-Identifier: Apache-2.0
// Timers of idle pollers are due together, so that one wake-up of the process serves all of them.
#pragma once
#include "actors/base/limits.hpp"
#include "actors/protocol/shared_messages.hpp"
#include "domain/base/time.hpp"

#include <caf/actor_clock.hpp>

namespace fq {

/// Sends `t` to the actor itself after `pause`. A pause of at least `poll_tick` ends up to `poll_tick` early.
template <class Self>
void poll_after(Self* self, milliseconds pause, timer_fired t) {
  if (pause < poll_tick) return self->delayed_send(self, pause, t);
  const auto at = self->clock().now() + pause;
  self->scheduled_send(self, at - at.time_since_epoch() % poll_tick, t);
}

} // namespace fq
