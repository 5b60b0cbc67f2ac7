// SPDX-License-Identifier: Apache-2.0
// The seats of one event: a copy of a plan in which each seat is free, held, sold or blocked. Keeps I1 for
// seats: no seat has two claims. The words are those of `inventory`, which counts the same units by ticket
// type. Each call changes all named seats or none. The owner of the event is the only caller.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/seats/plan.hpp"

#include <array>
#include <deque>
#include <unordered_map>

namespace fq {

enum class seat_state : std::uint8_t { free, held, sold, blocked };

enum class seat_fault : std::uint8_t {
  none,
  too_many, ///< no seats, or more than claim_seats_max
  unknown, ///< not in the plan
  repeated, ///< named twice
  claim_known, ///< the claim has seats
  taken, ///< held, sold or blocked; for a move: held or sold
  kept_accessible, ///< for people who ask for an accessible seat
  wrong_type, ///< of another ticket type
  leaves_single, ///< the named seats would stay free alone
};

/// A refusal with the seats that it concerns, in ascending order.
struct [[nodiscard]] seat_refusal {
  seat_fault why = seat_fault::none;
  std::vector<seat_number> seats = {};
  explicit operator bool() const { return why != seat_fault::none; }
  friend bool operator==(const seat_refusal&, const seat_refusal&) = default;
};

/// One seat as it is now.
struct seat_now {
  seat_number seat = 0;
  seat_state state = seat_state::free;
  std::uint8_t type = 0; ///< ordinal of its ticket type
  friend bool operator==(const seat_now&, const seat_now&) = default;
};

class seat_map {
public:
  using seat_list = std::vector<seat_number>;
  struct counts {
    std::uint32_t free = 0, held = 0, sold = 0, blocked = 0;
    friend bool operator==(const counts&, const counts&) = default;
  };

  /// `types`: for each ticket type of the plan the ordinal of the event's, below seat_types_max.
  /// `version`: the first; greater than all that an earlier owner of the event has shown.
  seat_map(std::shared_ptr<const seat_plan> plan, std::span<const std::uint8_t> types, std::uint64_t version);

  /// A seat from the ledger that is not as in the plan; `claim` nil unless held or sold. Before the first
  /// read: it is no change.
  void load(const seat_now& row, const claim_id& claim);

  // -- claims. O(seats asked), and the rows that they are in
  /// free -> held.
  seat_refusal hold(const claim_id& claim, std::span<const seat_number> seats);
  /// free -> sold: late money buys the seats that its claim had.
  seat_refusal sell(const claim_id& claim, std::span<const seat_number> seats);
  /// held -> free; false if the claim holds nothing.
  bool release(const claim_id& claim);
  /// held -> sold; false if the claim holds nothing.
  bool confirm(const claim_id& claim);
  /// sold -> free, for refunded tickets of the claim; `taken` if one is not a sold seat of it.
  seat_refusal take_back(const claim_id& claim, std::span<const seat_number> seats);

  // -- the organizer's changes, of any number of seats. Held and sold seats refuse
  seat_refusal block(std::span<const seat_number> seats); ///< free -> blocked; no error if blocked
  seat_refusal unblock(std::span<const seat_number> seats); ///< blocked -> free; no error if free
  seat_refusal move_to_type(std::span<const seat_number> seats, std::uint8_t type);

  /// A new version without a changed seat: what readers get beside the seats has changed.
  void renew_version() { ++version_; }

  // -- views
  [[nodiscard]] const seat_plan& plan() const { return *plan_; }
  [[nodiscard]] const std::shared_ptr<const seat_plan>& shared_plan() const { return plan_; }
  [[nodiscard]] seat_number size() const { return static_cast<seat_number>(types_.size()); }
  [[nodiscard]] seat_state state(seat_number n) const {
    return seat_state{static_cast<std::uint8_t>(cells_[n] & 3)};
  }
  [[nodiscard]] std::uint8_t type(seat_number n) const { return types_[n]; }
  /// Nil unless held or sold.
  [[nodiscard]] const claim_id& holder(seat_number n) const { return holders_[n]; }
  /// The seats that the claim holds or has bought, in the order in which it named them.
  [[nodiscard]] std::span<const seat_number> seats_of(const claim_id& claim) const;
  [[nodiscard]] const std::unordered_map<claim_id, seat_list>& claims() const { return claims_; }
  [[nodiscard]] const counts& counts_of(std::uint8_t type) const { return counts_[type]; }
  /// Ordinals of the event's ticket types, by those of the plan.
  [[nodiscard]] std::span<const std::uint8_t> plan_types() const { return plan_types_; }
  [[nodiscard]] std::uint8_t type_in_plan(seat_number n) const { return plan_types_[plan_->seats()[n].type]; }
  /// The longest run of free seats side by side in a row.
  [[nodiscard]] std::uint16_t longest_run(std::uint16_t row) const { return longest_[row]; }
  /// Whether the seat is beside the one before it. `n` may be size().
  [[nodiscard]] bool is_joined(seat_number n) const { return (cells_[n] & joined) != 0; }
  /// Whether the seat is free and not kept for people who ask for an accessible one, unless `for_all`.
  [[nodiscard]] bool is_open(seat_number n, bool for_all) const {
    return (cells_[n] & (for_all ? state_bits : state_bits | kept_bits)) == 0;
  }
  [[nodiscard]] bool is_accessible(seat_number n) const { return (cells_[n] & accessible) != 0; }
  [[nodiscard]] bool is_companion(seat_number n) const { return (cells_[n] & companion) != 0; }
  [[nodiscard]] bool is_obstructed(seat_number n) const { return (cells_[n] & obstructed) != 0; }

  // -- what readers get
  /// Rises with each change.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  /// The seats that changed after `version`, as they are now, in ascending order. None: too long ago, or not
  /// a version of this map; the reader takes the whole map.
  [[nodiscard]] std::optional<std::vector<seat_now>> changes_since(std::uint64_t version) const;
  /// How often a seat changed after `version`, as far as that is kept: what changes_since costs.
  [[nodiscard]] std::size_t changes_after(std::uint64_t version) const;
  /// Two bits a seat, four seats a byte from its lowest bits on: 0 free, 1 held, 2 sold, 3 blocked. For
  /// shoppers a blocked seat is sold.
  [[nodiscard]] std::string packed_states(bool for_shoppers) const;
  /// The seats whose ticket type is not the plan's, in ascending order.
  [[nodiscard]] std::vector<seat_now> moved_seats() const;

private:
  /// Of a cell: the state and what a search asks of a seat, in one byte.
  static constexpr std::uint8_t state_bits = 3, accessible = 4, companion = 8, joined = 16, obstructed = 32,
                                kept_bits = accessible | companion;
  struct mark {
    std::uint64_t version = 0;
    seat_number seat = 0;
  };
  seat_refusal take(const claim_id& claim, std::span<const seat_number> seats, seat_state to);
  seat_refusal change_untaken(std::span<const seat_number> seats, seat_state from, seat_state to);
  [[nodiscard]] seat_refusal wrong_names(std::span<const seat_number> seats) const;
  /// The seats of which `allows` is false refuse the change.
  template <class Allows>
  seat_refusal refuse(std::span<const seat_number> seats, Allows allows) const;
  template <class Seats, class Change>
  void change(const Seats& seats, Change apply);
  void set(seat_number n, seat_state to, const claim_id& claim);
  [[nodiscard]] std::uint32_t& count(seat_number n);
  void measure_runs(std::uint16_t row);

  std::shared_ptr<const seat_plan> plan_;
  std::vector<std::uint8_t> plan_types_; ///< ordinal of each ticket type of the plan
  std::vector<std::uint8_t> cells_; ///< one more than seats: the end is not free
  std::vector<std::uint8_t> types_;
  std::vector<claim_id> holders_;
  std::vector<std::uint16_t> longest_; ///< by row
  std::unordered_map<claim_id, seat_list> claims_;
  std::array<counts, seat_types_max> counts_{};
  std::uint64_t version_;
  std::uint64_t oldest_; ///< the lowest version of which all later changes are kept
  std::deque<mark> marks_; ///< at most seat_changes_max
};

/// Describes contradictions inside the map, for people; empty if none. I1 for seats: every held or sold seat
/// has exactly one claim, and that claim has it once.
[[nodiscard]] std::vector<std::string> contradictions(const seat_map& map);

/// A held or sold seat in the ledger.
struct seat_holding {
  seat_number seat = 0;
  claim_id claim;
  bool is_sold = false;
};
/// The same for rows of the ledger against the owner's memory: no seat twice, none missing, none more.
[[nodiscard]] std::vector<std::string> contradictions(const seat_map& map,
                                                      std::span<const seat_holding> rows);

} // namespace fq
