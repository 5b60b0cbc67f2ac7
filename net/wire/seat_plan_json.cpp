// SPDX-License-Identifier: Apache-2.0
// Seat plans as JSON. A row's ticket_type is the default of its seats.
#include "net/http/json_text.hpp"
#include "net/wire/json_file.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/limits.hpp"
#include "net/wire/seat_plan_codec.hpp"

#include <algorithm>
#include <utility>

namespace fq::net {
namespace {

constexpr range coordinate{0, plan_extent_max};
constexpr range short_text{0, plan_text_max};
/// Objects and arrays of the largest plan: seats, rows with their lists, sections with theirs, areas, others.
constexpr std::size_t plan_objects =
  plan_seats_max + 2 * plan_rows_max + 2 * plan_sections_max + plan_areas_max + 10;

/// Reads the members of objects into a draft.
class plan_reader {
public:
  explicit plan_reader(plan_draft& draft) : draft_(draft) {}

  void read(object_reader& plan) {
    draft_.name = plan.text("name", short_text).value;
    plan.object("focus", [this](object_reader& focus) { draft_.focus = read_point(focus); });
    plan.require("ticket_types");
    draft_.ticket_types = plan.texts("ticket_types", {1, plan_types_max}, {1, plan_text_max});
    plan.objects("sections", {0, plan_sections_max}, [this](object_reader& o) { read_section(o); });
    plan.objects("areas", {0, plan_areas_max}, [this](object_reader& o) { read_area(o); });
  }

private:
  static plan_point read_point(object_reader& o) {
    o.require("x");
    o.require("y");
    return {o.number<std::int32_t>("x", coordinate).value, o.number<std::int32_t>("y", coordinate).value};
  }
  static std::string read_label(object_reader& o, std::string_view name, std::int64_t shortest) {
    return o.text(name, {shortest, seat_label_max}).value;
  }

  /// Index of the type that the object names; `otherwise` if it names none.
  std::uint32_t read_type(object_reader& o, std::optional<std::uint32_t> otherwise) const {
    if (!otherwise) o.require("ticket_type");
    const auto name = o.text("ticket_type", {1, plan_text_max});
    if (!name.given) return otherwise.value_or(0);
    const auto found = std::ranges::find(draft_.ticket_types, name.value);
    if (found != draft_.ticket_types.end())
      return static_cast<std::uint32_t>(found - draft_.ticket_types.begin());
    o.reject("ticket_type", "Must be one of ticket_types.");
    return 0;
  }

  void read_section(object_reader& o) {
    draft_section section;
    section.code = read_label(o, "section", 0);
    section.name = o.text("name", short_text).value;
    section.rank = o.number<std::uint32_t>("rank", {0, section_rank_max}).value;
    o.require("rows");
    o.objects("rows", {0, json_elements_max}, [&](object_reader& r) { section.rows.push_back(read_row(r)); });
    draft_.sections.push_back(std::move(section));
  }

  draft_row read_row(object_reader& o) const {
    draft_row row;
    row.label = read_label(o, "row", 0);
    std::optional<std::uint32_t> type;
    if (o.has("ticket_type")) type = read_type(o, std::nullopt);
    o.require("seats");
    o.objects("seats", {1, row_seats_max},
              [&](object_reader& s) { row.seats.push_back(read_seat(s, type)); });
    return row;
  }

  draft_seat read_seat(object_reader& o, std::optional<std::uint32_t> type) const {
    draft_seat seat;
    o.require("seat");
    seat.label = read_label(o, "seat", 1);
    seat.at = read_point(o);
    seat.type = read_type(o, type);
    seat.accessible = o.flag("accessible").value;
    seat.companion = o.flag("companion").value;
    seat.obstructed = o.flag("obstructed").value;
    seat.aisle = o.flag("aisle").value;
    return seat;
  }

  void read_area(object_reader& o) {
    standing_area area;
    o.require("area");
    area.code = read_label(o, "area", 1);
    area.name = o.text("name", short_text).value;
    area.type = read_type(o, std::nullopt);
    o.require("places");
    area.places = o.number<std::uint32_t>("places", {1, area_places_max}).value;
    area.corner = read_point(o);
    o.require("width");
    o.require("height");
    area.width = o.number<std::int32_t>("width", {1, plan_extent_max}).value;
    area.height = o.number<std::int32_t>("height", {1, plan_extent_max}).value;
    draft_.areas.push_back(std::move(area));
  }

  plan_draft& draft_;
};

/// The path of the object or list that has the value; empty for the document.
std::string parent_of(const std::string& path) {
  const auto end = path.find_last_of(".[");
  return end == std::string::npos ? std::string{} : path.substr(0, end);
}

/// The line of each error: of its value, or of what would contain it.
void add_lines(std::string_view text, std::vector<plan_error>& errors) {
  std::unordered_map<std::string, std::uint32_t> lines;
  for (const auto& e : errors)
    for (auto path = e.place; !path.empty(); path = parent_of(path)) lines.emplace(path, 0);
  find_lines(text, lines);
  for (auto& e : errors) {
    e.line = 1;
    for (auto path = e.place; !path.empty(); path = parent_of(path))
      if (const auto line = lines.at(path); line != 0) {
        e.line = line;
        break;
      }
  }
}

// -- out

void append_member(std::string& out, std::string_view name, std::string_view text) {
  out.append("\"").append(name).append("\":");
  append_text(out, text);
}
void append_member(std::string& out, std::string_view name, std::int64_t number) {
  out.append("\"").append(name).append("\":");
  append_number(out, number);
}
void append_point(std::string& out, plan_point p) {
  append_member(out, "x", p.x);
  out += ',';
  append_member(out, "y", p.y);
}

class plan_writer {
public:
  explicit plan_writer(const seat_plan& plan) : plan_(plan) {}

  std::string run() {
    out_.reserve(plan_.seats().size() * 48 + 4'096);
    out_ += '{';
    append_member(out_, "name", plan_.name());
    out_ += ",\"focus\":{";
    append_point(out_, plan_.focus());
    out_ += "},\n\"ticket_types\":[";
    add_list(plan_.ticket_types(), [this](const std::string& type) { append_text(out_, type); });
    out_ += "],\n\"sections\":[";
    add_list(plan_.sections(), [this](const seat_plan::section& s) { add_section(s); });
    out_ += "],\n\"areas\":[";
    add_list(plan_.areas(), [this](const standing_area& a) { add_area(a); });
    out_ += "]}\n";
    return std::move(out_);
  }

private:
  template <class List, class Add>
  void add_list(const List& list, Add add) {
    bool is_first = true;
    for (const auto& element : list) {
      if (!std::exchange(is_first, false)) out_ += ',';
      add(element);
    }
  }
  void add_section(const seat_plan::section& section) {
    out_ += "\n{";
    append_member(out_, "section", section.code);
    out_ += ',';
    append_member(out_, "name", section.name);
    out_ += ',';
    append_member(out_, "rank", section.rank);
    out_ += ",\"rows\":[";
    add_list(plan_.rows().subspan(section.first_row, section.rows),
             [this](const seat_plan::row& r) { add_row(r); });
    out_ += "]}";
  }
  void add_row(const seat_plan::row& row) {
    const auto type = plan_.seats()[row.first].type;
    out_ += "\n{";
    append_member(out_, "row", row.label);
    out_ += ',';
    append_member(out_, "ticket_type", plan_.ticket_types()[type]);
    out_ += ",\"seats\":[";
    for (auto n = row.first; n < row.first + row.count; ++n) {
      out_ += n == row.first ? "\n{" : ",\n{";
      add_seat(n, type);
    }
    out_ += "]}";
  }
  void add_seat(seat_number n, std::uint8_t usual) {
    const auto& seat = plan_.seats()[n];
    append_member(out_, "seat", plan_.label_of(n));
    out_ += ',';
    append_point(out_, seat.at);
    if (seat.type != usual) {
      out_ += ',';
      append_member(out_, "ticket_type", plan_.ticket_types()[seat.type]);
    }
    if (seat.has(seat_plan::accessible)) out_ += ",\"accessible\":true";
    if (seat.has(seat_plan::companion)) out_ += ",\"companion\":true";
    if (seat.has(seat_plan::obstructed)) out_ += ",\"obstructed\":true";
    if (seat.has(seat_plan::aisle)) out_ += ",\"aisle\":true";
    out_ += '}';
  }
  void add_area(const standing_area& area) {
    out_ += "\n{";
    append_member(out_, "area", area.code);
    out_ += ',';
    append_member(out_, "name", area.name);
    out_ += ',';
    append_member(out_, "ticket_type", plan_.ticket_types()[area.type]);
    out_ += ',';
    append_member(out_, "places", area.places);
    out_ += ',';
    append_point(out_, area.corner);
    out_ += ',';
    append_member(out_, "width", area.width);
    out_ += ',';
    append_member(out_, "height", area.height);
    out_ += '}';
  }

  const seat_plan& plan_;
  std::string out_;
};

} // namespace

made_plan plan_of_json(std::string_view text) {
  if (text.size() > plan_bytes_max) return {nullptr, {{1, "", "The file is too large."}}};
  const auto file = read_json_file(text, plan_objects);
  if (!file.problem.empty()) return {nullptr, {{file.line, "", "This is not JSON: " + file.problem + "."}}};
  plan_draft draft;
  json_errors wrong;
  object_reader top{file.root, {}, wrong};
  plan_reader{draft}.read(top);
  top.finish();
  made_plan made;
  if (wrong.any())
    for (const auto& e : wrong.list()) made.errors.push_back({0, e.field, e.detail});
  else
    made = make_plan(draft);
  if (!made.errors.empty()) add_lines(text, made.errors);
  return made;
}

std::string json_of(const seat_plan& plan) { return plan_writer{plan}.run(); }

} // namespace fq::net
