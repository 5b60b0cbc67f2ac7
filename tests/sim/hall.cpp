// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/hall.hpp"

#include "domain/sale/seating.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

constexpr std::size_t row_max = 6; ///< short rows: choices often leave singles

/// A section with `count` seats of the plan's type `type`.
draft_section section_of(generator& rng, std::uint32_t type, std::int64_t count, std::int32_t y) {
  draft_section section;
  section.code = std::string(1, static_cast<char>('P' + type));
  for (; count > 0; y += 90) {
    auto& row = section.rows.emplace_back();
    row.label = std::to_string(section.rows.size());
    for (; count > 0 && row.seats.size() < row_max; --count) {
      auto& seat = row.seats.emplace_back();
      seat.label = std::to_string(row.seats.size());
      seat.at = {static_cast<std::int32_t>(50 * row.seats.size()), y};
      seat.type = type;
      seat.aisle = row.seats.size() > 1 && chance(rng, 100);
      seat.accessible = chance(rng, 50);
      seat.companion = !seat.accessible && chance(rng, 50);
    }
  }
  return section;
}

/// Names of up to `count` seats in the order of the plan.
std::vector<std::string> some_names(world& w, std::int64_t count) {
  const auto& plan = *w.hall;
  std::vector<std::string> names;
  for (auto n = static_cast<seat_number>(w.rng() % plan.seats().size());
       n < plan.seats().size() && std::ssize(names) < count; ++n)
    names.push_back(plan.name_of(n));
  return names;
}

} // namespace

std::optional<event_plan_row> hall_of(const sale_options& o, const std::vector<ticket_type_row>& types) {
  if (!o.seats.on) return std::nullopt;
  generator rng{o.seed * 0x9e3779b97f4a7c15ull + 14};
  plan_draft draft;
  std::vector<std::uint8_t> ordinals;
  for (const auto& t : types) {
    if (t.hidden) continue;
    draft.ticket_types.push_back("Type " + std::to_string(t.ordinal));
    draft.sections.push_back(
      section_of(rng, t.ordinal, t.total, 100 + 1'000 * static_cast<std::int32_t>(t.ordinal)));
    ordinals.push_back(static_cast<std::uint8_t>(t.ordinal));
  }
  const seat_rules rules{o.seats.singles, chance(rng, 500), chance(rng, 500)};
  const seating seats{make_plan(draft).plan, std::move(ordinals), rules, 1};
  return seats.row();
}

seat_wish wish_seats(world& w, std::vector<item_wish>& items) {
  seat_wish wish;
  if (!w.options.seats.on) return wish;
  wish.asks_accessible = chance(w.rng, 300) ? 1 : 0;
  if (!items.empty() && chance(w.rng, w.options.seats.best)) {
    wish.best.count = items.front().quantity;
    if (chance(w.rng, 300)) wish.best.ticket_type = items.front().ticket_type;
    if (chance(w.rng, 200)) wish.best.section = "P";
    if (chance(w.rng, 200)) wish.best.accessible = 1;
    items.clear();
    return wish;
  }
  for (auto& item : items)
    if (chance(w.rng, w.options.seats.names)) {
      item.seats = some_names(w, item.quantity);
      item.quantity = static_cast<std::uint32_t>(item.seats.size());
    }
  const bool is_named = std::ranges::any_of(items, [](const item_wish& i) { return !i.seats.empty(); });
  if (wish.asks_accessible > 0 && !is_named && !chance(w.rng, 200))
    wish.asks_accessible = 0; // else most of these wishes are refused: a hall has few such seats
  return wish;
}

seat_patch some_seat_patch(world& w) {
  seat_patch p;
  p.seats = some_names(w, between(w.rng, 1, 2));
  if (chance(w.rng, 700)) p.is_blocked = {true, chance(w.rng, 400)};
  if (!p.is_blocked.given || chance(w.rng, 300)) p.ticket_type = w.some_type();
  return p;
}

} // namespace fq::sim
