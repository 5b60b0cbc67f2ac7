// SPDX-License-Identifier: Apache-2.0
// Looks at the parts of a stranger's picture before a decoder does: some need gigabytes, or minutes. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace fq::print {

/// The PNG with the chunks that its pixels need; libpng inflates texts and profiles in memory, as many as
/// there are. Empty: a chunk's length is wrong, or the end is missing.
[[nodiscard]] std::string pixels_of_png(std::string_view png);

/// How often the decoder goes over all pixels of the JPEG.
[[nodiscard]] std::size_t scans_of(std::string_view jpeg);

} // namespace fq::print
