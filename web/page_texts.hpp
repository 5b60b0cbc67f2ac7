// SPDX-License-Identifier: Apache-2.0
// The texts of pages in every language. web/texts.mjs makes them from web/texts/*.json at build time;
// net/pages/texts fills in the values.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace fq::web {

/// Static storage. `forms`: by CLDR plural category (zero, one, two, few, many, other); a text without a
/// number has only the last.
struct page_text {
  std::string_view key;
  std::array<std::string_view, 6> forms;
};

/// Sorted by key, the same keys in every language: en, fr, es, hr, ar.
[[nodiscard]] std::span<const page_text> page_texts(std::size_t language);

} // namespace fq::web
