// SPDX-License-Identifier: Apache-2.0
// A picture as a PDF holds it and browsers show it.
#pragma once
#include <string>

namespace fq::print {

struct jpeg {
  std::string bytes; ///< empty: no picture
  int width = 0, height = 0; ///< in pixels
};

} // namespace fq::print
