// SPDX-License-Identifier: Apache-2.0
// A simulated gate: scans tickets, also late and against the rules, and sends scans again.
#pragma once
#include "tests/sim/world.hpp"

#include <caf/event_based_actor.hpp>

namespace fq::sim {

caf::behavior gate(caf::event_based_actor* self, world* w);

} // namespace fq::sim
