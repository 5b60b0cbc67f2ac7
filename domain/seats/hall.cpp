// SPDX-License-Identifier: Apache-2.0
#include "domain/seats/hall.hpp"

#include <algorithm>
#include <cmath>

namespace fq {
namespace {

constexpr std::int32_t margin_cm = 200;

std::int32_t length(std::int32_t given) { return std::clamp(given, std::int32_t{0}, plan_extent_max); }

/// With lengths and numbers that no sum overflows.
hall within_limits(hall h) {
  for (auto* value :
       {&h.radius, &h.stage_distance, &h.seat_width, &h.row_depth, &h.aisle_width, &h.section_gap})
    *value = length(*value);
  h.aisles = std::min(h.aisles, hall_row_seats_max);
  if (h.sections.size() > plan_sections_max) h.sections.resize(plan_sections_max);
  return h;
}

std::uint32_t index_of(std::vector<std::string>& types, const std::string& type) {
  const auto found = std::ranges::find(types, type);
  const auto index = static_cast<std::uint32_t>(found - types.begin());
  if (found == types.end()) types.push_back(type);
  return index;
}

/// A row whose middle is at (0, y).
class row_maker {
public:
  row_maker(const hall& hall, std::int32_t y) : hall_(hall), y_(y) {}

  void add_seats(std::uint32_t count, draft_row& to) const {
    if (count == 0) return;
    const auto parts = static_cast<std::int64_t>(hall_.aisles) + 1;
    const auto part_of = [&](std::int64_t i) { return (i * parts + parts - 1) / count; };
    const auto offset = [&](std::int64_t i) { return i * hall_.seat_width + part_of(i) * hall_.aisle_width; };
    const auto middle = static_cast<double>(offset(std::int64_t{count} - 1)) / 2;
    for (std::uint32_t i = 0; i < count; ++i) {
      draft_seat seat;
      seat.label = std::to_string(i + 1);
      seat.at = point_at(static_cast<double>(offset(i)) - middle);
      seat.aisle = i > 0 && part_of(i) != part_of(i - 1);
      to.seats.push_back(std::move(seat));
    }
  }

private:
  /// `along`: distance from the middle, along the row.
  [[nodiscard]] plan_point point_at(double along) const {
    if (hall_.radius <= 0) return {static_cast<std::int32_t>(std::lround(along)), y_};
    const double radius = hall_.radius + y_ - hall_.stage_distance;
    const double angle = along / radius;
    return {static_cast<std::int32_t>(std::lround(radius * std::sin(angle))),
            static_cast<std::int32_t>(std::lround(y_ - radius * (1 - std::cos(angle))))};
  }

  const hall& hall_;
  std::int32_t y_; ///< distance from the stage
};

/// Moves everything to coordinates that a plan can have.
void move_inside(plan_draft& draft) {
  auto low = *draft.focus;
  const auto each_point = [&](auto take) {
    for (auto& section : draft.sections)
      for (auto& row : section.rows)
        for (auto& seat : row.seats) take(seat.at);
    take(*draft.focus);
  };
  each_point([&](const plan_point& p) { low = {std::min(low.x, p.x), std::min(low.y, p.y)}; });
  each_point([&](plan_point& p) { p = {p.x - low.x + margin_cm, p.y - low.y + margin_cm}; });
}

} // namespace

std::string letters_of(std::uint32_t index) {
  std::string out;
  for (auto n = index + 1; n > 0; n = (n - 1) / 26)
    out.insert(out.begin(), static_cast<char>('A' + (n - 1) % 26));
  return out;
}

plan_draft draft_of(const hall& given) {
  const auto hall = within_limits(given);
  plan_draft draft;
  draft.name = hall.name;
  draft.focus = plan_point{};
  auto y = hall.stage_distance;
  std::size_t rows_made = 0, seats_made = 0;
  for (const auto& from : hall.sections) {
    draft_section section;
    section.code = from.code;
    section.name = from.name;
    const auto type = index_of(draft.ticket_types, from.ticket_type);
    const auto rows = std::min(from.rows, hall_rows_max);
    for (std::uint32_t r = 0; r < rows && y <= plan_extent_max; ++r, y += hall.row_depth) {
      if (++rows_made > plan_rows_max || seats_made >= plan_seats_max) break;
      draft_row row;
      row.label = hall.has_lettered_rows ? letters_of(r) : std::to_string(r + 1);
      const auto count = std::min(std::uint64_t{from.seats} + std::uint64_t{r} * from.widening,
                                  std::min(std::uint64_t{hall_row_seats_max}, plan_seats_max - seats_made));
      seats_made += count;
      row_maker{hall, y}.add_seats(static_cast<std::uint32_t>(count), row);
      for (auto& seat : row.seats) seat.type = type;
      for (std::size_t i = 0; r + 1 == rows && i + 1 < row.seats.size() && i / 2 < from.accessible; i += 2) {
        row.seats[i].accessible = true;
        row.seats[i + 1].companion = true;
      }
      section.rows.push_back(std::move(row));
    }
    draft.sections.push_back(std::move(section));
    y = std::min(y + hall.section_gap, plan_extent_max + 1);
  }
  move_inside(draft);
  return draft;
}

} // namespace fq
