// SPDX-License-Identifier: Apache-2.0
// How the camera was held: phones store pictures as their sensor saw them.
#pragma once
#include <string_view>

namespace fq::print {

/// 1 to 8 as in Exif; 1, upright, for everything else.
[[nodiscard]] int orientation_of(std::string_view jpeg);

} // namespace fq::print
