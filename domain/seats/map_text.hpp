// SPDX-License-Identifier: Apache-2.0
// Seat maps as JSON: whole, and the changes since a version. Equal maps have equal texts. Lists of seats are
// texts such as "5-9,12".
#pragma once
#include "domain/seats/best.hpp"

#include <string>

namespace fq {

/// {"version":7,"seats":50000,"states":"<base64url of
/// packed_states>","types":{"1":"5-9,12"},"plan_types":[0,1]}. `types` has the ordinal of each ticket type
/// with the seats that were moved to it, `plan_types` the ordinal of each of the plan's. 17 KB for 50,000
/// seats.
void append_seat_map(std::string& out, const seat_map& map, bool for_shoppers);

/// {"from":5,"version":7,"free":"1-3","held":"4","types":{"1":"2"}}: only lists that have seats. A changed
/// seat that `types` does not name has the plan's type. False, and nothing, also if
/// there are more than seat_changes_told_max: the reader takes the whole map.
bool append_seat_changes(std::string& out, const seat_map& map, std::uint64_t since, bool for_shoppers);

/// Adds to the text of a map or of changes: "areas_free":[500,12], the free places of each standing area.
/// Nothing without areas.
void append_standing(std::string& out, std::span<const std::int64_t> free);

/// The same for the rules: all for managers, for shoppers "accessible_for_all":true or nothing.
void append_rules(std::string& out, const seat_rules& rules, bool for_shoppers);

/// Appends ascending numbers: "5-9,12".
void append_runs(std::string& out, std::span<const seat_number> seats);

} // namespace fq
