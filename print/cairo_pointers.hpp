// SPDX-License-Identifier: Apache-2.0
// Owning pointers to the objects of Cairo and Pango.
#pragma once
#include <pango/pangocairo.h>

#include <memory>

namespace fq::print {

struct release {
  void operator()(cairo_surface_t* surface) const noexcept { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const noexcept { cairo_destroy(context); }
  void operator()(cairo_font_options_t* options) const noexcept { cairo_font_options_destroy(options); }
  void operator()(PangoAttrList* attributes) const noexcept { pango_attr_list_unref(attributes); }
  void operator()(PangoLayout* layout) const noexcept { g_object_unref(layout); }
  void operator()(PangoLayoutIter* lines) const noexcept { pango_layout_iter_free(lines); }
  void operator()(PangoFontDescription* font) const noexcept { pango_font_description_free(font); }
  void operator()(PangoFontset* fonts) const noexcept { g_object_unref(fonts); }
};
template <class T>
using owned = std::unique_ptr<T, release>;

} // namespace fq::print
