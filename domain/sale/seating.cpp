// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/seating.hpp"

#include "domain/model/invalid_field.hpp"
#include "domain/sale/inventory.hpp"
#include "domain/sale/limits.hpp"
#include "domain/seats/plan_text.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace fq {
namespace {

std::string text_of(const std::vector<std::uint8_t>& types) {
  std::string out;
  for (const auto t : types) out.append(out.empty() ? "" : " ").append(std::to_string(t));
  return out;
}

std::vector<std::uint8_t> types_of(std::string_view text) {
  std::vector<std::uint8_t> types;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    std::uint8_t type = 0;
    const auto [stop, failed] = std::from_chars(text.data(), text.data() + end, type);
    if (failed != std::errc{} || stop != text.data() + end) return {};
    types.push_back(type);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return types;
}

std::shared_ptr<const seat_plan> plan_of(const event_plan_row& row, const seating* known) {
  const bool is_same = known != nullptr && *known->text() == row.content;
  auto plan = is_same ? known->map().shared_plan() : plan_of_text(row.content);
  if (plan == nullptr || may_seat(*plan, types_of(row.types)))
    throw std::runtime_error{"the seat plan of an event cannot be read"};
  return plan;
}

/// Rows of a plan that is not the event's would be written beyond the map.
std::uint32_t checked(std::uint32_t seat, const seat_map& map) {
  if (seat >= map.size()) throw std::runtime_error{"a seat of an event is not in its plan"};
  return seat;
}

/// The decision has moved the units already: none of it may be committed, and the owner loads again.
void require(const seat_refusal& no) {
  if (no) throw std::logic_error{"units and seats of a claim disagree"};
}

std::uint64_t bit_of(std::uint8_t type) { return std::uint64_t{1} << type; }

} // namespace

refusal may_seat(const seat_plan& plan, const std::vector<std::uint8_t>& types) {
  if (types.size() != plan.ticket_types().size())
    return invalid_field("ticket_types", "must be one of the event's for each of the plan's");
  std::uint64_t seated = 0, standing = 0;
  for (const auto t : types)
    if (t >= seat_types_max) return invalid_field("ticket_types", "no such ticket type");
  for (const auto& s : plan.seats()) seated |= bit_of(types[s.type]);
  std::vector<std::int64_t> places(seat_types_max);
  for (const auto& a : plan.areas()) {
    standing |= bit_of(types[a.type]);
    if ((places[types[a.type]] += a.places) > seated_units_max)
      return invalid_field("areas", "a ticket type has too many places");
  }
  if ((seated & standing) != 0)
    return invalid_field("ticket_types", "one has either seats or standing places");
  for (const auto t : types)
    if (((seated | standing) & bit_of(t)) == 0)
      return invalid_field("ticket_types", "each must have seats or standing places");
  return {};
}

seating::seating(std::shared_ptr<const seat_plan> plan, std::vector<std::uint8_t> types,
                 const seat_rules& rules, std::uint64_t version, std::shared_ptr<const std::string> text) :
    types_(std::move(types)), rules_(rules), map_(std::move(plan), types_, version), text_(std::move(text)) {
  for (const auto t : types_) governed_ |= bit_of(t);
  seated_ = governed_;
  for (const auto& a : map_.plan().areas()) seated_ &= ~bit_of(types_[a.type]);
  has_obstructed_ =
    std::ranges::any_of(map_.plan().seats(), [](const auto& s) { return s.has(seat_plan::obstructed); });
}

seating::seating(std::shared_ptr<const seat_plan> plan, std::vector<std::uint8_t> types,
                 const seat_rules& rules, std::uint64_t version) :
    seating(std::move(plan), std::move(types), rules, version, nullptr) {
  text_ = std::make_shared<const std::string>(fq::text_of(map_.plan()));
}

seating::seating(const event_plan_row& row, std::uint64_t version, const seating* known) :
    seating(plan_of(row, known), types_of(row.types),
            {static_cast<single_rule>(row.singles), row.may_split, row.accessible_for_all}, version,
            std::make_shared<const std::string>(row.content)) {}

event_plan_row seating::row() const {
  return {*text_, text_of(types_), static_cast<std::uint8_t>(rules_.singles), rules_.may_split,
          rules_.accessible_for_all};
}

void seating::load(const seat_setting_row& row) {
  const auto state = row.is_blocked ? seat_state::blocked : seat_state::free;
  map_.load({checked(row.seat, map_), state, static_cast<std::uint8_t>(row.ticket_type)}, {});
}

void seating::load(const claim_seat_row& row, claim_status of) {
  checked(row.seat, map_);
  rows_[row.claim].push_back(row);
  if (!row.is_live) return;
  if (!is_live(of) && of != claim_status::confirmed) return leftovers_.push_back(row.claim);
  const auto state = of == claim_status::confirmed ? seat_state::sold : seat_state::held;
  map_.load({row.seat, state, static_cast<std::uint8_t>(row.ticket_type)}, row.claim);
}

std::int64_t seating::units_of(std::uint32_t ticket_type) const {
  const auto& c = map_.counts_of(static_cast<std::uint8_t>(ticket_type));
  auto units = std::int64_t{c.free} + c.held + c.sold;
  for (const auto& a : map_.plan().areas())
    if (types_[a.type] == ticket_type) units += a.places;
  return units;
}

void seating::count_standing(std::span<const ticket_type_row> types) {
  std::vector<std::int64_t> counted;
  for (const auto& a : map_.plan().areas()) counted.push_back(inventory::free_units(types[types_[a.type]]));
  if (counted == standing_free_) return;
  standing_free_ = std::move(counted);
  map_.renew_version();
}

std::string seating::names_of(std::span<const seat_number> seats) const {
  std::string names;
  for (const auto n : seats) names.append(names.empty() ? "" : " ").append(map_.plan().name_of(n));
  return names;
}

void seating::take(const claim_id& claim, std::span<const seat_number> seats, changes& out) {
  auto& rows = rows_[claim];
  for (const auto n : seats) rows.push_back({claim, n, map_.type(n), true});
  out.emplace_back(std::in_place_type<seats_taken>, seats_taken{rows});
}

void seating::end(const claim_id& claim, std::span<const seat_number> seats, changes& out) {
  for (auto& row : rows_.at(claim))
    if (std::ranges::find(seats, row.seat) != seats.end()) row.is_live = false;
  out.emplace_back(std::in_place_type<seats_ended>, seats_ended{claim, {seats.begin(), seats.end()}});
}

void seating::hold(const claim_id& claim, std::span<const seat_number> seats, changes& out) {
  require(map_.hold(claim, seats));
  take(claim, seats, out);
}

bool seating::are_free_again(const claim_id& claim) const {
  const auto rows = rows_.find(claim);
  return rows == rows_.end() || std::ranges::all_of(rows->second, [this](const claim_seat_row& r) {
           return map_.state(r.seat) == seat_state::free && map_.type(r.seat) == r.ticket_type;
         });
}

void seating::sell_again(const claim_id& before, const claim_id& fresh, changes& out) {
  const auto rows = rows_.find(before);
  if (rows == rows_.end()) return;
  std::vector<seat_number> seats;
  for (const auto& r : rows->second) seats.push_back(r.seat);
  require(map_.sell(fresh, seats));
  take(fresh, seats, out);
}

void seating::release(const claim_id& claim, changes& out) {
  const auto held = map_.seats_of(claim);
  const std::vector<seat_number> seats(held.begin(), held.end());
  if (map_.release(claim)) end(claim, seats, out);
}

void seating::take_back(const claim_id& claim, std::span<const seat_number> seats, changes& out) {
  if (seats.empty()) return;
  require(map_.take_back(claim, seats));
  end(claim, seats, out);
}

void seating::end_leftovers(changes& out) {
  std::ranges::sort(leftovers_);
  leftovers_.erase(std::unique(leftovers_.begin(), leftovers_.end()), leftovers_.end());
  for (const auto& claim : std::exchange(leftovers_, {})) {
    std::vector<seat_number> seats;
    for (const auto& row : rows_.at(claim))
      if (row.is_live) seats.push_back(row.seat);
    end(claim, seats, out);
  }
}

seat_refusal seating::set(std::span<const seat_number> seats, std::optional<bool> is_blocked,
                          std::optional<std::uint32_t> ticket_type, changes& out) {
  auto no = ticket_type ? map_.move_to_type(seats, static_cast<std::uint8_t>(*ticket_type)) : seat_refusal{};
  if (!no && is_blocked) no = *is_blocked ? map_.block(seats) : map_.unblock(seats); // refuses the same seats
  if (no) return no;
  seats_set set;
  for (const auto n : seats) set.rows.push_back({n, map_.type(n), map_.state(n) == seat_state::blocked});
  out.emplace_back(std::in_place_type<seats_set>, std::move(set));
  return {};
}

void seating::set(const seat_rules& rules, changes& out) {
  rules_ = rules;
  map_.renew_version();
  out.emplace_back(
    std::in_place_type<seat_rules_set>,
    seat_rules_set{static_cast<std::uint8_t>(rules.singles), rules.may_split, rules.accessible_for_all});
}

std::vector<seat_holding> holdings_of(std::span<const claim_seat_row> seats,
                                      std::span<const claim_row> claims) {
  std::unordered_map<claim_id, claim_status> status;
  for (const auto& c : claims) status.emplace(c.id, c.status);
  std::vector<seat_holding> all;
  for (const auto& s : seats)
    if (s.is_live) all.push_back({s.seat, s.claim, status[s.claim] == claim_status::confirmed});
  return all;
}

} // namespace fq
