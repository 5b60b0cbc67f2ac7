// SPDX-License-Identifier: Apache-2.0
// Text helpers for fields and forms.
#pragma once
#include <string_view>

namespace fq::net {

/// Without leading and trailing blanks and tabs (RFC 9110's OWS).
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto from = text.find_first_not_of(blanks);
  return from == std::string_view::npos ? std::string_view{}
                                        : text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

} // namespace fq::net
