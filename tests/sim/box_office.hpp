// SPDX-License-Identifier: Apache-2.0
// The simulated organizer's back office: promo codes, preferred customers, refunds, repeated mails, dead
// letters.
#pragma once
#include "tests/sim/world.hpp"

#include <caf/event_based_actor.hpp>

namespace fq::sim {

caf::behavior box_office(caf::event_based_actor* self, world* w);

} // namespace fq::sim
