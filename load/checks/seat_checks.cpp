// SPDX-License-Identifier: Apache-2.0
#include "load/checks/seat_checks.hpp"

#include <algorithm>

namespace fq::load {

namespace {

// The seats of a claim, provably its own from the first live answer to the sending of the last request that
// showed it live. A confirmed claim keeps them.
struct seat_holding {
  std::size_t fan = 0;
  std::vector<std::string> seats;
  run_time_us from_us = never_us, until_us = -1;
  bool is_confirmed = false;
  std::int64_t units = 0;
};

// A sight of a claim or order that holds or has bought its seats.
void see_held(seat_holding& held, const std::vector<std::string>& seats, std::int64_t units,
              run_time_us sent_us, run_time_us at_us) {
  if (!seats.empty()) held.seats = seats;
  held.units = units;
  held.from_us = std::min(held.from_us, at_us);
  held.until_us = std::max(held.until_us, sent_us);
}

template <class Item>
std::int64_t units_of(const std::vector<Item>& items) {
  std::int64_t units = 0;
  for (const auto& item : items) units += item.quantity;
  return units;
}

std::map<uuid, seat_holding> holdings_of(const sale_history& history) {
  std::map<uuid, seat_holding> all;
  for (std::size_t fan = 0; fan < history.fans.size(); ++fan) {
    for (const auto& sight : history.fans[fan].claims) {
      auto& held = all[sight.claim];
      held.fan = fan;
      held.is_confirmed = sight.status == claim_status::confirmed;
      if (holds_stock(sight.status))
        see_held(held, sight.seats, units_of(sight.items), sight.sent_us, sight.at_us);
    }
    for (const auto& sight : history.fans[fan].orders) {
      if (!sight.status || !sight.terms) continue;
      auto& held = all[sight.terms->claim];
      held.fan = fan;
      held.is_confirmed = is_bought(*sight.status);
      if (held.is_confirmed || is_open(*sight.status))
        see_held(held, sight.terms->seats, units_of(sight.terms->items), sight.sent_us, sight.at_us);
    }
  }
  for (auto& [id, held] : all)
    if (held.is_confirmed) held.until_us = never_us;
  return all;
}

void check_twice(const std::map<uuid, seat_holding>& holdings, check_result& check) {
  std::map<std::string, std::vector<const seat_holding*>> by_seat;
  std::size_t sold = 0;
  for (const auto& [id, held] : holdings) {
    sold += held.is_confirmed ? held.seats.size() : 0;
    if (held.is_confirmed && static_cast<std::int64_t>(held.seats.size()) != held.units)
      add_violation(check, fan_name(held.fan) + ": a CONFIRMED claim of " + std::to_string(held.units)
                             + " units has " + std::to_string(held.seats.size()) + " seats");
    for (const auto& seat : held.seats)
      if (held.from_us < held.until_us) by_seat[seat].push_back(&held);
  }
  for (auto& [seat, its] : by_seat) {
    std::sort(its.begin(), its.end(),
              [](const seat_holding* a, const seat_holding* b) { return a->from_us < b->from_us; });
    const seat_holding* longest = its.front();
    for (std::size_t i = 1; i < its.size(); ++i) {
      if (its[i]->from_us < longest->until_us)
        add_violation(check, fan_name(longest->fan) + " and " + fan_name(its[i]->fan) + " both had the seat "
                               + seat);
      if (its[i]->until_us > longest->until_us) longest = its[i];
    }
  }
  check.detail = std::to_string(sold) + " seats bought";
}

void check_map(const std::map<uuid, seat_holding>& holdings, const seat_books& books, check_result& check) {
  check.detail = std::to_string(books.names.size()) + " seats, " + std::to_string(books.answers)
                 + " answers with changes, " + std::to_string(books.refused) + " wishes refused, "
                 + std::to_string(books.maps.size()) + " fans' maps, " + std::to_string(books.maps_by_changes)
                 + " by changes alone";
  if (books.unusable > 0)
    add_violation(check, std::to_string(books.unusable) + " answers of the map could not be applied");
  for (std::size_t n = 0; n < books.names.size(); ++n)
    if (books.followed[n] != books.last[n])
      add_violation(check, "the changes left " + books.names[n] + " in another state than the map");
  for (const auto& [fan, states] : books.maps)
    for (std::size_t n = 0; n < books.names.size(); ++n)
      if (states[n] != books.last[n]) {
        add_violation(check,
                      fan_name(fan) + "'s map has " + books.names[n] + " in another state than the map");
        break;
      }
  std::map<std::string_view, char> states;
  for (std::size_t n = 0; n < books.names.size(); ++n) states[books.names[n]] = books.last[n];
  for (const auto& [id, held] : holdings)
    for (const auto& seat : held.seats)
      if (held.is_confirmed && states[seat] != '2')
        add_violation(check,
                      "the map does not show " + seat + " as sold, which " + fan_name(held.fan) + " has");
}

} // namespace

void judge_seats(const sale_history& history, judgement& out) {
  auto& twice = check_of(out, check_id::seat_twice);
  auto& map = check_of(out, check_id::seat_map);
  if (!history.seats.is_followed) {
    not_judged(twice, "without --seats");
    not_judged(map, "without --seats");
    return;
  }
  const auto holdings = holdings_of(history);
  check_twice(holdings, twice);
  if (history.seats.read)
    check_map(holdings, history.seats, map);
  else
    not_judged(map, "the last map was not read");
}

} // namespace fq::load
