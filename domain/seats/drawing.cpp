// SPDX-License-Identifier: Apache-2.0
#include "domain/seats/drawing.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fq {
namespace {

constexpr int pitch = 24; ///< units between neighbours
constexpr int margin = 3 * pitch;
constexpr std::uint8_t shown_traits = seat_plan::accessible | seat_plan::companion | seat_plan::obstructed;

constexpr std::string_view built_in_rules =
  "<style>svg{font-family:sans-serif;text-anchor:middle;dominant-baseline:central}circle{r:10px}"
  ".t0{fill:#2a6fbb}.t1{fill:#c4472b}.t2{fill:#3d8b37}.t3{fill:#8b4fa8}.t4{fill:#b8860b}.t5{fill:#2f8f8f}"
  ".a{stroke:#000;stroke-width:4}.c{stroke:#666;stroke-width:3}.o{opacity:.5}"
  "text{fill:#222}.row-label{font-size:16px}.outline{fill:#eee;stroke:#eee;stroke-width:40;"
  "stroke-linejoin:round}.stage{fill:#ccc}.area rect{fill-opacity:.3}</style>";

/// Distance between neighbours in a row, in centimetres: one tenth of all pairs are nearer.
double usual_distance(const seat_plan& plan) {
  constexpr double without_pairs = 50;
  std::vector<double> all;
  const auto seats = plan.seats();
  for (std::size_t i = 1; i < seats.size(); ++i)
    if (seats[i].row == seats[i - 1].row && !seats[i].has(seat_plan::aisle))
      all.push_back(std::hypot(seats[i].at.x - seats[i - 1].at.x, seats[i].at.y - seats[i - 1].at.y));
  if (all.empty()) return without_pairs;
  const auto tenth = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10);
  std::ranges::nth_element(all, tenth);
  return *tenth;
}

struct frame {
  int left = 0, top = 0, right = 0, bottom = 0;
};

class drawer {
public:
  explicit drawer(const seat_plan& plan) : plan_(plan), unit_(usual_distance(plan) / pitch) {}

  std::string run(drawing_style style) {
    out_.reserve(plan_.seats().size() * 42 + 4'096);
    const auto f = extent();
    out_ += R"(<svg xmlns="http://www.w3.org/2000/svg" class="seat-plan" viewBox=")";
    add_numbers({f.left, f.top, f.right - f.left, f.bottom - f.top});
    out_ += "\">";
    if (style == drawing_style::built_in) out_ += built_in_rules;
    add_stage(f);
    for (std::size_t i = 0; i < plan_.areas().size(); ++i) add_area(i);
    for (std::size_t i = 0; i < plan_.sections().size(); ++i) add_section(i);
    out_ += "</svg>\n";
    return std::move(out_);
  }

private:
  using row = seat_plan::row;

  [[nodiscard]] int scaled(std::int32_t cm) const { return static_cast<int>(std::lround(cm / unit_)); }
  [[nodiscard]] plan_point scaled(plan_point p) const { return {scaled(p.x), scaled(p.y)}; }
  [[nodiscard]] plan_point at(seat_number n) const { return scaled(plan_.seats()[n].at); }

  [[nodiscard]] frame extent() const {
    const auto focus = scaled(plan_.focus());
    frame f{focus.x, focus.y, focus.x, focus.y};
    const auto take = [&](plan_point p) {
      f = {std::min(f.left, p.x), std::min(f.top, p.y), std::max(f.right, p.x), std::max(f.bottom, p.y)};
    };
    for (seat_number n = 0; n < plan_.seats().size(); ++n) take(at(n));
    for (const auto& a : plan_.areas()) {
      take(scaled(a.corner));
      take(scaled(plan_point{a.corner.x + a.width, a.corner.y + a.height}));
    }
    return {f.left - margin, f.top - margin, f.right + margin, f.bottom + margin};
  }

  void add_number(int value) {
    char text[16];
    out_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
  }
  void add_numbers(std::initializer_list<int> values) {
    const char* between = "";
    for (const int v : values) {
      out_ += between;
      add_number(v);
      between = " ";
    }
  }
  void add_attribute(std::string_view name, int value) {
    out_.append(" ").append(name).append("=\"");
    add_number(value);
    out_ += '"';
  }
  void add_escaped(std::string_view text) {
    for (const char c : text) {
      if (c == '&')
        out_ += "&amp;";
      else if (c == '<')
        out_ += "&lt;";
      else if (c == '>')
        out_ += "&gt;";
      else if (c == '"')
        out_ += "&quot;";
      else if (c == '\'')
        out_ += "&#39;";
      else
        out_ += c;
    }
  }
  void add_label(std::string_view attributes, plan_point p, std::string_view text) {
    if (text.empty()) return;
    out_.append("<text").append(attributes);
    add_attribute("x", p.x);
    add_attribute("y", p.y);
    out_ += '>';
    add_escaped(text);
    out_ += "</text>";
  }
  /// Begins a group; `name` and `index` become its id.
  void begin_group(std::string_view name, std::size_t index, std::string_view classes) {
    out_.append("<g id=\"").append(name).append("-");
    add_number(static_cast<int>(index));
    out_.append("\" class=\"").append(classes).append("\">");
  }

  void add_stage(const frame& f) {
    const auto focus = scaled(plan_.focus());
    const int width = (f.right - f.left) / 4;
    out_ += R"(<rect class="stage")";
    add_attribute("x", focus.x - width / 2);
    add_attribute("y", focus.y - pitch);
    add_attribute("width", width);
    add_attribute("height", pitch);
    out_ += R"( rx="6"/>)";
  }

  void add_area(std::size_t index) {
    const auto& area = plan_.areas()[index];
    begin_group("area", index, "area t" + std::to_string(area.type));
    const auto corner = scaled(area.corner);
    out_ += "<rect";
    add_attribute("x", corner.x);
    add_attribute("y", corner.y);
    add_attribute("width", std::max(scaled(area.width), 1));
    add_attribute("height", std::max(scaled(area.height), 1));
    out_ += R"( rx="6"/>)";
    add_label(title_attributes(pitch),
              scaled(plan_point{area.corner.x + area.width / 2, area.corner.y + area.height / 2}),
              (area.name.empty() ? area.code : area.name) + " · " + std::to_string(area.places));
    out_ += "</g>";
  }

  void add_section(std::size_t index) {
    const auto& section = plan_.sections()[index];
    begin_group("section", index, "section");
    const auto rows = plan_.rows().subspan(section.first_row, section.rows);
    if (!rows.empty()) {
      add_outline(rows);
      add_title(rows.front(), section.name.empty() ? section.code : section.name);
    }
    for (const auto& r : rows) add_row(r);
    out_ += "</g>";
  }

  /// In front of the middle of the first row, larger for a wide one.
  void add_title(const row& first, std::string_view text) {
    const auto a = at(first.first), b = at(first.first + first.count - 1u);
    const int size = std::clamp(std::abs(b.x - a.x) / 16, pitch, 3 * pitch);
    const double before = pitch + size / 2.0;
    const auto middle = at(first.first + first.count / 2), focus = scaled(plan_.focus());
    const double dx = focus.x - middle.x, dy = focus.y - middle.y, length = std::max(std::hypot(dx, dy), 1.0);
    const plan_point place{static_cast<std::int32_t>(std::lround((a.x + b.x) / 2.0 + dx / length * before)),
                           static_cast<std::int32_t>(std::lround(middle.y + dy / length * before))};
    add_label(title_attributes(size), place, text);
  }

  static std::string title_attributes(int size) {
    return " class=\"title\" font-size=\"" + std::to_string(size) + "\"";
  }

  /// Along the first row, the right ends, the last row, and the left ends.
  void add_outline(std::span<const row> rows) {
    std::vector<seat_number> corners;
    const auto add_ends = [&](const row& r, bool is_reversed) {
      const auto steps = std::min<std::uint32_t>(r.count - 1u, 16);
      for (std::uint32_t i = 0; i <= steps; ++i) {
        const auto step = steps == 0 ? 0 : (is_reversed ? steps - i : i) * (r.count - 1u) / steps;
        corners.push_back(r.first + step);
      }
    };
    add_ends(rows.front(), false);
    for (std::size_t i = 1; i + 1 < rows.size(); ++i) corners.push_back(rows[i].first + rows[i].count - 1u);
    if (rows.size() > 1) add_ends(rows.back(), true);
    for (std::size_t i = rows.size() - 1; i > 1; --i) corners.push_back(rows[i - 1].first);
    out_ += R"(<path class="outline" d="M)";
    const char* between = "";
    for (const auto n : corners) {
      out_ += between;
      add_numbers({at(n).x, at(n).y});
      between = "L";
    }
    out_ += "Z\"/>";
  }

  void add_row(const row& r) {
    const auto origin = at(r.first);
    out_ += R"(<g class="row" data-row=")";
    add_escaped(r.name);
    out_ += R"(" transform="translate()";
    add_numbers({origin.x, origin.y});
    out_ += ")\">";
    add_label(R"( class="row-label")", label_place(r, origin), r.label);
    int type = -1;
    for (auto n = r.first; n < r.first + r.count; ++n) {
      const auto& seat = plan_.seats()[n];
      if (seat.type != type) {
        out_ += type < 0 ? "<g class=\"t" : "</g><g class=\"t";
        add_number(type = seat.type);
        out_ += "\">";
      }
      add_seat(n, seat, origin);
    }
    out_ += "</g></g>";
  }

  /// Before the first seat, in the direction of the row.
  [[nodiscard]] plan_point label_place(const row& r, plan_point origin) const {
    constexpr double before = 1.2 * pitch;
    const auto next = r.count > 1 ? at(r.first + 1) : plan_point{origin.x + 1, origin.y};
    const double dx = origin.x - next.x, dy = origin.y - next.y, length = std::max(std::hypot(dx, dy), 1.0);
    return {static_cast<std::int32_t>(std::lround(dx / length * before)),
            static_cast<std::int32_t>(std::lround(dy / length * before))};
  }

  void add_seat(seat_number n, const seat_plan::seat& seat, plan_point origin) {
    out_ += "<circle id=\"s";
    add_number(static_cast<int>(n));
    out_ += '"';
    const auto p = scaled(seat.at);
    if (p.x != origin.x) add_attribute("cx", p.x - origin.x);
    if (p.y != origin.y) add_attribute("cy", p.y - origin.y);
    if ((seat.traits & shown_traits) != 0) {
      out_ += " class=\"";
      if (seat.has(seat_plan::accessible)) out_ += 'a';
      if (seat.has(seat_plan::companion)) out_ += seat.has(seat_plan::accessible) ? " c" : "c";
      if (seat.has(seat_plan::obstructed))
        out_ += (seat.traits & (seat_plan::accessible | seat_plan::companion)) != 0 ? " o" : "o";
      out_ += '"';
    }
    out_ += "/>";
  }

  const seat_plan& plan_;
  double unit_; ///< centimetres per unit of the drawing
  std::string out_;
};

} // namespace

std::string draw(const seat_plan& plan, drawing_style style) { return drawer{plan}.run(style); }

} // namespace fq
