// SPDX-License-Identifier: Apache-2.0
// A line for the plan, each ticket type, section, row and area: a letter and its fields, with a tab between
// them, which no text of a plan contains. The last field of a row has its seats: "label,x,y,type,traits" with
// a blank between them.
#include "domain/seats/plan_text.hpp"

#include <algorithm>
#include <charconv>

namespace fq {
namespace {

void append_field(std::string& out, const std::string& text) { out.append("\t").append(text); }
void append_field(std::string& out, std::int64_t number) { append_field(out, std::to_string(number)); }

template <class... Fields>
void append_line(std::string& out, char kind, const Fields&... fields) {
  out += kind;
  (append_field(out, fields), ...);
  out += '\n';
}

std::string seats_of(const seat_plan& plan, const seat_plan::row& row) {
  std::string out;
  for (auto n = row.first; n < row.first + row.count; ++n) {
    const auto& s = plan.seats()[n];
    if (!out.empty()) out += ' ';
    out.append(plan.label_of(n)) += ',';
    out.append(std::to_string(s.at.x)) += ',';
    out.append(std::to_string(s.at.y)) += ',';
    out.append(std::to_string(s.type)) += ',';
    out += std::to_string(s.traits);
  }
  return out;
}

/// The parts of a text between separators; `is_sound` is false after a part that is absent or not a number.
class parts {
public:
  parts(std::string_view text, char separator) : left_(text), separator_(separator) {}

  [[nodiscard]] bool has_more() const { return !is_over_; }
  std::string_view text() {
    if (is_over_) {
      is_sound_ = false;
      return {};
    }
    const auto end = left_.find(separator_);
    const auto part = left_.substr(0, end);
    is_over_ = end == std::string_view::npos;
    left_ = is_over_ ? std::string_view{} : left_.substr(end + 1);
    return part;
  }
  template <class Number>
  void read(Number& to) {
    const auto part = text();
    const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), to);
    if (failed != std::errc{} || end != part.data() + part.size()) is_sound_ = false;
  }
  void read(std::string& to) { to = text(); }
  /// Whether everything was read, and nothing more is there.
  [[nodiscard]] bool is_done() const { return is_sound_ && is_over_; }

private:
  std::string_view left_;
  char separator_;
  bool is_over_ = false, is_sound_ = true;
};

bool read_seat(std::string_view text, draft_seat& to) {
  parts seat{text, ','};
  unsigned traits = 0;
  seat.read(to.label);
  seat.read(to.at.x);
  seat.read(to.at.y);
  seat.read(to.type);
  seat.read(traits);
  to.accessible = (traits & seat_plan::accessible) != 0;
  to.companion = (traits & seat_plan::companion) != 0;
  to.obstructed = (traits & seat_plan::obstructed) != 0;
  to.aisle = (traits & seat_plan::aisle) != 0;
  return seat.is_done();
}

bool read_row(parts& line, plan_draft& draft) {
  if (draft.sections.empty()) return false;
  auto& row = draft.sections.back().rows.emplace_back();
  line.read(row.label);
  parts seats{line.text(), ' '};
  while (seats.has_more())
    if (!read_seat(seats.text(), row.seats.emplace_back())) return false;
  return true;
}

bool read_line(std::string_view text, plan_draft& draft) {
  parts line{text, '\t'};
  const auto kind = line.text();
  if (kind == "p") {
    auto& focus = draft.focus.emplace();
    line.read(draft.name);
    line.read(focus.x);
    line.read(focus.y);
  } else if (kind == "t") {
    line.read(draft.ticket_types.emplace_back());
  } else if (kind == "s") {
    auto& section = draft.sections.emplace_back();
    line.read(section.code);
    line.read(section.name);
    line.read(section.rank);
  } else if (kind == "a") {
    auto& area = draft.areas.emplace_back();
    line.read(area.code);
    line.read(area.name);
    for (auto* number : {&area.type, &area.places}) line.read(*number);
    for (auto* number : {&area.corner.x, &area.corner.y, &area.width, &area.height}) line.read(*number);
  } else if (kind != "r" || !read_row(line, draft)) {
    return false;
  }
  return line.is_done();
}

} // namespace

std::string text_of(const seat_plan& plan) {
  std::string out;
  append_line(out, 'p', plan.name(), plan.focus().x, plan.focus().y);
  for (const auto& type : plan.ticket_types()) append_line(out, 't', type);
  for (const auto& section : plan.sections()) {
    append_line(out, 's', section.code, section.name, section.rank);
    for (const auto& row : plan.rows().subspan(section.first_row, section.rows))
      append_line(out, 'r', row.label, seats_of(plan, row));
  }
  for (const auto& a : plan.areas())
    append_line(out, 'a', a.code, a.name, a.type, a.places, a.corner.x, a.corner.y, a.width, a.height);
  return out;
}

std::string with_type_names(std::string_view text, std::span<const std::string> names) {
  std::string out;
  while (!names.empty() && !text.empty()) {
    const auto line = text.substr(0, text.find('\n')).size() + 1;
    const bool is_type = text.starts_with("t\t");
    if (is_type && !names.front().empty())
      append_line(out, 't', names.front());
    else
      out += text.substr(0, line);
    if (is_type) names = names.subspan(1);
    text.remove_prefix(std::min(line, text.size()));
  }
  return out += text;
}

std::shared_ptr<const seat_plan> plan_of_text(std::string_view text) {
  plan_draft draft;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos || !read_line(text.substr(0, end), draft)) return nullptr;
    text.remove_prefix(end + 1);
  }
  return make_plan(draft).plan;
}

} // namespace fq
