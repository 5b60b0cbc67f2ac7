// SPDX-License-Identifier: Apache-2.0
// Other people's texts before they are printed: what could hide or reorder other text is removed.
#pragma once
#include <string>
#include <string_view>

namespace fq::print {

enum class line_breaks { keep, remove };

/// Valid UTF-8 of at most text_bytes_max bytes and "…". Removes control characters, embeddings and overrides
/// of the direction (U+202A to U+202E), isolates (U+2066 to U+2069) without their other end in the paragraph,
/// and more than marks_max marks on a letter. An invalid byte becomes U+FFFD.
[[nodiscard]] std::string clean_text(std::string_view text, line_breaks breaks);

inline std::string one_line(std::string_view text) { return clean_text(text, line_breaks::remove); }

} // namespace fq::print
