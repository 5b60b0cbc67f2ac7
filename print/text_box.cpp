// SPDX-License-Identifier: Apache-2.0
#include "print/text_box.hpp"

#include "print/cairo_pointers.hpp"
#include "print/show_layout.hpp"

#include <algorithm>

namespace fq::print {
namespace {

/// Has Latin, Greek, Cyrillic and Arabic letters, in both weights. Pango takes others from any installed
/// font.
constexpr const char* font_family = "DejaVu Sans";
constexpr double shrink_factor = 0.88;
constexpr double overhang = 1.5; ///< of letters beyond their box, in points

owned<PangoFontDescription> font_of(const text_style& style, double size) {
  owned<PangoFontDescription> font{pango_font_description_new()};
  pango_font_description_set_family_static(font.get(), font_family);
  pango_font_description_set_weight(font.get(), style.is_bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_font_description_set_absolute_size(font.get(), size * PANGO_SCALE);
  return font;
}

/// Draws nothing, or is part of what its neighbours draw.
bool is_unseen(gunichar c) {
  return g_unichar_isspace(c) || g_unichar_type(c) == G_UNICODE_FORMAT || (c >= 0xfe00 && c <= 0xfe0f)
         || (c >= 0xe0100 && c <= 0xe01ef);
}

bool has_glyph(PangoFontset* fonts, gunichar c) {
  PangoFont* font = pango_fontset_get_font(fonts, c);
  if (font == nullptr) return false;
  const bool found = pango_font_has_char(font, c) != 0;
  g_object_unref(font);
  return found;
}

std::string with_known_glyphs(const std::string& text, PangoFontset* fonts) {
  constexpr std::string_view unknown = "□";
  std::string out;
  for (const char *at = text.c_str(), *next = at; *at != '\0'; at = next) {
    next = g_utf8_next_char(at);
    const auto c = g_utf8_get_char(at);
    const bool is_known = c < 0x7f || is_unseen(c) || has_glyph(fonts, c);
    const bool goes_on = out.ends_with(unknown) && c >= 0x7f && !g_unichar_isspace(c);
    if (is_known && !(goes_on && is_unseen(c)))
      out.append(at, next);
    else if (!goes_on) // a sequence is one picture
      out += unknown;
  }
  return out;
}

double height_of(PangoLayout* layout) {
  PangoRectangle logical;
  pango_layout_get_extents(layout, nullptr, &logical);
  return static_cast<double>(logical.height) / PANGO_SCALE;
}

/// Letters stand where the PDF's widths put them: rounded ones make gaps, which readers take for blanks.
void use_exact_widths(PangoContext* context) {
  const owned<cairo_font_options_t> options{cairo_font_options_create()};
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options(context, options.get());
  pango_context_set_round_glyph_positions(context, FALSE);
}

/// No hyphen where a word is broken: it would seem to be a part of a number.
void forbid_hyphens(PangoLayout* layout) {
  const owned<PangoAttrList> attributes{pango_attr_list_new()};
  pango_attr_list_insert(attributes.get(), pango_attr_insert_hyphens_new(FALSE));
  pango_layout_set_attributes(layout, attributes.get());
}

/// Pango turns the side for a text whose direction is not the page's.
PangoAlignment alignment_of(PangoLayout* layout, PangoDirection of_page, placement where) {
  if (where == placement::centre) return PANGO_ALIGN_CENTER;
  const auto own = pango_layout_line_get_resolved_direction(pango_layout_get_line_readonly(layout, 0));
  return (of_page == PANGO_DIRECTION_RTL) == (own == of_page) ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT;
}

/// Removes the lines below `height`. A first line always stays.
void cut_lines(PangoLayout* layout, double height) {
  const owned<PangoLayoutIter> line{pango_layout_get_iter(layout)};
  int end = 0;
  do {
    PangoRectangle logical;
    pango_layout_iter_get_line_extents(line.get(), nullptr, &logical);
    if (logical.y + logical.height > height * PANGO_SCALE)
      end = pango_layout_iter_get_line_readonly(line.get())->start_index;
  } while (end == 0 && pango_layout_iter_next_line(line.get()) != 0);
  if (end == 0) return;
  const char* text = pango_layout_get_text(layout);
  const char* last = text + end;
  for (int room = 0; room < 4 && last > text; ++room) last = g_utf8_prev_char(last); // for the ellipsis
  pango_layout_set_text(layout, (std::string{text, last} + "…").c_str(), -1);
}

} // namespace

text_writer::text_writer(cairo_t* page, const std::string& language, bool is_right_to_left) :
    page_{page},
    language_{pango_language_from_string(language.c_str())},
    direction_{is_right_to_left ? PANGO_DIRECTION_RTL : PANGO_DIRECTION_LTR} {}

double text_writer::write(const std::string& text, const box& to, const text_style& style,
                          placement where) const {
  if (text.empty()) return 0;
  const owned<PangoLayout> layout{pango_cairo_create_layout(page_)};
  PangoContext* context = pango_layout_get_context(layout.get());
  pango_context_set_language(context, language_);
  use_exact_widths(context);
  pango_context_set_base_dir(context, direction_);
  pango_layout_set_width(layout.get(), static_cast<int>(to.width * PANGO_SCALE));
  pango_layout_set_wrap(layout.get(), PANGO_WRAP_WORD_CHAR);
  forbid_hyphens(layout.get());
  const owned<PangoFontset> fonts{
    pango_context_load_fontset(context, font_of(style, style.size).get(), language_)};
  pango_layout_set_text(layout.get(), with_known_glyphs(text, fonts.get()).c_str(), -1);
  pango_layout_set_alignment(layout.get(), alignment_of(layout.get(), direction_, where));
  for (auto size = style.size;; size = std::max(size * shrink_factor, style.least_size)) {
    pango_layout_set_font_description(layout.get(), font_of(style, size).get());
    if (height_of(layout.get()) <= to.height) break;
    if (size > style.least_size) continue;
    cut_lines(layout.get(), to.height);
    break;
  }
  cairo_save(page_);
  cairo_rectangle(page_, to.x - overhang, to.y - overhang, to.width + 2 * overhang, to.height + 2 * overhang);
  cairo_clip(page_);
  cairo_set_source_rgb(page_, style.grey, style.grey, style.grey);
  show_layout(page_, layout.get(), to.x, to.y);
  cairo_restore(page_);
  return std::min(height_of(layout.get()), to.height);
}

} // namespace fq::print
