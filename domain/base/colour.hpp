// SPDX-License-Identifier: Apache-2.0
// Colours of brands as texts.
#pragma once
#include <algorithm>
#include <string_view>

namespace fq {

/// Whether it is like "#2c1d6b".
[[nodiscard]] inline bool is_colour(std::string_view text) {
  return text.size() == 7 && text[0] == '#' && std::all_of(text.begin() + 1, text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

} // namespace fq
