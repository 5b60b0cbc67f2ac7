// SPDX-License-Identifier: Apache-2.0
#include "domain/seats/plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace fq {
namespace {

/// The nearest seat of a row is its best point only if it is nearer than the middle by more than this:
/// in a curved row all seats are about equally near.
constexpr std::int32_t clearly_nearer_cm = 50;

} // namespace

std::string row_name(std::string_view section, std::string_view row) {
  std::string name{section};
  if (!section.empty() && !row.empty()) name += '-';
  return name += row;
}

seat_plan::seat_plan(const plan_draft& draft) :
    name_(draft.name), types_(draft.ticket_types), areas_(draft.areas) {
  std::size_t seats = 0, rows = 0;
  for (const auto& section : draft.sections)
    for (const auto& row : section.rows) {
      seats += row.seats.size();
      ++rows;
    }
  seats_.reserve(seats);
  rows_.reserve(rows);
  for (const auto& from : draft.sections) {
    const auto index = static_cast<std::uint16_t>(sections_.size());
    sections_.push_back({from.code, from.name, from.rank, static_cast<std::uint16_t>(rows_.size()),
                         static_cast<std::uint16_t>(from.rows.size())});
    for (const auto& row : from.rows) add_row(row, index);
  }
  for (auto& area : areas_) area.line = 0;
  labels_.shrink_to_fit();
  focus_ = draft.focus ? *draft.focus : upper_middle();
  rank_rows();
  by_name_.resize(rows_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::uint16_t{0});
  std::ranges::sort(by_name_, {}, [this](std::uint16_t r) { return std::string_view{rows_[r].name}; });
}

void seat_plan::add_row(const draft_row& from, std::uint16_t section) {
  row r;
  r.name = row_name(sections_[section].code, from.label);
  r.label = from.label;
  r.first = static_cast<seat_number>(seats_.size());
  r.count = static_cast<std::uint16_t>(from.seats.size());
  r.section = section;
  for (const auto& s : from.seats) {
    seat to;
    to.at = s.at;
    to.label = static_cast<std::uint32_t>(labels_.size());
    to.label_size = static_cast<std::uint8_t>(s.label.size());
    to.row = static_cast<std::uint16_t>(rows_.size());
    to.type = static_cast<std::uint8_t>(s.type);
    to.traits = static_cast<std::uint8_t>((s.accessible ? accessible : 0) | (s.companion ? companion : 0)
                                          | (s.obstructed ? obstructed : 0) | (s.aisle ? aisle : 0));
    labels_ += s.label;
    r.accessible = static_cast<std::uint16_t>(r.accessible + (s.accessible ? 1 : 0));
    seats_.push_back(to);
  }
  order_labels(r);
  rows_.push_back(std::move(r));
}

void seat_plan::order_labels(const row& r) {
  std::vector<std::uint16_t> order(r.count);
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  std::ranges::sort(order, {}, [&](std::uint16_t i) { return label_of(r.first + i); });
  for (std::uint16_t i = 0; i < r.count; ++i) seats_[r.first + i].by_label = order[i];
}

std::int32_t seat_plan::distance_of(seat_number n) const {
  const double dx = seats_[n].at.x - focus_.x, dy = seats_[n].at.y - focus_.y;
  return static_cast<std::int32_t>(std::sqrt(dx * dx + dy * dy)); // both exact: the same everywhere
}

plan_point seat_plan::upper_middle() const {
  std::int32_t left = plan_extent_max, right = 0, top = plan_extent_max;
  const auto take = [&](plan_point from, plan_point to) {
    left = std::min(left, from.x);
    right = std::max(right, to.x);
    top = std::min(top, from.y);
  };
  for (const auto& s : seats_) take(s.at, s.at);
  for (const auto& a : areas_) take(a.corner, {a.corner.x + a.width, a.corner.y});
  return {(left + right) / 2, top};
}

void seat_plan::rank_rows() {
  std::vector<std::int32_t> distances(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    auto& r = rows_[i];
    const auto middle = distances[i] = distance_of(r.first + r.count / 2);
    auto nearest = r.first;
    for (auto n = r.first; n < r.first + r.count; ++n)
      if (distance_of(n) < distance_of(nearest)) nearest = n;
    const bool is_aside = distance_of(nearest) + clearly_nearer_cm < middle;
    r.best = is_aside ? 2 * static_cast<std::int32_t>(nearest - r.first) : r.count - 1;
  }
  by_quality_.resize(rows_.size());
  std::iota(by_quality_.begin(), by_quality_.end(), std::uint16_t{0});
  std::ranges::sort(by_quality_, {}, [&](std::uint16_t i) {
    return std::tuple{sections_[rows_[i].section].rank, distances[i], i};
  });
  for (std::size_t i = 0; i < by_quality_.size(); ++i)
    rows_[by_quality_[i]].quality = static_cast<std::uint16_t>(i);
}

std::string seat_plan::name_of(seat_number n) const {
  return rows_[seats_[n].row].name + "-" + std::string{label_of(n)};
}

seat_place seat_plan::place_of(seat_number n) const {
  const auto& r = rows_[seats_[n].row];
  const auto& s = sections_[r.section];
  return {s.name.empty() ? s.code : s.name, r.label, std::string{label_of(n)}, seats_[n].has(obstructed)};
}

std::optional<seat_number> seat_plan::find(std::string_view name) const {
  const auto end = name.rfind('-');
  if (end == std::string_view::npos) return std::nullopt;
  const auto row_part = name.substr(0, end), label = name.substr(end + 1);
  const auto r = std::ranges::lower_bound(
    by_name_, row_part, {}, [this](std::uint16_t i) { return std::string_view{rows_[i].name}; });
  if (r == by_name_.end() || rows_[*r].name != row_part) return std::nullopt;
  const auto& in = rows_[*r];
  const auto places = std::span{seats_}.subspan(in.first, in.count);
  const auto label_at = [&](const seat& place) { return label_of(in.first + place.by_label); };
  const auto found = std::ranges::lower_bound(places, label, {}, label_at);
  if (found == places.end() || label_at(*found) != label) return std::nullopt;
  return in.first + found->by_label;
}

std::optional<std::uint16_t> seat_plan::find_section(std::string_view code) const {
  const auto found = std::ranges::find(sections_, code, &section::code);
  if (found == sections_.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - sections_.begin());
}

bool operator==(const seat_plan& a, const seat_plan& b) {
  const auto same_area = [](const standing_area& l, const standing_area& r) {
    return std::tie(l.code, l.name, l.type, l.places, l.corner.x, l.corner.y, l.width, l.height)
           == std::tie(r.code, r.name, r.type, r.places, r.corner.x, r.corner.y, r.width, r.height);
  };
  return a.name_ == b.name_ && a.focus_ == b.focus_ && a.types_ == b.types_ && a.seats_ == b.seats_
         && a.rows_ == b.rows_ && a.sections_ == b.sections_ && a.labels_ == b.labels_
         && std::ranges::equal(a.areas_, b.areas_, same_area);
}

made_plan make_plan(const plan_draft& draft) {
  auto errors = errors_of(draft);
  if (!errors.empty()) return {nullptr, std::move(errors)};
  return {std::make_shared<const seat_plan>(draft), {}};
}

} // namespace fq
