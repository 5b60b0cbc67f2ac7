// SPDX-License-Identifier: Apache-2.0
// Limits of printed pages: a PDF of one ticket has at most 150 KB and takes at most 40 ms.
#pragma once
#include <cstddef>

namespace fq::print {

/// Bytes of a text that are printed; a longer one ends with "…". The terms of a sale fit on a third of a
/// page.
inline constexpr std::size_t text_bytes_max = 6'000;
/// Marks on one letter. Vietnamese and Hebrew have up to three; hundreds would cover other lines.
inline constexpr int marks_max = 4;
/// Facts of a page, so that each has room for two lines.
inline constexpr std::size_t facts_max = 10;
/// Pixels of a PNG that is read: 64 MB in memory.
inline constexpr double png_pixels_max = 16e6;
/// A picture and a logo are each stored once in a document.
inline constexpr std::size_t picture_bytes_max = 70'000;
inline constexpr std::size_t logo_bytes_max = 20'000; ///< see picture_bytes_max
/// Lines of a chart: more cannot be told apart without colour.
inline constexpr std::size_t chart_lines_max = 3;
/// Rows of a table of a report: six pages.
inline constexpr std::size_t table_rows_max = 250;

} // namespace fq::print
