// SPDX-License-Identifier: Apache-2.0
// Rows of reserved seats. A seat is its number in the plan of its event (domain/seats/plan.hpp), a ticket
// type its ordinal. Each struct is followed by its description.
#pragma once
#include "domain/model/description.hpp"

#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <cstdint>
#include <string>

namespace fq {

/// A plan of a hall that events copy.
struct seat_plan_row {
  uuid id;
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< nil: stored by an operator, belongs to the tenant
  std::string name;
  std::string content; ///< text_of(seat_plan); empty in lists
  timestamp created_at;
  friend bool operator==(const seat_plan_row&, const seat_plan_row&) = default;
};
FQ_ROW(seat_plan_row, "seat_plan", installation, row_field("id", &row::id, key),
       row_field("tenant", &row::tenant), row_field("organizer", &row::organizer),
       row_field("name", &row::name),
       row_field("content", &row::content, always, setting_rule{.form = lines}),
       row_field("created_at", &row::created_at))

/// An event's copy of a plan, which never changes while the event sells, and the rules of seat_rules, which
/// may.
struct event_plan_row {
  std::string content; ///< text_of(seat_plan)
  std::string types; ///< the event's ticket type of each of the plan's: ordinals with a blank between them
  std::uint8_t singles = 0; ///< single_rule
  bool may_split = false;
  bool accessible_for_all = false;
  friend bool operator==(const event_plan_row&, const event_plan_row&) = default;
};
FQ_ROW(event_plan_row, "event_plan", aggregate, row_field("content", &row::content),
       row_field("types", &row::types), row_field("singles", &row::singles),
       row_field("may_split", &row::may_split), row_field("accessible_for_all", &row::accessible_for_all))

/// A seat that a claim holds or has bought, or had: a row stays as long as its claim.
struct claim_seat_row {
  claim_id claim;
  std::uint32_t seat = 0;
  std::uint32_t ticket_type = 0; ///< when it was taken
  bool is_live = true; ///< at most one live row per seat of an event: I1
  friend bool operator==(const claim_seat_row&, const claim_seat_row&) = default;
};
FQ_ROW(claim_seat_row, "claim_seat", aggregate, row_field("claim", &row::claim, key),
       row_field("seat", &row::seat, key), row_field("ticket_type", &row::ticket_type, once),
       row_field("is_live", &row::is_live))

/// A seat that the organizer has changed.
struct seat_setting_row {
  std::uint32_t seat = 0;
  std::uint32_t ticket_type = 0;
  bool is_blocked = false;
  friend bool operator==(const seat_setting_row&, const seat_setting_row&) = default;
};
FQ_ROW(seat_setting_row, "seat_setting", aggregate, row_field("seat", &row::seat, key),
       row_field("ticket_type", &row::ticket_type), row_field("is_blocked", &row::is_blocked))

} // namespace fq
