// SPDX-License-Identifier: Apache-2.0
// Which attendee of an order has which of its event tickets. Pure.
#pragma once
#include "domain/model/sale_rows.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>

namespace fq {

class sale;

using attendee_numbers = std::unordered_map<event_ticket_id, std::uint32_t>;

/// The numbers as answers have them (answer_row): from 1, in the order of the claim's items, within an item
/// in the order of the seats' numbers, without seats in that of the tickets' ids. `tickets`: all of the
/// claim, also cancelled ones, so that a number never goes to another ticket. One too many for its item gets
/// none.
[[nodiscard]] attendee_numbers attendees_of(const claim_row& claim,
                                            std::span<const event_ticket_row* const> tickets);
/// Those that papers show: none unless the event asks attendees.
[[nodiscard]] attendee_numbers asked_attendees(const sale& now, const claim_id& claim);
/// 0: none.
[[nodiscard]] std::uint32_t attendee_of(const attendee_numbers& numbers, const event_ticket_id& ticket);

} // namespace fq
