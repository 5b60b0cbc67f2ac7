// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "load/base/order_history.hpp"

#include <cstddef>

namespace fq::load {

/// A node that lost its connection to an event's owner answers polls from what the owner told within this
/// time (docs/design/line-and-admission.md, "Positions").
constexpr run_time_us answer_age_max = 1'000'000;

constexpr std::size_t example_limit = 5; ///< of violations of one check: the report stays readable

} // namespace fq::load
