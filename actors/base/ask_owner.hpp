// SPDX-License-Identifier: Apache-2.0
// Sends an actor's request to the owner of an event on any node: resolves the owner by the region, and again
// if the event has moved. The counterpart of net/bridge/actor_bridge for the io threads.
#pragma once
#include "actors/base/errors.hpp"
#include "actors/base/limits.hpp"
#include "actors/protocol/region_messages.hpp"

#include <utility>

namespace fq {

/// `timeout`: per step. `then` receives the reply, `fail` a caf::error.
template <class Self, class Request, class Then, class Fail>
void ask_owner(Self self, const region_handle& region, aggregate_id aggregate, Request x,
               milliseconds timeout, Then then, Fail fail, caf::actor_addr returned_by = {},
               int tries = owners_asked_max) {
  self->request(region, timeout, resolve_event{aggregate, false, std::move(returned_by)})
    .then(
      [=](const event_handle& owner) {
        self->request(owner, timeout, x).then(then, [=](const caf::error& why) {
          if (!is(why, errc::moved) || tries <= 1) return fail(why);
          ask_owner(self, region, aggregate, x, timeout, then, fail, owner.address(), tries - 1);
        });
      },
      fail);
}

} // namespace fq
