// SPDX-License-Identifier: Apache-2.0
// I1 for seats: no seat has two claims at any committed state. Choices keep the organizer's rule about
// singles.
#include "tests/sim/checker.hpp"

#include "domain/sale/seating.hpp"

#include <algorithm>

namespace fq::sim {

void checker::see_plan(const event_plan_row& row) {
  plan_ = row;
  seats_.emplace(row, 0);
}

void checker::see(const event_plan_set& c) { see_plan(c.row); }

void checker::see(const seat_rules_set& c) {
  plan_ = c.applied_to(*plan_);
  rebuild_seats();
}

void checker::see(const seats_set& c) {
  for (const auto& row : c.rows) {
    if (live_seats_.contains(row.seat)) fail("I1", "a seat of a claim was blocked, released or moved");
    seat_settings_[row.seat] = row;
    seats_->load(row);
  }
  reached(rare::seats_changed);
}

/// Late money takes the seats that its claim had, whatever they leave.
bool checker::was_chosen(const claim_row& claim) const { return claim.created_at != claim.expires_at; }

void checker::see(const seats_taken& c) {
  if (c.rows.empty()) return fail("I1", "a claim takes no seats");
  const auto& claim = claims_.at(c.rows.front().claim);
  touched_claims_.insert(claim.id);
  std::vector<seat_number> chosen;
  for (const auto& row : c.rows) {
    if (row.claim != claim.id) fail("I1", "seats of two claims in one change");
    if (!live_seats_.emplace(row.seat, row.claim).second) fail("I1", "two claims have one seat");
    if (const auto set = seat_settings_.find(row.seat); set != seat_settings_.end() && set->second.is_blocked)
      fail("I1", "a claim has a blocked seat");
    claim_seats_[{row.claim, row.seat}] = row;
    chosen.push_back(row.seat);
  }
  if (!was_chosen(claim)) reached(rare::seats_sold_again);
  const bool is_strict = was_chosen(claim) && seats_->rules().singles == single_rule::strict;
  if (is_strict && violation_.empty()
      && check_choice(seats_->map(), {chosen, claim_seats_max}, seats_->rules()).why
           == seat_fault::leaves_single)
    fail("seats", "a claim leaves a single seat, although the organizer's rule is strict");
  for (const auto& row : c.rows) seats_->load(row, claim_status::confirmed);
}

void checker::see(const seats_ended& c) {
  touched_claims_.insert(c.claim);
  for (const auto seat : c.seats) {
    const auto live = live_seats_.find(seat);
    if (live == live_seats_.end() || live->second != c.claim)
      return fail("I1", "a seat ends that its claim does not have");
    live_seats_.erase(live);
    auto& row = claim_seats_.at({c.claim, seat});
    row.is_live = false;
  }
  rebuild_seats();
}

/// From the rows: the map's own changes are what is tested.
void checker::rebuild_seats() {
  seats_.emplace(*plan_, 0);
  for (const auto& [seat, row] : seat_settings_) seats_->load(row);
  for (const auto& [key, row] : claim_seats_) seats_->load(row, claim_status::confirmed);
}

/// A claim has as many live seats of each type with seats as units that it holds or has bought.
void checker::check_seats(const claim_row& claim) {
  if (!seats_) return;
  std::map<std::uint32_t, std::int64_t> live;
  const auto of_claim = claim_seats_.lower_bound({claim.id, 0});
  for (auto i = of_claim; i != claim_seats_.end() && i->first.first == claim.id; ++i)
    live[i->second.ticket_type] += i->second.is_live ? 1 : 0;
  for (const auto& item : claim.items) {
    if (!seats_->has_seats(item.ticket_type)) continue;
    const auto units = is_live(claim.status)                     ? std::int64_t{item.quantity}
                       : claim.status == claim_status::confirmed ? std::int64_t{item.quantity} - item.refunded
                                                                 : 0;
    if (live[item.ticket_type] != units)
      fail("I1", std::to_string(units) + " units with seats, and " + std::to_string(live[item.ticket_type])
                   + " seats");
  }
}

void checker::saw_seats_refused(reason why) {
  if (why == reason::seat_taken) reached(rare::seat_conflict);
  if (why == reason::seat_single) reached(rare::single_refused);
  if (why == reason::no_best_seats) reached(rare::no_best_seats);
}

} // namespace fq::sim
