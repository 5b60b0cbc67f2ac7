// SPDX-License-Identifier: Apache-2.0
// The languages that people are written to: pages, mails and pushes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fq {

/// Stored as a number: append only. In the order of web/texts.mjs.
enum class language : std::uint8_t { en, fr, es, hr, ar };
inline constexpr std::array all_languages{language::en, language::fr, language::es, language::hr,
                                          language::ar};

/// "en", …
constexpr std::string_view tag_of(language l) {
  constexpr std::array<std::string_view, all_languages.size()> tags{"en", "fr", "es", "hr", "ar"};
  return tags[static_cast<std::size_t>(l)];
}

/// Of a tag such as "fr" or "fr-CA".
constexpr std::optional<language> language_of(std::string_view tag) {
  const auto primary = tag.substr(0, tag.find('-'));
  for (const auto l : all_languages)
    if (primary.size() == 2 && (primary[0] | 0x20) == tag_of(l)[0] && (primary[1] | 0x20) == tag_of(l)[1])
      return l;
  return std::nullopt;
}

constexpr bool is_right_to_left(language l) { return l == language::ar; }

} // namespace fq
