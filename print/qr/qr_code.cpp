// SPDX-License-Identifier: Apache-2.0
#include "print/qr/qr_code.hpp"

#include <qrcodegen/qrcodegen.hpp>

namespace fq::print {

qr_code qr_code_of(const std::string& content, qr_surface surface) {
  const auto correction =
    surface == qr_surface::paper ? qrcodegen::QrCode::Ecc::MEDIUM : qrcodegen::QrCode::Ecc::LOW;
  const auto modules = qrcodegen::QrCode::encodeText(content.c_str(), correction);
  qr_code code{modules.getSize(), {}};
  for (int y = 0; y < code.size; ++y)
    for (int x = 0; x < code.size; ++x) {
      const int from = x;
      while (modules.getModule(x, y)) ++x; // false beyond the edge
      if (x > from) code.runs.push_back({from, y, x - from});
    }
  return code;
}

} // namespace fq::print
