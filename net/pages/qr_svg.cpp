// SPDX-License-Identifier: Apache-2.0
#include "net/pages/qr_svg.hpp"

#include "print/qr/qr_code.hpp"

namespace fq::net {
namespace {

/// A run of black modules as an SVG path: "M5,3h7v1h-7z".
void append_run(std::string& path, const print::qr_run& run) {
  const auto width = std::to_string(run.length);
  path += "M" + std::to_string(run.x) + "," + std::to_string(run.y) + "h" + width + "v1h-" + width + "z";
}

} // namespace

qr_svg qr_svg_of(const std::string& content) {
  const auto code = print::qr_code_of(content, print::qr_surface::screen);
  qr_svg svg{-print::qr_quiet_zone, code.size + 2 * print::qr_quiet_zone, {}};
  for (const auto& run : code.runs) append_run(svg.path, run);
  return svg;
}

} // namespace fq::net
