// SPDX-License-Identifier: Apache-2.0
// Seat plans as CSV: one line for each object, so that a spreadsheet can make and change them.
#include "net/http/json_text.hpp"
#include "net/wire/csv.hpp"
#include "net/wire/csv_in.hpp"
#include "net/wire/limits.hpp"
#include "net/wire/seat_plan_codec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

namespace fq::net {
namespace {

enum class column : std::uint8_t {
  kind,
  section,
  row,
  seat,
  x,
  y,
  ticket_type,
  accessible,
  companion,
  obstructed,
  aisle,
  name,
  rank,
  area,
  places,
  width,
  height,
  count_
};
constexpr auto columns = static_cast<std::size_t>(column::count_);
constexpr std::array<std::string_view, columns> column_names{
  "kind",       "section", "row",  "seat", "x",    "y",      "ticket_type", "accessible", "companion",
  "obstructed", "aisle",   "name", "rank", "area", "places", "width",       "height"};
constexpr std::string_view column_name(column c) { return column_names[static_cast<std::size_t>(c)]; }

/// The cells of one line by column. `finish` reports the cells that were not read.
class csv_line {
public:
  csv_line(std::uint32_t line, std::vector<plan_error>& errors) : line_(line), errors_(errors) {}

  void put(column c, std::string_view cell) { cells_[static_cast<std::size_t>(c)] = cell; }
  std::string_view text(column c) {
    const auto cell = std::exchange(cells_[static_cast<std::size_t>(c)], {});
    return cell;
  }
  std::uint32_t number(column c, std::uint64_t most, std::string_view cell) {
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (failed != std::errc{} || end != cell.data() + cell.size() || value > most) {
      add(c, "Must be a number from 0 to " + std::to_string(most) + ".");
      return 0;
    }
    return static_cast<std::uint32_t>(value);
  }
  /// Required.
  std::uint32_t number(column c, std::uint64_t most) { return number(c, most, text(c)); }
  std::uint32_t number_or_zero(column c, std::uint64_t most) {
    const auto cell = text(c);
    return cell.empty() ? 0 : number(c, most, cell);
  }
  plan_point point() {
    const auto x = number(column::x, plan_extent_max), y = number(column::y, plan_extent_max);
    return {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y)};
  }
  /// 1 or true; 0, false or nothing.
  bool flag(column c) {
    const auto cell = text(c);
    const bool is_set = cell == "1" || cell == "true";
    if (!is_set && !cell.empty() && cell != "0" && cell != "false")
      add(c, "Must be 1, 0, true, false or empty.");
    return is_set;
  }
  void add(column c, std::string what) {
    errors_.push_back({line_, std::string{column_name(c)}, std::move(what)});
  }
  void finish(std::string_view kind) {
    for (std::size_t i = 0; i < columns; ++i)
      if (!cells_[i].empty())
        add(column{static_cast<std::uint8_t>(i)}, "Not used in a line of kind " + std::string{kind} + ".");
  }
  [[nodiscard]] std::uint32_t line() const { return line_; }

private:
  std::uint32_t line_;
  std::array<std::string_view, columns> cells_{};
  std::vector<plan_error>& errors_;
};

class csv_plan_reader {
public:
  explicit csv_plan_reader(std::string_view text) : csv_(text) {}

  made_plan run() {
    auto made = read();
    if (made.errors.size() > plan_errors_max) made.errors.resize(plan_errors_max);
    return made;
  }

private:
  made_plan read() {
    std::vector<std::string> cells;
    if (!csv_.next(cells)) return {nullptr, {no_record("The file is empty.")}};
    if (!read_header(cells)) return {nullptr, std::move(errors_)};
    while (has_room() && csv_.next(cells)) read_record(cells);
    if (!csv_.problem().empty()) errors_.push_back(no_record(""));
    if (!errors_.empty()) return {nullptr, std::move(errors_)};
    auto made = make_plan(draft_);
    for (auto& e : made.errors) name_column(e);
    return made;
  }

  /// Beyond a limit the rest of the file does not matter: make_plan reports the limit.
  [[nodiscard]] bool has_room() const {
    return errors_.size() < plan_errors_max && seats_ <= plan_seats_max && rows_.size() <= plan_rows_max
           && draft_.sections.size() <= plan_sections_max && draft_.areas.size() <= plan_areas_max;
  }

  plan_error no_record(std::string_view otherwise) const {
    if (csv_.problem().empty()) return {1, "", std::string{otherwise}};
    return {csv_.line(), "", "This is not CSV: " + csv_.problem() + "."};
  }

  /// Turns the place of an error in the draft into a line and a column.
  void name_column(plan_error& e) const {
    constexpr std::string_view types = "ticket_types[";
    if (e.place.starts_with(types)) {
      e.line = type_lines_[std::stoul(e.place.substr(types.size()))];
      e.place = column_name(column::ticket_type);
    }
    if (e.line == 0) e.line = plan_line_;
    e.place.erase(0, e.place.rfind('.') + 1);
  }

  bool read_header(const std::vector<std::string>& cells) {
    for (const auto& cell : cells) {
      const auto found = std::ranges::find(column_names, cell);
      const auto c = column{static_cast<std::uint8_t>(found - column_names.begin())};
      if (found == column_names.end())
        errors_.push_back({csv_.line(), cell,
                           cell.find(';') == std::string::npos ? "There is no such column."
                                                               : "Columns must be separated by commas."});
      else if (std::ranges::find(header_, c) != header_.end())
        errors_.push_back({csv_.line(), cell, "The column is given twice."});
      header_.push_back(c);
    }
    return errors_.empty();
  }

  void read_record(const std::vector<std::string>& cells) {
    csv_line line{csv_.line(), errors_};
    if (cells.size() > header_.size())
      errors_.push_back({csv_.line(), "", "The line has more cells than the header."});
    for (std::size_t i = 0; i < cells.size() && i < header_.size(); ++i) line.put(header_[i], cells[i]);
    const auto kind = line.text(column::kind);
    if (kind.empty() || kind == "seat")
      read_seat(line);
    else if (kind == "plan")
      read_plan(line);
    else if (kind == "type")
      read_type(line);
    else if (kind == "section")
      read_section(line);
    else if (kind == "area")
      read_area(line);
    else
      return line.add(column::kind, "Must be plan, type, section, seat or area.");
    line.finish(kind.empty() ? "seat" : kind);
  }

  void read_plan(csv_line& line) {
    plan_line_ = line.line();
    draft_.name = line.text(column::name);
    draft_.focus = line.point();
  }

  void read_type(csv_line& line) {
    draft_.ticket_types.emplace_back(line.text(column::ticket_type));
    type_lines_.push_back(line.line());
    are_types_listed_ = true;
    if (draft_.ticket_types.size() > plan_types_max) line.add(column::ticket_type, "Too many ticket types.");
  }

  std::uint32_t type_of(csv_line& line) {
    const auto name = line.text(column::ticket_type);
    const auto found = std::ranges::find(draft_.ticket_types, name);
    const auto index = static_cast<std::uint32_t>(found - draft_.ticket_types.begin());
    if (name.empty())
      line.add(column::ticket_type, "Must be given.");
    else if (found == draft_.ticket_types.end() && are_types_listed_)
      line.add(column::ticket_type, "Must be one of the types in earlier lines.");
    else if (found == draft_.ticket_types.end() && index >= plan_types_max)
      line.add(column::ticket_type, "Too many ticket types.");
    else if (found == draft_.ticket_types.end()) {
      draft_.ticket_types.emplace_back(name);
      type_lines_.push_back(line.line());
    }
    return index;
  }

  std::size_t section_index(std::string_view code, std::uint32_t line) {
    const auto [place, is_new] = sections_.try_emplace(std::string{code}, draft_.sections.size());
    if (is_new) {
      draft_.sections.emplace_back().code = code;
      draft_.sections.back().line = line;
    }
    return place->second;
  }

  void read_section(csv_line& line) {
    const auto code = line.text(column::section);
    if (sections_.contains(std::string{code}))
      line.add(column::section, "Its line must stand before its seats, and once.");
    auto& section = draft_.sections[section_index(code, line.line())];
    section.name = line.text(column::name);
    section.rank = line.number_or_zero(column::rank, section_rank_max);
  }

  void read_seat(csv_line& line) {
    const auto in = section_index(line.text(column::section), line.line());
    auto& rows = draft_.sections[in].rows;
    const auto label = line.text(column::row);
    const auto [place, is_new] =
      rows_.try_emplace(std::to_string(in) + " " + std::string{label}, rows.size());
    if (is_new) {
      rows.emplace_back().label = label;
      rows.back().line = line.line();
    }
    draft_seat seat;
    seat.line = line.line();
    seat.label = line.text(column::seat);
    seat.at = line.point();
    seat.type = type_of(line);
    seat.accessible = line.flag(column::accessible);
    seat.companion = line.flag(column::companion);
    seat.obstructed = line.flag(column::obstructed);
    seat.aisle = line.flag(column::aisle);
    rows[place->second].seats.push_back(std::move(seat));
    ++seats_;
  }

  void read_area(csv_line& line) {
    standing_area area;
    area.line = line.line();
    area.code = line.text(column::area);
    area.name = line.text(column::name);
    area.type = type_of(line);
    area.places = line.number(column::places, area_places_max);
    area.corner = line.point();
    area.width = static_cast<std::int32_t>(line.number(column::width, plan_extent_max));
    area.height = static_cast<std::int32_t>(line.number(column::height, plan_extent_max));
    draft_.areas.push_back(std::move(area));
  }

  csv_reader csv_;
  plan_draft draft_;
  std::vector<plan_error> errors_;
  std::vector<column> header_;
  std::unordered_map<std::string, std::size_t> sections_; ///< by code
  std::unordered_map<std::string, std::size_t> rows_; ///< by section and label
  std::vector<std::uint32_t> type_lines_; ///< where each ticket type appears first
  std::uint32_t plan_line_ = 1; ///< of the line of kind plan; else of the header
  std::size_t seats_ = 0;
  bool are_types_listed_ = false;
};

// -- out

/// One line of the file; cells that stay empty are no column of its kind.
class out_line {
public:
  explicit out_line(std::string_view kind) { put(column::kind, kind); }

  out_line& put(column c, std::string_view text) {
    cells_[static_cast<std::size_t>(c)] = text;
    return *this;
  }
  out_line& put(column c, std::int64_t number) { return put(c, std::to_string(number)); }
  out_line& put(column c, const seat_plan::seat& seat, seat_plan::trait t) {
    return put(c, seat.has(t) ? "1" : "");
  }
  out_line& put(plan_point p) { return put(column::x, p.x).put(column::y, p.y); }

  void append_to(std::string& out) const {
    for (std::size_t i = 0; i < columns; ++i) {
      if (i > 0) out += ',';
      if (!cells_[i].empty()) append_csv_cell(out, cells_[i]);
    }
    out += "\r\n";
  }

private:
  std::array<std::string, columns> cells_;
};

void append_seats(std::string& out, const seat_plan& plan, const seat_plan::row& row) {
  for (auto n = row.first; n < row.first + row.count; ++n) {
    const auto& seat = plan.seats()[n];
    out_line{"seat"}
      .put(column::section, plan.sections()[row.section].code)
      .put(column::row, row.label)
      .put(column::seat, plan.label_of(n))
      .put(seat.at)
      .put(column::ticket_type, plan.ticket_types()[seat.type])
      .put(column::accessible, seat, seat_plan::accessible)
      .put(column::companion, seat, seat_plan::companion)
      .put(column::obstructed, seat, seat_plan::obstructed)
      .put(column::aisle, seat, seat_plan::aisle)
      .append_to(out);
  }
}

} // namespace

made_plan plan_of_csv(std::string_view text) {
  if (text.size() > plan_bytes_max) return {nullptr, {{1, "", "The file is too large."}}};
  return csv_plan_reader{text}.run();
}

std::string csv_of(const seat_plan& plan) {
  std::string out{csv_start};
  out.reserve(plan.seats().size() * 64 + 4'096);
  for (std::size_t i = 0; i < columns; ++i) out.append(i == 0 ? "" : ",").append(column_names[i]);
  out += "\r\n";
  out_line{"plan"}.put(column::name, plan.name()).put(plan.focus()).append_to(out);
  for (const auto& type : plan.ticket_types()) out_line{"type"}.put(column::ticket_type, type).append_to(out);
  for (const auto& s : plan.sections())
    out_line{"section"}
      .put(column::section, s.code)
      .put(column::name, s.name)
      .put(column::rank, s.rank)
      .append_to(out);
  for (const auto& row : plan.rows()) append_seats(out, plan, row);
  for (const auto& a : plan.areas())
    out_line{"area"}
      .put(column::area, a.code)
      .put(column::name, a.name)
      .put(column::ticket_type, plan.ticket_types()[a.type])
      .put(column::places, a.places)
      .put(a.corner)
      .put(column::width, a.width)
      .put(column::height, a.height)
      .append_to(out);
  return out;
}

} // namespace fq::net
