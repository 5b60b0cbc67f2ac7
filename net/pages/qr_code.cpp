// SPDX-License-Identifier: Apache-2.0
#include "net/pages/qr_code.hpp"

#include <qrcodegen/qrcodegen.hpp>

namespace fq::net {
namespace {

constexpr int quiet_zone = 4; ///< modules around the code (ISO/IEC 18004)

/// A run of black modules as an SVG path: "M5,3h7v1h-7z".
void append_run(std::string& path, int x, int y, int length) {
  const auto width = std::to_string(length);
  path += "M" + std::to_string(x) + "," + std::to_string(y) + "h" + width + "v1h-" + width + "z";
}

std::string modules_of(const qrcodegen::QrCode& code) {
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

qr_code qr_code_of(const std::string& content) {
  // A screen covers no part of the code: the lowest correction gives the largest modules.
  const auto code = qrcodegen::QrCode::encodeText(content.c_str(), qrcodegen::QrCode::Ecc::LOW);
  return {-quiet_zone, code.getSize() + 2 * quiet_zone, modules_of(code)};
}

} // namespace fq::net
