// SPDX-License-Identifier: Apache-2.0
// An address as a QR code for an SVG. Called by wait_page.
#pragma once
#include <string>

namespace fq::net {

struct qr_svg {
  int from; ///< left and upper edge: the quiet zone lies left of and above 0
  int size; ///< of the square with its quiet zone, in modules
  std::string path; ///< black modules as an SVG path
};

/// Throws std::length_error beyond 2,953 bytes of content.
[[nodiscard]] qr_svg qr_svg_of(const std::string& content);

} // namespace fq::net
