// SPDX-License-Identifier: Apache-2.0
// Text in a box of a page: it wraps, then shrinks, then ends with "…". So it never leaves its box. Nothing in
// it is markup. A character that no installed font has becomes "□".
#pragma once
#include <pango/pangocairo.h>

#include <string>

namespace fq::print {

/// In points, from the upper left corner of the page.
struct box {
  double x, y, width, height;
};

struct text_style {
  double size, least_size; ///< in points
  bool is_bold = false;
  double grey = 0; ///< 0: black
};

enum class placement { start, centre };

class text_writer {
public:
  /// `language`: BCP 47. `page` must outlive it.
  text_writer(cairo_t* page, const std::string& language, bool is_right_to_left);

  /// `text`: from clean_text. Returns the height that it takes; 0 for an empty text.
  double write(const std::string& text, const box& to, const text_style& style,
               placement where = placement::start) const;

private:
  cairo_t* page_;
  PangoLanguage* language_; ///< never freed: Pango keeps each language once
  PangoDirection direction_;
};

} // namespace fq::print
