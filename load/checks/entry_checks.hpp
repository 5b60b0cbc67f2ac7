// SPDX-License-Identifier: Apache-2.0
// The checks of places in the line. Called by judge() only; pure.
#pragma once

#include "load/checks/check_parts.hpp"

namespace fq::load {

void judge_entries(const sale_history& history, judgement& out);

} // namespace fq::load
