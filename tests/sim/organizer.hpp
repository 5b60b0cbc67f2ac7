// SPDX-License-Identifier: Apache-2.0
// The simulated organizer: pauses, resumes, changes settings, calls the next, invites, blocks, revokes, and
// sometimes ends or cancels the sale.
#pragma once
#include "tests/sim/world.hpp"

#include <caf/event_based_actor.hpp>

namespace fq::sim {

caf::behavior organizer(caf::event_based_actor* self, world* w);

} // namespace fq::sim
