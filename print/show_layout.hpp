// SPDX-License-Identifier: Apache-2.0
// Draws a layout so that programs find its words in a PDF.
#pragma once
#include <pango/pangocairo.h>

namespace fq::print {

/// As pango_cairo_show_layout, except for text from right to left. Cairo writes such glyphs from right to
/// left, and readers of PDF take each for a word of its own. Here all stand from left to right, each with its
/// letters.
void show_layout(cairo_t* page, PangoLayout* layout, double x, double y);

} // namespace fq::print
