// SPDX-License-Identifier: Apache-2.0
// The reserved seats of an event that has a plan: the map, the seats of each claim, and their changes. The
// sale decides; `inventory` counts the same units by ticket type.
#pragma once
#include "domain/model/change.hpp"
#include "domain/model/refusal.hpp"
#include "domain/seats/best.hpp"

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace fq {

class seating {
public:
  /// `types`: as in seat_map. `version`: the map's first.
  seating(std::shared_ptr<const seat_plan> plan, std::vector<std::uint8_t> types, const seat_rules& rules,
          std::uint64_t version);
  /// Throws std::runtime_error if the row is not what a sale stored. `known`: has perhaps read the same plan.
  seating(const event_plan_row& row, std::uint64_t version, const seating* known = nullptr);

  /// Settings come first, then the seats of claims.
  void load(const seat_setting_row& row);
  void load(const claim_seat_row& row, claim_status of);

  [[nodiscard]] const seat_map& map() const { return map_; }
  [[nodiscard]] const seat_rules& rules() const { return rules_; }
  [[nodiscard]] event_plan_row row() const;
  /// text_of(map().plan()); never null, and another object for each seating.
  [[nodiscard]] const std::shared_ptr<const std::string>& text() const { return text_; }
  /// Ticket types that the plan names: their totals follow the plan.
  [[nodiscard]] bool governs(std::uint32_t ticket_type) const { return (governed_ >> ticket_type & 1) != 0; }
  /// Of these, those that have seats and no standing places.
  [[nodiscard]] bool has_seats(std::uint32_t ticket_type) const { return (seated_ >> ticket_type & 1) != 0; }
  /// With a restricted view.
  [[nodiscard]] bool has_obstructed_seats() const { return has_obstructed_; }
  /// Units of a governed ticket type: seats that are not blocked, or standing places.
  [[nodiscard]] std::int64_t units_of(std::uint32_t ticket_type) const;
  /// Free places of the standing areas, by area; areas of one ticket type share theirs. As of the last call
  /// of count_standing.
  [[nodiscard]] std::span<const std::int64_t> standing_free() const { return standing_free_; }
  /// Other numbers than before are a new version of the map.
  void count_standing(std::span<const ticket_type_row> types);
  /// "A-3 A-4".
  [[nodiscard]] std::string names_of(std::span<const seat_number> seats) const;

  // -- claims. Each appends its change
  /// Precondition: all are free.
  void hold(const claim_id& claim, std::span<const seat_number> seats, changes& out);
  /// Whether all seats that the claim had are free, and of the same ticket type as then.
  [[nodiscard]] bool are_free_again(const claim_id& claim) const;
  /// `fresh` buys the seats that `before` had. Precondition: are_free_again(before).
  void sell_again(const claim_id& before, const claim_id& fresh, changes& out);
  void release(const claim_id& claim, changes& out);
  void confirm(const claim_id& claim) { map_.confirm(claim); } // its rows stay as they are
  void take_back(const claim_id& claim, std::span<const seat_number> seats, changes& out);
  /// Ends loaded live rows of claims that have ended: a program that knows no seats ended them.
  void end_leftovers(changes& out);
  /// Those that the claim holds or has bought, also those of other ticket types.
  [[nodiscard]] std::span<const seat_number> seats_of(const claim_id& claim) const {
    return map_.seats_of(claim);
  }

  // -- the organizer's changes; all or none
  seat_refusal set(std::span<const seat_number> seats, std::optional<bool> is_blocked,
                   std::optional<std::uint32_t> ticket_type, changes& out);
  /// Seats that claims have stay. A new version of the map, whose readers hear of the rules.
  void set(const seat_rules& rules, changes& out);

private:
  seating(std::shared_ptr<const seat_plan> plan, std::vector<std::uint8_t> types, const seat_rules& rules,
          std::uint64_t version, std::shared_ptr<const std::string> text);
  void take(const claim_id& claim, std::span<const seat_number> seats, changes& out);
  void end(const claim_id& claim, std::span<const seat_number> seats, changes& out);

  std::vector<std::uint8_t> types_; ///< of each ticket type of the plan
  seat_rules rules_;
  std::uint64_t governed_ = 0, seated_ = 0; ///< bit i: the ticket type with ordinal i
  seat_map map_;
  bool has_obstructed_ = false;
  std::vector<std::int64_t> standing_free_;
  std::vector<claim_id> leftovers_; ///< loaded, with a live row although they have ended
  std::shared_ptr<const std::string> text_; ///< of the plan: it may have a megabyte
  std::unordered_map<claim_id, std::vector<claim_seat_row>> rows_; ///< also of claims that have ended
};

/// Why a plan cannot have these ticket types; none if it can. `types`: as in seat_map.
refusal may_seat(const seat_plan& plan, const std::vector<std::uint8_t>& types);

/// A row of the ledger as seat_holding, for `contradictions`.
std::vector<seat_holding> holdings_of(std::span<const claim_seat_row> seats,
                                      std::span<const claim_row> claims);

} // namespace fq
