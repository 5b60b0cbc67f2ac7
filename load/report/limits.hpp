// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace fq::load {

constexpr std::size_t decay_points_max = 400; ///< of a line in the report: more than its pixels show nothing

} // namespace fq::load
