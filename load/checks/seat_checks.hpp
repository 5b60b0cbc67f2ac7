// SPDX-License-Identifier: Apache-2.0
// The checks of reserved seats. Called by judge() only; pure.
#pragma once

#include "load/checks/check_parts.hpp"

namespace fq::load {

// Fills seat_twice and seat_map.
void judge_seats(const sale_history& history, judgement& out);

} // namespace fq::load
