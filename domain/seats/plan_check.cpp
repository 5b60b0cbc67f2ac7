// SPDX-License-Identifier: Apache-2.0
// The rules of a draft. A place is made only for an error.
#include "domain/seats/plan.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace fq {
namespace {

/// Text for people that is safe in SVG and CSV. A spreadsheet takes some beginnings for a formula; a reader
/// that splits at semicolons takes what follows one for a cell.
bool is_plan_text(std::string_view text) {
  if (text.size() > plan_text_max) return false;
  if (!text.empty() && std::string_view{"=+-@"}.find(text.front()) != std::string_view::npos) return false;
  const bool has_odd = std::ranges::any_of(text, [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u < 0x20 || u == 0x7f || c == ';';
  });
  const auto has = [&](std::string_view code) { return text.find(code) != std::string_view::npos; };
  return !has_odd && !has("\xef\xbf\xbe") && !has("\xef\xbf\xbf"); // U+FFFE and U+FFFF are not XML
}

bool is_in_extent(plan_point p) {
  const auto fits = [](std::int32_t v) { return v >= 0 && v <= plan_extent_max; };
  return fits(p.x) && fits(p.y);
}

std::string indexed(std::string_view list, std::size_t i) {
  return std::string{list} + "[" + std::to_string(i) + "]";
}

std::string between(std::uint64_t low, std::uint64_t high, std::string_view unit) {
  return "Must be " + std::to_string(low) + " to " + std::to_string(high) + std::string{unit} + ".";
}

std::string at_most(std::size_t limit, std::string_view what) {
  return "A plan has at most " + std::to_string(limit) + " " + std::string{what} + ".";
}

const std::string text_rule =
  "Must have at most " + std::to_string(plan_text_max)
  + " bytes, without control characters and semicolons, and not begin with = + - @.";
const std::string label_rule = between(1, seat_label_max, " letters, digits, dots or underscores");
const std::string extent_rule = between(0, plan_extent_max, " cm");
constexpr std::string_view type_rule = "Must be one of the plan's ticket types.";

/// Where an object of the draft is.
struct draft_place {
  std::uint32_t line = 0;
  std::size_t section = 0, row = 0, seat = 0;
  int depth = 0; ///< 1: a section, 2: a row, 3: a seat
};

class plan_check {
public:
  explicit plan_check(const plan_draft& draft) : draft_(draft) {}

  std::vector<plan_error> run() {
    check_types();
    if (!is_plan_text(draft_.name)) add(0, "name", text_rule);
    if (draft_.focus && !is_in_extent(*draft_.focus)) add(0, "focus", extent_rule);
    if (draft_.sections.size() > plan_sections_max)
      add(0, "sections", at_most(plan_sections_max, "sections"));
    for (std::size_t i = 0; i < draft_.sections.size() && !is_full(); ++i) check_section(i);
    if (rows_ > plan_rows_max) add(0, "sections", at_most(plan_rows_max, "rows"));
    if (seats_ > plan_seats_max) add(0, "sections", at_most(plan_seats_max, "seats"));
    if (draft_.areas.size() > plan_areas_max) add(0, "areas", at_most(plan_areas_max, "standing areas"));
    for (std::size_t i = 0; i < draft_.areas.size() && !is_full(); ++i) check_area(i);
    if (seats_ == 0 && draft_.areas.empty()) add(0, "sections", "A plan has at least one seat or area.");
    return std::move(errors_);
  }

private:
  [[nodiscard]] bool is_full() const { return errors_.size() >= plan_errors_max; }
  void add(std::uint32_t line, std::string place, std::string_view what) {
    if (!is_full()) errors_.push_back({line, std::move(place), std::string{what}});
  }
  void add(const draft_place& at, std::string_view field, std::string_view what) {
    if (is_full()) return;
    auto place = indexed("sections", at.section);
    if (at.depth > 1) place += "." + indexed("rows", at.row);
    if (at.depth > 2) place += "." + indexed("seats", at.seat);
    add(at.line, place.append(".").append(field), what);
  }

  void check_types() {
    const auto& types = draft_.ticket_types;
    if (types.empty() || types.size() > plan_types_max)
      add(0, "ticket_types", between(1, plan_types_max, " ticket types"));
    for (std::size_t i = 0; i < types.size() && !is_full(); ++i) {
      if (types[i].empty() || !is_plan_text(types[i])) add(0, indexed("ticket_types", i), text_rule);
      if (std::find(types.begin(), types.begin() + static_cast<std::ptrdiff_t>(i), types[i])
          != types.begin() + static_cast<std::ptrdiff_t>(i))
        add(0, indexed("ticket_types", i), "Is given twice.");
    }
  }

  void check_section(std::size_t i) {
    const auto& section = draft_.sections[i];
    const draft_place at{section.line, i, 0, 0, 1};
    if (!section.code.empty() && !is_seat_label(section.code)) add(at, "section", label_rule);
    if (!codes_.insert(section.code).second) add(at, "section", "Another section has this code.");
    if (!is_plan_text(section.name)) add(at, "name", text_rule);
    if (section.rank > section_rank_max) add(at, "rank", between(0, section_rank_max, ""));
    for (std::size_t j = 0; j < section.rows.size() && !is_full(); ++j) check_row(i, j);
  }

  void check_row(std::size_t i, std::size_t j) {
    const auto& section = draft_.sections[i];
    const auto& row = section.rows[j];
    const draft_place at{row.line, i, j, 0, 2};
    ++rows_;
    if (!row.label.empty() && !is_seat_label(row.label)) add(at, "row", label_rule);
    const auto name = row_name(section.code, row.label);
    if (name.empty())
      add(at, "row", "A row without label needs a section with a code.");
    else if (!row_names_.insert(name).second)
      add(at, "row", "Another row has the name " + name + ".");
    if (row.seats.empty() || row.seats.size() > row_seats_max)
      add(at, "seats", between(1, row_seats_max, " seats"));
    seats_ += row.seats.size();
    if (seats_ > plan_seats_max) return; // one error says it
    std::unordered_set<std::string_view> labels;
    for (std::size_t k = 0; k < row.seats.size() && !is_full(); ++k) {
      const auto& seat = row.seats[k];
      const draft_place here{seat.line, i, j, k, 3};
      if (!labels.insert(seat.label).second) add(here, "seat", "Another seat of the row has this label.");
      check_seat(seat, here, name);
    }
  }

  void check_seat(const draft_seat& seat, const draft_place& at, const std::string& row) {
    if (!is_seat_label(seat.label)) add(at, "seat", label_rule);
    if (seat.type >= draft_.ticket_types.size()) add(at, "ticket_type", type_rule);
    if (!is_in_extent(seat.at)) return add(at, "x", extent_rule);
    const auto position = static_cast<std::uint64_t>(seat.at.x) << 32 | static_cast<std::uint32_t>(seat.at.y);
    const auto [other, is_new] = taken_.try_emplace(position, row + "-" + seat.label);
    if (!is_new) add(at, "x", "Seat " + other->second + " stands at the same place.");
  }

  void check_area(std::size_t i) {
    const auto& area = draft_.areas[i];
    const auto place = [&](std::string_view field) { return indexed("areas", i).append(".").append(field); };
    if (!is_seat_label(area.code)) add(area.line, place("area"), label_rule);
    if (!area_codes_.insert(area.code).second) add(area.line, place("area"), "Another area has this code.");
    if (!is_plan_text(area.name)) add(area.line, place("name"), text_rule);
    if (area.type >= draft_.ticket_types.size()) add(area.line, place("ticket_type"), type_rule);
    if (area.places == 0 || area.places > area_places_max)
      add(area.line, place("places"), between(1, area_places_max, ""));
    const auto fits = [](std::int32_t size) { return size >= 1 && size <= plan_extent_max; };
    if (!fits(area.width) || !fits(area.height))
      add(area.line, place("width"), between(1, plan_extent_max, " cm, as the height"));
    else if (!is_in_extent(area.corner)
             || !is_in_extent({area.corner.x + area.width, area.corner.y + area.height}))
      add(area.line, place("x"), extent_rule);
  }

  const plan_draft& draft_;
  std::vector<plan_error> errors_;
  std::unordered_set<std::string_view> codes_, area_codes_;
  std::unordered_set<std::string> row_names_;
  std::unordered_map<std::uint64_t, std::string> taken_; ///< position -> name of the seat there
  std::size_t rows_ = 0, seats_ = 0;
};

} // namespace

bool is_seat_label(std::string_view text) {
  return !text.empty() && text.size() <= seat_label_max && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_';
  });
}

std::vector<plan_error> errors_of(const plan_draft& draft) { return plan_check{draft}.run(); }

} // namespace fq
