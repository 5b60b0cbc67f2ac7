// SPDX-License-Identifier: Apache-2.0
#include "domain/seats/seat_map.hpp"

#include "domain/base/planted.hpp"

#include <algorithm>

namespace fq {

seat_map::seat_map(std::shared_ptr<const seat_plan> plan, std::span<const std::uint8_t> types,
                   std::uint64_t version) :
    plan_(std::move(plan)), plan_types_(types.begin(), types.end()), version_(version), oldest_(version) {
  const auto seats = plan_->seats();
  cells_.reserve(seats.size() + 1);
  types_.reserve(seats.size());
  holders_.resize(seats.size());
  for (seat_number n = 0; n < seats.size(); ++n) {
    const auto& s = seats[n];
    const bool is_first = plan_->rows()[s.row].first == n;
    cells_.push_back(static_cast<std::uint8_t>((s.has(seat_plan::accessible) ? accessible : 0)
                                               | (s.has(seat_plan::companion) ? companion : 0)
                                               | (s.has(seat_plan::obstructed) ? obstructed : 0)
                                               | (is_first || s.has(seat_plan::aisle) ? 0 : joined)));
    types_.push_back(plan_types_[s.type]);
    ++counts_[types_.back()].free;
  }
  cells_.push_back(state_bits);
  longest_.resize(plan_->rows().size());
  for (std::uint16_t r = 0; r < longest_.size(); ++r) measure_runs(r);
}

void seat_map::load(const seat_now& row, const claim_id& claim) {
  --count(row.seat);
  types_[row.seat] = row.type;
  ++count(row.seat);
  set(row.seat, row.state, claim);
  if (!claim.is_nil()) claims_[claim].push_back(row.seat);
  measure_runs(plan_->seats()[row.seat].row);
}

std::uint32_t& seat_map::count(seat_number n) {
  auto& c = counts_[types_[n]];
  switch (state(n)) {
    case seat_state::free: return c.free;
    case seat_state::held: return c.held;
    case seat_state::sold: return c.sold;
    case seat_state::blocked: break;
  }
  return c.blocked;
}

void seat_map::set(seat_number n, seat_state to, const claim_id& claim) {
  --count(n);
  cells_[n] = static_cast<std::uint8_t>((cells_[n] & ~state_bits) | static_cast<std::uint8_t>(to));
  ++count(n);
  holders_[n] = claim;
}

void seat_map::measure_runs(std::uint16_t row) {
  const auto& r = plan_->rows()[row];
  std::uint16_t longest = 0, run = 0;
  for (auto n = r.first; n < r.first + r.count; ++n) {
    if (!is_joined(n)) run = 0;
    run = is_open(n, true) ? static_cast<std::uint16_t>(run + 1) : std::uint16_t{0};
    longest = std::max(longest, run);
  }
  longest_[row] = longest;
}

template <class Seats, class Change>
void seat_map::change(const Seats& seats, Change apply) {
  if (std::empty(seats)) return;
  ++version_;
  auto row = plan_->seats()[*std::begin(seats)].row;
  for (const auto n : seats) {
    apply(n);
    if (const auto in = plan_->seats()[n].row; in != row) {
      measure_runs(row);
      row = in;
    }
    marks_.push_back({version_, n});
    if (marks_.size() > seat_changes_max) {
      oldest_ = marks_.front().version;
      marks_.pop_front();
    }
  }
  measure_runs(row);
}

seat_refusal seat_map::wrong_names(std::span<const seat_number> seats) const {
  if (seats.empty()) return {seat_fault::too_many};
  seat_list sorted(seats.begin(), seats.end());
  std::ranges::sort(sorted);
  if (sorted.back() >= size()) return {seat_fault::unknown, {sorted.back()}};
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) return {seat_fault::repeated, {*twice}};
  return {};
}

template <class Allows>
seat_refusal seat_map::refuse(std::span<const seat_number> seats, Allows allows) const {
  seat_refusal no;
  for (const auto n : seats)
    if (!allows(n)) no.seats.push_back(n);
  if (no.seats.empty()) return no;
  no.why = seat_fault::taken;
  std::ranges::sort(no.seats);
  return no;
}

seat_refusal seat_map::take(const claim_id& claim, std::span<const seat_number> seats, seat_state to) {
  if (seats.size() > claim_seats_max) return {seat_fault::too_many};
  if (auto no = wrong_names(seats)) return no;
  if (claims_.contains(claim)) return {seat_fault::claim_known};
  const auto is_free = [this](seat_number n) {
    return state(n) == seat_state::free || planted(bug::seat_conflict_ignored); // check_choice knows the last
  };
  if (auto no = refuse(seats, is_free)) return no;
  change(seats, [&](seat_number n) { set(n, to, claim); });
  claims_.emplace(claim, seat_list(seats.begin(), seats.end()));
  return {};
}

seat_refusal seat_map::hold(const claim_id& claim, std::span<const seat_number> seats) {
  return take(claim, seats, seat_state::held);
}

seat_refusal seat_map::sell(const claim_id& claim, std::span<const seat_number> seats) {
  return take(claim, seats, seat_state::sold);
}

bool seat_map::release(const claim_id& claim) {
  const auto found = claims_.find(claim);
  if (found == claims_.end() || state(found->second.front()) != seat_state::held) return false;
  change(found->second, [this](seat_number n) { set(n, seat_state::free, {}); });
  claims_.erase(found);
  return true;
}

bool seat_map::confirm(const claim_id& claim) {
  const auto found = claims_.find(claim);
  if (found == claims_.end() || state(found->second.front()) != seat_state::held) return false;
  change(found->second, [&](seat_number n) { set(n, seat_state::sold, claim); });
  return true;
}

seat_refusal seat_map::take_back(const claim_id& claim, std::span<const seat_number> seats) {
  if (auto no = wrong_names(seats)) return no;
  const auto is_its = [&](seat_number n) { return state(n) == seat_state::sold && holders_[n] == claim; };
  if (auto no = refuse(seats, is_its)) return no;
  // `seats` may be a view of the claim's list: it is cut last.
  change(seats, [this](seat_number n) { set(n, seat_state::free, {}); });
  const auto its = claims_.find(claim);
  std::erase_if(its->second, [this](seat_number n) { return state(n) == seat_state::free; });
  if (its->second.empty()) claims_.erase(its);
  return {};
}

seat_refusal seat_map::change_untaken(std::span<const seat_number> seats, seat_state from, seat_state to) {
  if (auto no = wrong_names(seats)) return no;
  if (auto no = refuse(seats, [this](seat_number n) { return holders_[n].is_nil(); })) return no;
  seat_list others;
  std::ranges::copy_if(seats, std::back_inserter(others), [&](seat_number n) { return state(n) == from; });
  change(others, [&](seat_number n) { set(n, to, {}); });
  return {};
}

seat_refusal seat_map::block(std::span<const seat_number> seats) {
  return change_untaken(seats, seat_state::free, seat_state::blocked);
}

seat_refusal seat_map::unblock(std::span<const seat_number> seats) {
  return change_untaken(seats, seat_state::blocked, seat_state::free);
}

seat_refusal seat_map::move_to_type(std::span<const seat_number> seats, std::uint8_t type) {
  if (type >= seat_types_max) return {seat_fault::wrong_type};
  if (auto no = wrong_names(seats)) return no;
  if (auto no = refuse(seats, [this](seat_number n) { return holders_[n].is_nil(); })) return no;
  seat_list others;
  std::ranges::copy_if(seats, std::back_inserter(others), [&](seat_number n) { return types_[n] != type; });
  change(others, [&](seat_number n) {
    --count(n);
    types_[n] = type;
    ++count(n);
  });
  return {};
}

std::span<const seat_number> seat_map::seats_of(const claim_id& claim) const {
  const auto found = claims_.find(claim);
  return found == claims_.end() ? std::span<const seat_number>{} : std::span{found->second};
}

std::optional<std::vector<seat_now>> seat_map::changes_since(std::uint64_t version) const {
  if (version < oldest_ || version > version_) return std::nullopt;
  const auto from = std::ranges::upper_bound(marks_, version, {}, &mark::version);
  seat_list changed;
  std::transform(from, marks_.end(), std::back_inserter(changed), [](const mark& m) { return m.seat; });
  std::ranges::sort(changed);
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  std::vector<seat_now> out;
  out.reserve(changed.size());
  for (const auto n : changed) out.push_back({n, state(n), types_[n]});
  return out;
}

std::size_t seat_map::changes_after(std::uint64_t version) const {
  return static_cast<std::size_t>(marks_.end()
                                  - std::ranges::upper_bound(marks_, version, {}, &mark::version));
}

std::string seat_map::packed_states(bool for_shoppers) const {
  std::string out((types_.size() + 3) / 4, '\0');
  for (seat_number n = 0; n < size(); ++n) {
    auto bits = static_cast<unsigned>(cells_[n] & state_bits);
    if (for_shoppers && state(n) == seat_state::blocked) bits = static_cast<unsigned>(seat_state::sold);
    out[n / 4] = static_cast<char>(static_cast<unsigned char>(out[n / 4]) | bits << (n % 4 * 2));
  }
  return out;
}

std::vector<seat_now> seat_map::moved_seats() const {
  std::vector<seat_now> out;
  for (seat_number n = 0; n < size(); ++n)
    if (types_[n] != type_in_plan(n)) out.push_back({n, state(n), types_[n]});
  return out;
}

} // namespace fq
