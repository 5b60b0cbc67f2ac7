// SPDX-License-Identifier: Apache-2.0
#include "actors/sale/draw_worker.hpp"

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

namespace fq {

draw_worker_handle::behavior_type draw_worker(draw_worker_handle::pointer self) {
  return {[self](const compute_lobby& x) {
    caf::anon_send(caf::actor_cast<caf::actor>(self->current_sender()), (*x.work)());
  }};
}

} // namespace fq
