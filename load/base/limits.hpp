// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fq::load {

constexpr std::uint32_t fans_max = 1'000'000; ///< their history takes about 1 KB each

} // namespace fq::load
