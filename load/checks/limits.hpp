// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace fq::load {

constexpr std::size_t example_limit = 5; ///< of violations of one check: the report stays readable

} // namespace fq::load
