// SPDX-License-Identifier: Apache-2.0
// Finds the best seats for a group, and checks seats that a customer chose. Pure; holds nothing.
//
// Best seats stand side by side in one row and have one ticket type. The best row is the first one of
// seat_plan::rows_by_quality() that has such seats; in it, those with the fewest obstructed seats, then
// those nearest to the row's best point. A group
// that fits in no row is divided over two neighbouring rows, if the organizer allows it.
//
// A *single* is an open seat without an open neighbour: groups do not buy it. A choice may leave no new
// single, as far as the organizer's rule says.
//
// Accessible seats and their companions' are kept for people who ask for an accessible seat. They get
// exactly as many accessible seats as they ask for, and the rest of the group beside.
#pragma once
#include "domain/seats/seat_map.hpp"

namespace fq {

enum class single_rule : std::uint8_t {
  strict, ///< no choice leaves a single
  /// Best seats leave one only if they can be had in no other way. A named choice may leave one where only
  /// one more seat was open.
  when_needed,
  off, ///< any choice may
};

/// The organizer's rules for choices.
struct seat_rules {
  single_rule singles = single_rule::strict;
  bool may_split = false; ///< over two neighbouring rows, at least two seats in each
  bool accessible_for_all = false; ///< accessible and companions' seats are sold like all others
};

inline constexpr std::uint64_t all_seat_types = ~std::uint64_t{0};

struct best_wish {
  std::uint32_t count = 1; ///< at most claim_seats_max
  std::uint32_t accessible = 0; ///< of them for wheelchairs
  std::optional<std::uint16_t> section = {}; ///< none: any
  std::uint64_t types = all_seat_types; ///< bit i: seats of the ticket type with ordinal i
};

/// The best seats, in ascending order; empty: there are none under the rules.
[[nodiscard]] std::vector<seat_number> best(const seat_map& map, const best_wish& wish,
                                            const seat_rules& rules);

/// Seats that a customer chose.
struct named_wish {
  std::span<const seat_number> seats;
  std::uint32_t asks_accessible = 0; ///< accessible seats that it may have, and companions' beside them
  std::uint64_t types = all_seat_types;
};

/// Whether the rules allow the choice: too_many, unknown, repeated, taken, kept_accessible, wrong_type or
/// leaves_single (with the singles), in this order.
[[nodiscard]] seat_refusal check_choice(const seat_map& map, const named_wish& wish, const seat_rules& rules);

} // namespace fq
