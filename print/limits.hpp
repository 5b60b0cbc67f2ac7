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
/// Pixels of a picture that is read: 64 MB in memory.
inline constexpr double picture_pixels_max = 16e6;
/// Pixels on a side; Cairo draws no image with more.
inline constexpr double picture_side_max = 16'384;
/// Parts of a JPEG that are looked at for how the camera was held.
inline constexpr std::size_t jpeg_segments_max = 64;
/// Scans of a JPEG, each of which takes up to 0.1 s; cameras and programs write some ten.
inline constexpr std::size_t jpeg_scans_max = 32;
/// Bytes of a picture's sizes. A PDF holds a medium one and, as a logo, a small one.
inline constexpr std::size_t small_bytes_max = 20'000;
inline constexpr std::size_t medium_bytes_max = 70'000; ///< see small_bytes_max
inline constexpr std::size_t large_bytes_max = 300'000; ///< see small_bytes_max
/// Max lines in a chart: dash patterns distinguish no more without colour.
inline constexpr std::size_t chart_lines_max = 3;
/// Rows of a table of a report: six pages.
inline constexpr std::size_t table_rows_max = 250;

} // namespace fq::print
