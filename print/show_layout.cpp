// SPDX-License-Identifier: Apache-2.0
#include "print/show_layout.hpp"

#include "print/cairo_pointers.hpp"

#include <string>
#include <vector>

namespace fq::print {
namespace {

/// Glyphs of a run from left to right, and the letters that each cluster of them shows.
struct shown_run {
  std::vector<cairo_glyph_t> glyphs;
  std::vector<cairo_text_cluster_t> clusters;
  std::string text;
};

double points_of(int units) { return static_cast<double>(units) / PANGO_SCALE; }

/// Where the letters of the cluster at glyph `i` end. Clusters of a run from right to left begin with the
/// last.
int cluster_end(const PangoGlyphItem& run, int i) {
  const auto& all = *run.glyphs;
  const int step = (run.item->analysis.level & 1) != 0 ? -1 : 1;
  for (int other = i; other >= 0 && other < all.num_glyphs; other += step)
    if (all.log_clusters[other] != all.log_clusters[i]) return all.log_clusters[other];
  return run.item->length;
}

shown_run shown(const PangoGlyphItem& run, const char* text, double x, double y) {
  shown_run out;
  const auto& all = *run.glyphs;
  for (int i = 0; i < all.num_glyphs; ++i) {
    const int begin = all.log_clusters[i];
    if (i == 0 || begin != all.log_clusters[i - 1]) {
      const int size = cluster_end(run, i) - begin;
      out.text.append(text + run.item->offset + begin, static_cast<std::size_t>(size));
      out.clusters.push_back({size, 0});
    }
    const auto& glyph = all.glyphs[i];
    const bool is_drawn = glyph.glyph != PANGO_GLYPH_EMPTY && (glyph.glyph & PANGO_GLYPH_UNKNOWN_FLAG) == 0;
    if (is_drawn) {
      out.glyphs.push_back(
        {glyph.glyph, x + points_of(glyph.geometry.x_offset), y + points_of(glyph.geometry.y_offset)});
      ++out.clusters.back().num_glyphs;
    }
    x += points_of(glyph.geometry.width);
  }
  return out;
}

} // namespace

void show_layout(cairo_t* page, PangoLayout* layout, double x, double y) {
  const owned<PangoLayoutIter> at{pango_layout_get_iter(layout)};
  do {
    const auto* run = pango_layout_iter_get_run_readonly(at.get());
    if (run == nullptr) continue; // the end of a line
    PangoRectangle place;
    pango_layout_iter_get_run_extents(at.get(), nullptr, &place);
    const auto baseline = y + points_of(pango_layout_iter_get_baseline(at.get()));
    const auto out = shown(*run, pango_layout_get_text(layout), x + points_of(place.x), baseline);
    cairo_set_scaled_font(page, pango_cairo_font_get_scaled_font(PANGO_CAIRO_FONT(run->item->analysis.font)));
    cairo_show_text_glyphs(page, out.text.data(), static_cast<int>(out.text.size()), out.glyphs.data(),
                           static_cast<int>(out.glyphs.size()), out.clusters.data(),
                           static_cast<int>(out.clusters.size()), cairo_text_cluster_flags_t{});
  } while (pango_layout_iter_next_run(at.get()) != 0);
}

} // namespace fq::print
