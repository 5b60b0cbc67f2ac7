// SPDX-License-Identifier: Apache-2.0
// Pictures for paper: a PNG becomes a small JPEG, which a PDF holds as it is. Once for an event, not for each
// of its tickets: it takes some 50 ms.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fq::print {

struct jpeg {
  std::string bytes; ///< empty: no picture
  int width = 0, height = 0; ///< in pixels
};

/// For the picture and the logo of a ticket. Transparent parts become white. Empty if `png` cannot be read,
/// has too many pixels, or cannot be made small enough.
[[nodiscard]] std::optional<jpeg> picture_of(std::string_view png);
[[nodiscard]] std::optional<jpeg> logo_of(std::string_view png);

} // namespace fq::print
