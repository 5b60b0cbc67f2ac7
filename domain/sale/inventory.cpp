// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/inventory.hpp"

#include "domain/base/planted.hpp"

#include <algorithm>

namespace fq {

void inventory::load(std::vector<ticket_type_row> types) {
  types_ = std::move(types);
  if (planted(bug::reload_forgets_confirmed))
    for (auto& t : types_) t.sold = 0;
}

const ticket_type_row* inventory::find(const ticket_type_id& id) const {
  const auto i = std::ranges::find(types_, id, &ticket_type_row::id);
  return i == types_.end() ? nullptr : &*i;
}

namespace {
template <class F>
std::int64_t sum(const std::vector<ticket_type_row>& types, F f) {
  std::int64_t n = 0;
  for (const auto& t : types) n += f(t);
  return n;
}

timestamp earlier_after(timestamp now, timestamp next, timestamp at) {
  return is_set(at) && at > now && (!is_set(next) || at < next) ? at : next;
}
} // namespace

bool inventory::has_ended(const ticket_type_row& t, timestamp now) {
  return is_set(t.sale_until) && now >= t.sale_until;
}

bool inventory::may_sell(const ticket_type_row& t, timestamp now) { return t.on_sale && !has_ended(t, now); }

bool inventory::is_open(const ticket_type_row& t, timestamp now) {
  return may_sell(t, now) && now >= t.sale_from;
}

std::int64_t inventory::available() const {
  const auto is_public = [](const auto& t) { return t.on_sale && !t.hidden; };
  const bool has_public = std::ranges::any_of(types_, is_public);
  return sum(types_,
             [&](const auto& t) { return (has_public ? is_public(t) : t.on_sale) ? free_units(t) : 0; });
}

timestamp inventory::next_opening(timestamp now) const {
  auto next = never;
  for (const auto& t : types_)
    if (t.on_sale) next = earlier_after(now, next, t.sale_from);
  return next;
}

timestamp inventory::next_closing(timestamp now) const {
  auto next = never;
  for (const auto& t : types_) next = earlier_after(now, next, t.sale_until);
  return next;
}

std::int64_t inventory::total() const {
  return sum(types_, [](const auto& t) { return t.total; });
}
std::int64_t inventory::held() const {
  return sum(types_, [](const auto& t) { return t.held; });
}
std::int64_t inventory::sold() const {
  return sum(types_, [](const auto& t) { return t.sold; });
}

bool inventory::sold_out() const { return std::ranges::none_of(types_, has_unsold); }

bool inventory::has_units_to_sell(timestamp now) const {
  return std::ranges::any_of(
    types_, [now](const auto& t) { return t.held > 0 || (free_units(t) > 0 && !has_ended(t, now)); });
}

bool inventory::has_free(std::span<const claim_item> items) const {
  return std::ranges::all_of(items, [this](const claim_item& i) {
    return free_units(types_[i.ticket_type]) >= static_cast<std::int64_t>(i.quantity);
  });
}

void inventory::move(std::uint32_t type, std::int64_t held, std::int64_t sold, changes& out) {
  types_[type].held += held;
  types_[type].sold += sold;
  out.emplace_back(std::in_place_type<stock_moved>, stock_moved{type, held, sold});
}

void inventory::hold(std::span<const claim_item> items, changes& out) {
  for (const auto& i : items) move(i.ticket_type, i.quantity, 0, out);
}
void inventory::release(std::span<const claim_item> items, changes& out) {
  for (const auto& i : items) move(i.ticket_type, -std::int64_t{i.quantity}, 0, out);
}
void inventory::confirm(std::span<const claim_item> items, changes& out) {
  for (const auto& i : items) move(i.ticket_type, -std::int64_t{i.quantity}, i.quantity, out);
}
void inventory::sell(std::span<const claim_item> items, changes& out) {
  for (const auto& i : items) move(i.ticket_type, 0, i.quantity, out);
}
void inventory::take_back(std::span<const refund_item> items, changes& out) {
  for (const auto& i : items) move(i.ticket_type, 0, -std::int64_t{i.quantity}, out);
}

void inventory::add(ticket_type_row row, changes& out) {
  row.ordinal = static_cast<std::uint32_t>(types_.size());
  row.held = row.sold = 0;
  types_.push_back(row);
  out.emplace_back(std::in_place_type<ticket_type_added>, ticket_type_added{std::move(row)});
}

void inventory::change_type(const ticket_type_row& row, changes& out) {
  types_[row.ordinal] = row;
  out.emplace_back(std::in_place_type<ticket_type_changed>, ticket_type_changed{row});
}

} // namespace fq
