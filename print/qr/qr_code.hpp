// SPDX-License-Identifier: Apache-2.0
// A text as the modules of a QR code. Called by the pages, which draw SVG, and by the PDF of event tickets.
#pragma once
#include <string>
#include <vector>

namespace fq::print {

/// Modules around a code that must be free (ISO/IEC 18004).
inline constexpr int qr_quiet_zone = 4;

enum class qr_surface {
  screen, ///< nothing covers it: the lowest correction gives the largest modules
  paper, ///< 15 % may be unreadable: folds, dirt
};

/// Black modules side by side.
struct qr_run {
  int x, y, length;
};

struct qr_code {
  int size; ///< modules in a row, without the quiet zone
  std::vector<qr_run> runs;
};

/// Throws std::length_error beyond the capacity: on a screen 2,953 bytes.
[[nodiscard]] qr_code qr_code_of(const std::string& content, qr_surface surface);

} // namespace fq::print
