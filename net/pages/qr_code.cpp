// SPDX-License-Identifier: Apache-2.0
#include "net/pages/qr_code.hpp"

#include "net/pages/html.hpp"

#include <qrcodegen/qrcodegen.hpp>

namespace fq::net {
namespace {

constexpr int quiet_zone = 4; ///< modules around the code (ISO/IEC 18004)

/// A run of black modules as an SVG path: "M5,3h7v1h-7z".
void append_run(std::string& path, int x, int y, int length) {
  const auto width = std::to_string(length);
  path += "M" + std::to_string(x) + "," + std::to_string(y) + "h" + width + "v1h-" + width + "z";
}

std::string path_of(const qrcodegen::QrCode& code) {
  std::string path;
  for (int y = 0; y < code.getSize(); ++y)
    for (int x = 0; x < code.getSize(); ++x) {
      const int from = x;
      while (code.getModule(x, y)) ++x;
      if (x > from) append_run(path, from, y, x - from);
    }
  return path;
}

} // namespace

void append_qr_code(std::string& out, std::string_view content, std::string_view label) {
  const std::string text{content};
  // A screen covers no part of the code: the lowest correction gives the largest modules.
  const auto code = qrcodegen::QrCode::encodeText(text.c_str(), qrcodegen::QrCode::Ecc::LOW);
  const auto from = std::to_string(-quiet_zone), size = std::to_string(code.getSize() + 2 * quiet_zone);
  out += "<svg class=\"qr\" role=\"img\" aria-label=\"";
  append_escaped(out, label);
  out += "\" viewBox=\"" + from + " " + from + " " + size + " " + size + "\" shape-rendering=\"crispEdges\">";
  out += "<rect x=\"" + from + "\" y=\"" + from + "\" width=\"" + size + "\" height=\"" + size
         + "\" fill=\"#fff\"/>";
  out += "<path fill=\"#000\" d=\"" + path_of(code) + "\"/></svg>";
}

} // namespace fq::net
