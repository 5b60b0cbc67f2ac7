// SPDX-License-Identifier: Apache-2.0
// The operator of a simulated mesh: moves the sale to another node, from any node.
#pragma once
#include "tests/sim/world.hpp"

#include <caf/event_based_actor.hpp>

#include <string>

namespace fq::sim {

caf::behavior mesh_operator(caf::event_based_actor* self, world* w);

/// In the calm phase: the sale must move to that node within `move_takes`, and stay.
caf::behavior sale_mover(caf::event_based_actor* self, world* w, std::string to);

} // namespace fq::sim
