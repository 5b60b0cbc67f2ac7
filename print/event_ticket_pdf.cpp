// SPDX-License-Identifier: Apache-2.0
// From top to bottom: logo, picture, name, then facts beside the QR code, then terms. Each has a height that
// it cannot exceed, so nothing covers anything. All lengths are in points.
#include "print/event_ticket_pdf.hpp"

#include "print/cairo_pointers.hpp"
#include "print/clean_text.hpp"
#include "print/limits.hpp"
#include "print/pdf_file.hpp"
#include "print/qr/qr_code.hpp"
#include "print/text_box.hpp"

#include <algorithm>

namespace fq::print {
namespace {

constexpr double margin = 44, gap = 14;
constexpr double content_width = page_width - 2 * margin;
constexpr double logo_width = 190, logo_height = 62;
constexpr double picture_height = 160;
constexpr double name_height = 92;
constexpr double code_side = 184; ///< 65 mm with its quiet zone: read by phones at an arm's length
constexpr double code_note_height = 40;
constexpr double terms_height = 120; ///< kept free for them
constexpr double fact_height = 58; ///< of a fact in a page with few

constexpr text_style name_style{25, 12, true};
constexpr text_style label_style{8.5, 6, false, 0.35};
constexpr text_style value_style{13.5, 7.5, false};
constexpr text_style note_style{9, 6, false, 0.35};
constexpr text_style terms_style{8.5, 6, false, 0.2};

/// Stands for a JPEG, whose bytes the PDF takes as they are; null without a picture. `picture` must outlive
/// it.
owned<cairo_surface_t> image_of(const jpeg& picture) {
  if (picture.bytes.empty()) return nullptr;
  owned<cairo_surface_t> image{cairo_image_surface_create(CAIRO_FORMAT_RGB24, picture.width, picture.height)};
  must(cairo_surface_status(image.get()));
  must(cairo_surface_set_mime_data(image.get(), CAIRO_MIME_TYPE_JPEG,
                                   reinterpret_cast<const unsigned char*>(picture.bytes.data()),
                                   picture.bytes.size(), nullptr, nullptr));
  return image;
}

class page_printer {
public:
  page_printer(cairo_t* to, const event_ticket_document& document) :
      to_{to},
      document_{document},
      text_{to, document.language, document.is_right_to_left},
      logo_{image_of(document.logo)},
      picture_{image_of(document.picture)} {}

  void print(const event_ticket_page& page) const {
    double y = margin;
    if (logo_) y += put_image(logo_.get(), {leading(logo_width), y, logo_width, logo_height}, edge()) + gap;
    if (picture_) y += put_image(picture_.get(), {margin, y, content_width, picture_height}, 0.5) + gap;
    y += text_.write(one_line(page.event), {margin, y, content_width, name_height}, name_style) + gap / 2;
    y += put_rule(y) + gap;
    const auto end = page_height - margin - (page.terms.empty() ? 0 : terms_height);
    y = std::max(put_facts(page, y, end), put_code(page, y)) + gap;
    put_terms(page, y);
    cairo_show_page(to_);
  }

private:
  /// The left edge of a column that begins a line, or ends it.
  [[nodiscard]] double leading(double width) const {
    return document_.is_right_to_left ? page_width - margin - width : margin;
  }
  [[nodiscard]] double trailing(double width) const {
    return document_.is_right_to_left ? margin : page_width - margin - width;
  }
  [[nodiscard]] double edge() const { return document_.is_right_to_left ? 1 : 0; }

  /// As large as it fits; `side`: 0 for left, 1 for right. Returns its height.
  double put_image(cairo_surface_t* image, const box& in, double side) const {
    const double width = cairo_image_surface_get_width(image), height = cairo_image_surface_get_height(image);
    const auto scale = std::min(in.width / width, in.height / height);
    cairo_save(to_);
    cairo_translate(to_, in.x + (in.width - width * scale) * side, in.y);
    cairo_scale(to_, scale, scale);
    cairo_set_source_surface(to_, image, 0, 0);
    cairo_paint(to_);
    cairo_restore(to_);
    return height * scale;
  }

  double put_rule(double y) const {
    cairo_set_source_rgb(to_, 0.75, 0.75, 0.75);
    cairo_rectangle(to_, margin, y, content_width, 0.75);
    cairo_fill(to_);
    return 0.75;
  }

  /// Returns where they end.
  double put_facts(const event_ticket_page& page, double y, double end) const {
    std::vector<const event_ticket_fact*> facts;
    for (const auto& fact : page.facts)
      if (!fact.value.empty() && facts.size() < facts_max) facts.push_back(&fact);
    const auto width = content_width - code_side - 2 * gap;
    const auto height =
      facts.empty() ? 0 : std::min(fact_height, (end - y) / static_cast<double>(facts.size()));
    for (const auto* fact : facts) {
      const auto space = height * 0.16;
      const auto label =
        text_.write(one_line(fact->label), {leading(width), y, width, height * 0.25}, label_style);
      y += label;
      y += text_.write(one_line(fact->value), {leading(width), y, width, height - label - space}, value_style)
           + space;
    }
    return y;
  }

  /// Returns where it ends.
  double put_code(const event_ticket_page& page, double y) const {
    const auto x = trailing(code_side);
    if (!page.code.empty()) {
      put_modules(page.code, x, y);
      y += code_side;
    }
    return y
           + text_.write(one_line(page.code_note), {x, y, code_side, code_note_height}, note_style,
                         placement::centre);
  }

  /// All modules as one shape: viewers draw no seams within it.
  void put_modules(const std::string& content, double x, double y) const {
    const auto code = qr_code_of(content, qr_surface::paper);
    const auto module = code_side / (code.size + 2 * qr_quiet_zone);
    for (const auto& run : code.runs)
      cairo_rectangle(to_, x + (run.x + qr_quiet_zone) * module, y + (run.y + qr_quiet_zone) * module,
                      run.length * module, module);
    cairo_set_source_rgb(to_, 0, 0, 0);
    cairo_fill(to_);
  }

  void put_terms(const event_ticket_page& page, double y) const {
    if (page.terms.empty()) return;
    y += put_rule(y) + gap / 2;
    y += text_.write(one_line(page.terms_label), {margin, y, content_width, 14}, label_style) + gap / 4;
    text_.write(clean_text(page.terms, line_breaks::keep),
                {margin, y, content_width, page_height - margin - y}, terms_style);
  }

  cairo_t* to_;
  const event_ticket_document& document_;
  text_writer text_;
  owned<cairo_surface_t> logo_, picture_;
};

} // namespace

std::string event_ticket_pdf(const event_ticket_document& document) {
  pdf_file pdf{one_line(document.title), document.created_at};
  const page_printer printer{pdf.page(), document};
  for (const auto& page : document.pages) printer.print(page);
  return pdf.finish();
}

} // namespace fq::print
