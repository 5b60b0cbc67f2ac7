// SPDX-License-Identifier: Apache-2.0
#include "display/colours.hpp"

#include <cmath>
#include <string>

namespace fq {
namespace {

double linear(int channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

/// WCAG's relative luminance of "#rrggbb".
double luminance(std::string_view colour) {
  const auto channel = [&](std::size_t at) {
    return std::stoi(std::string{colour.substr(at, 2)}, nullptr, 16);
  };
  return 0.2126 * linear(channel(1)) + 0.7152 * linear(channel(3)) + 0.0722 * linear(channel(5));
}

} // namespace

std::string_view ink_on(std::string_view colour) {
  const auto l = luminance(colour);
  return 1.05 / (l + 0.05) >= (l + 0.05) / 0.05 ? "#fff" : "#000";
}

} // namespace fq
