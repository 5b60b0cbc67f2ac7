// SPDX-License-Identifier: Apache-2.0
// Small plans for tests: written out as text, or drawn from a seed.
#pragma once
#include "domain/seats/seat_map.hpp"
#include "tests/domain/sale/seeds.hpp"

#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fq::test {

/// One row: a letter per seat, lower case: ticket type 0; upper case: type 1. s: plain, a: accessible,
/// c: companion; '|': an aisle.
inline draft_row row_of(std::string label, std::string_view seats, std::int32_t y, std::int32_t x = 100) {
  draft_row row;
  row.label = std::move(label);
  bool has_aisle = false;
  for (const char c : seats) {
    if (c == '|') {
      has_aisle = true;
      x += 100;
      continue;
    }
    draft_seat seat;
    seat.label = std::to_string(row.seats.size() + 1);
    seat.at = {x, y};
    seat.type = c >= 'A' && c <= 'Z' ? 1 : 0;
    seat.accessible = c == 'a' || c == 'A';
    seat.companion = c == 'c' || c == 'C';
    seat.aisle = std::exchange(has_aisle, false);
    row.seats.push_back(std::move(seat));
    x += 50;
  }
  return row;
}

/// A hall of one section without code; rows "A", "B", ... from the front, centred on the focus.
inline plan_draft draft_of_rows(const std::vector<std::string_view>& rows) {
  plan_draft draft;
  draft.ticket_types = {"Parkett", "Balkon"};
  draft.focus = plan_point{1'000, 0};
  draft.sections.emplace_back();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto y = static_cast<std::int32_t>(100 * (i + 1));
    const auto x = 1'000 - static_cast<std::int32_t>(rows[i].size()) * 25;
    draft.sections.front().rows.push_back(row_of(std::string(1, static_cast<char>('A' + i)), rows[i], y, x));
  }
  return draft;
}

inline seat_map map_of(const plan_draft& draft, std::uint64_t version = 0) {
  const std::vector<std::uint8_t> types{0, 1};
  return {make_plan(draft).plan, types, version};
}

/// The seat's number; the name must be in the plan.
inline seat_number seat(const seat_map& map, std::string_view name) { return map.plan().find(name).value(); }

inline std::vector<seat_number> seats(const seat_map& map, const std::vector<std::string_view>& names) {
  std::vector<seat_number> found;
  for (const auto name : names) found.push_back(seat(map, name));
  return found;
}

/// "A-1 A-2".
inline std::string names_of(const seat_map& map, std::span<const seat_number> list) {
  std::string out;
  for (const auto n : list) out.append(out.empty() ? "" : " ").append(map.plan().name_of(n));
  return out;
}

inline plan_draft random_draft(dice& d) {
  plan_draft draft;
  draft.name = "Hall";
  draft.ticket_types = {"One", "Two"};
  draft.focus =
    plan_point{static_cast<std::int32_t>(d.below(1'500)), static_cast<std::int32_t>(d.below(300))};
  const auto sections = 1 + d.below(2);
  std::int32_t y = 200;
  for (std::uint64_t s = 0; s < sections; ++s) {
    draft_section section;
    section.code = std::string(1, static_cast<char>('P' + s));
    section.rank = static_cast<std::uint32_t>(d.below(2));
    const auto rows = 1 + d.below(4);
    for (std::uint64_t r = 0; r < rows; ++r, y += 90) {
      std::string text;
      const auto count = 1 + d.below(10);
      bool is_second_type = d.chance(20);
      for (std::uint64_t i = 0; i < count; ++i) {
        if (i > 0 && d.chance(8)) text += '|';
        if (d.chance(10)) is_second_type = !is_second_type;
        const char kind = d.chance(12) ? (d.chance(50) ? 'a' : 'c') : 's';
        text += is_second_type ? static_cast<char>(kind - 'a' + 'A') : kind;
      }
      auto row = row_of(std::to_string(r + 1), text, y, 100 + static_cast<std::int32_t>(d.below(600)));
      if (d.chance(30))
        for (auto& seat : row.seats) seat.obstructed = d.chance(25);
      for (auto& seat : row.seats) seat.at.y += static_cast<std::int32_t>(d.below(40)); // not quite straight
      section.rows.push_back(std::move(row));
    }
    draft.sections.push_back(std::move(section));
  }
  return draft;
}

/// Takes seats at random until about `percent` are gone.
inline void take_some(seat_map& map, dice& d, unsigned percent) {
  for (seat_number n = 0; n < map.size(); ++n) {
    if (!d.chance(percent)) continue;
    const std::vector<seat_number> one{n};
    if (d.chance(10))
      std::ignore = map.block(one);
    else
      std::ignore = map.hold(claim_id{1, n + 1}, one);
  }
}

} // namespace fq::test
