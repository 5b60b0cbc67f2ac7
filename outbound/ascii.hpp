// SPDX-License-Identifier: Apache-2.0
// ASCII letters in the other case, without a locale.
#pragma once

#include <string>
#include <string_view>

namespace fq {

inline std::string ascii_lower(std::string_view text) {
  std::string out{text};
  for (auto& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

inline std::string ascii_upper(std::string_view text) {
  std::string out{text};
  for (auto& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

} // namespace fq
