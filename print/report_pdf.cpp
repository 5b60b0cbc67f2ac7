// SPDX-License-Identifier: Apache-2.0
// Flows from top to bottom; a part that does not fit begins a page. All lengths are in points.
#include "print/report_pdf.hpp"

#include "print/clean_text.hpp"
#include "print/limits.hpp"
#include "print/pdf_file.hpp"
#include "print/text_box.hpp"

#include <algorithm>
#include <array>

namespace fq::print {
namespace {

constexpr double margin = 44, gap = 14;
constexpr double content_width = page_width - 2 * margin, page_end = page_height - margin;
constexpr double title_height = 64, subtitle_height = 32;
constexpr double label_height = 12, value_height = 20;
constexpr double chart_height = 130;
constexpr double heading_height = 20;
constexpr double row_height = 16;
constexpr double first_column = 0.34; ///< of the width

constexpr text_style title_style{22, 12, true};
constexpr text_style subtitle_style{10.5, 8, false, 0.35};
constexpr text_style label_style{8.5, 6, false, 0.35};
constexpr text_style value_style{13, 7.5, false};
constexpr text_style heading_style{13, 8, true};
constexpr text_style column_style{8.5, 6, true, 0.2};
constexpr text_style cell_style{9, 6, false};

/// Lines differ by grey and dashes, for prints without colour.
struct stroke {
  double red, green, blue, width;
  std::array<double, 2> dashes; ///< 0: none
};
constexpr std::array<stroke, chart_lines_max> strokes{
  {{0.07, 0.33, 0.62, 1.4, {0, 0}}, {0.75, 0.35, 0.05, 1.4, {5, 3}}, {0.25, 0.25, 0.25, 1.2, {1.5, 2}}}};

class report_printer {
public:
  explicit report_printer(cairo_t* to) : to_{to}, text_{to, "en", false} {}

  void print(const report_document& document) {
    y_ += text_.write(one_line(document.title), {margin, y_, content_width, title_height}, title_style);
    y_ +=
      text_.write(one_line(document.subtitle), {margin, y_, content_width, subtitle_height}, subtitle_style);
    y_ += gap / 2;
    put_rule();
    y_ += gap;
    put_facts(document.facts);
    for (const auto& chart : document.charts) put(chart);
    for (const auto& table : document.tables) put(table);
    cairo_show_page(to_);
  }

private:
  void require(double height) {
    if (y_ + height <= page_end) return;
    cairo_show_page(to_);
    y_ = margin;
  }

  void put_rule() {
    cairo_set_source_rgb(to_, 0.75, 0.75, 0.75);
    cairo_rectangle(to_, margin, y_, content_width, 0.75);
    cairo_fill(to_);
  }

  void put_facts(const std::vector<report_fact>& facts) {
    const auto width = (content_width - gap) / 2;
    for (std::size_t i = 0; i < facts.size(); i += 2) {
      require(label_height + value_height);
      for (std::size_t k = i; k < std::min(i + 2, facts.size()); ++k) {
        const auto x = margin + static_cast<double>(k - i) * (width + gap);
        text_.write(one_line(facts[k].label), {x, y_, width, label_height}, label_style);
        text_.write(one_line(facts[k].value), {x, y_ + label_height, width, value_height}, value_style);
      }
      y_ += label_height + value_height + gap / 2;
    }
    y_ += gap / 2;
  }

  // -- charts

  void put(const report_chart& chart) {
    if (chart.times.size() < 2) return;
    require(heading_height + chart_height + 3 * label_height);
    y_ += text_.write(one_line(chart.title), {margin, y_, content_width, heading_height}, heading_style) + 2;
    put_names(chart);
    text_.write(one_line(chart.highest), {margin, y_, content_width, label_height}, label_style);
    y_ += label_height;
    put_lines(chart);
    y_ += chart_height + 2;
    text_.write(one_line(chart.begin), {margin, y_, content_width / 2, label_height}, label_style);
    const auto end = one_line(chart.end);
    text_.write(end, {page_width - margin - content_width / 4, y_, content_width / 4, label_height},
                label_style, placement::centre);
    y_ += label_height + gap;
  }

  void put_names(const report_chart& chart) {
    auto x = margin;
    const auto width = content_width / static_cast<double>(chart_lines_max);
    for (std::size_t i = 0; i < std::min(chart.lines.size(), chart_lines_max); ++i) {
      begin_stroke(strokes[i]);
      cairo_move_to(to_, x, y_ + label_height / 2);
      cairo_line_to(to_, x + 20, y_ + label_height / 2);
      cairo_stroke(to_);
      text_.write(one_line(chart.lines[i].name), {x + 25, y_, width - 30, label_height}, label_style);
      x += width;
    }
    cairo_set_dash(to_, nullptr, 0, 0);
    y_ += label_height + 2;
  }

  void begin_stroke(const stroke& s) {
    cairo_set_source_rgb(to_, s.red, s.green, s.blue);
    cairo_set_line_width(to_, s.width);
    cairo_set_dash(to_, s.dashes.data(), s.dashes[0] > 0 ? static_cast<int>(s.dashes.size()) : 0, 0);
  }

  void put_lines(const report_chart& chart) {
    double high = 1;
    for (const auto& line : chart.lines)
      for (const auto value : line.values) high = std::max(high, value);
    const auto begin = chart.times.front(), span = std::max(chart.times.back() - begin, 1.0);
    const auto x_of = [&](double time) { return margin + (time - begin) / span * content_width; };
    const auto y_of = [&](double value) {
      return y_ + chart_height * (1 - std::clamp(value / high, 0.0, 1.0));
    };
    cairo_set_source_rgb(to_, 0.9, 0.9, 0.9);
    cairo_set_line_width(to_, 0.5);
    for (const double part : {0.0, 0.5, 1.0}) {
      cairo_move_to(to_, margin, y_ + chart_height * part);
      cairo_line_to(to_, page_width - margin, y_ + chart_height * part);
      cairo_stroke(to_);
    }
    for (std::size_t i = 0; i < std::min(chart.lines.size(), chart_lines_max); ++i) {
      const auto& values = chart.lines[i].values;
      begin_stroke(strokes[i]);
      for (std::size_t k = 0; k < std::min(values.size(), chart.times.size()); ++k)
        cairo_line_to(to_, x_of(chart.times[k]), y_of(values[k]));
      cairo_stroke(to_);
    }
    cairo_set_dash(to_, nullptr, 0, 0);
  }

  // -- tables

  void put(const report_table& table) {
    require(heading_height + 3 * row_height);
    y_ += text_.write(one_line(table.title), {margin, y_, content_width, heading_height}, heading_style) + 4;
    put_row(table.columns, table.columns.size(), column_style);
    put_rule();
    y_ += 2;
    for (std::size_t i = 0; i < std::min(table.rows.size(), table_rows_max); ++i) {
      require(row_height);
      put_row(table.rows[i], table.columns.size(), cell_style);
    }
    if (!table.note.empty()) {
      require(row_height);
      y_ += text_.write(one_line(table.note), {margin, y_, content_width, row_height}, label_style);
    }
    y_ += gap;
  }

  void put_row(const std::vector<std::string>& cells, std::size_t columns, const text_style& style) {
    const auto wide = columns > 1 ? content_width * first_column : content_width;
    const auto narrow = columns > 1 ? (content_width - wide) / static_cast<double>(columns - 1) : 0;
    auto x = margin;
    for (std::size_t i = 0; i < std::min(cells.size(), columns); ++i) {
      const auto width = i == 0 ? wide : narrow;
      text_.write(one_line(cells[i]), {x, y_, width - 6, row_height - 2}, style);
      x += width;
    }
    y_ += row_height;
  }

  cairo_t* to_;
  text_writer text_;
  double y_ = margin;
};

} // namespace

std::string report_pdf(const report_document& document) {
  pdf_file pdf{one_line(document.title), document.created_at};
  report_printer{pdf.page()}.print(document);
  return pdf.finish();
}

} // namespace fq::print
