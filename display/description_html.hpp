// SPDX-License-Identifier: Apache-2.0
// An organizer's description, CommonMark, for visitors. Whatever its source, the HTML has no script, no
// style, no picture, no raw HTML, and only links to http, https and mailto.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace fq {

/// Headings begin at level 3, below those of a page. A source that nests too deep or whose HTML is too long
/// is shown as it was typed.
[[nodiscard]] std::string description_html(std::string_view source);

/// Its words in one line, for previews: at most about `most` bytes of valid UTF-8; `most` is below
/// words_kept.
[[nodiscard]] std::string description_text(std::string_view source, std::size_t most);

} // namespace fq
