// SPDX-License-Identifier: Apache-2.0
// The hall of a simulated sale with reserved seats, and what fans want of it.
#pragma once
#include "tests/sim/world.hpp"

#include <optional>
#include <vector>

namespace fq::sim {

/// A plan with as many seats of each public type as it has units; nothing if the sale has no seats.
std::optional<event_plan_row> hall_of(const sale_options& o, const std::vector<ticket_type_row>& types);

/// Seats of a claim: names some in its items, or replaces them by a wish for the best ones.
seat_wish wish_seats(world& w, std::vector<item_wish>& items);

/// Seats that the organizer changes.
seat_patch some_seat_patch(world& w);

} // namespace fq::sim
