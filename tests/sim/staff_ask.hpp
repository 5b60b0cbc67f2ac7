// SPDX-License-Identifier: Apache-2.0
// Requests of the simulated organizer and its box office.
#pragma once
#include "tests/sim/world.hpp"

#include <caf/event_based_actor.hpp>

namespace fq::sim {

/// An unanswered request may have been executed and is not repeated; the checker sees acknowledged results
/// only.
template <class Reply, class Message, class Check>
void ask_owner(caf::event_based_actor* self, world* w, Message message, Check check) {
  if (w->net != nullptr)
    return self->request(w->some_edge(), staff_patience, message)
      .then([=](const Reply& told) { check(told); }, [](caf::error&) {});
  self->request(w->some_region(), staff_patience, resolve_event{w->aggregate})
    .then(
      [=](const event_handle& owner) {
        self->request(owner, staff_patience, message)
          .then([=](const Reply& told) { check(told); }, [](caf::error&) {});
      },
      [](caf::error&) {});
}

template <class Map>
const typename Map::mapped_type* any(world* w, const Map& rows) {
  if (rows.empty()) return nullptr;
  return &std::next(rows.begin(), static_cast<std::ptrdiff_t>(w->rng() % rows.size()))->second;
}

} // namespace fq::sim
