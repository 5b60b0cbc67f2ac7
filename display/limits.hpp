// SPDX-License-Identifier: Apache-2.0
// Limits of what is shown.
#pragma once
#include <cstddef>

namespace fq {

/// Descriptions that each thread keeps as HTML: the events that a node shows at a time. They take at most 3
/// MB.
inline constexpr std::size_t descriptions_kept = 32;
/// Lists and quotes that one line of a description opens. The parser looks at all open ones at each line.
inline constexpr std::size_t nesting_max = 20;
/// Bytes of a description's HTML: 10 KB of plain text, each character escaped, have 60 KB.
inline constexpr std::size_t html_bytes_max = 64 * 1024;
/// Bytes of a description's words that are kept for previews, about.
inline constexpr std::size_t words_kept = 1'000;
/// Bytes of a time zone's name; the longest one has 32.
inline constexpr std::size_t time_zone_bytes_max = 64;

} // namespace fq
