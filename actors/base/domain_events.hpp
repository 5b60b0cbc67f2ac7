// SPDX-License-Identifier: Apache-2.0
// Domain events as they go out: the JSON of their payload.
#pragma once
#include "domain/delivery/outbox.hpp"
#include "domain/sale/sale.hpp"

#include <span>
#include <string>

namespace fq {

/// A JSON object: event_id, the subject's id under its own name, customer_id, amount and currency,
/// session_expires_at, items, points where they apply. `types`: the event's, by ordinal.
/// docs/events.schema.json is what it promises.
std::string payload_of(const domain_event& told, const event_row& event,
                       std::span<const ticket_type_row> types);

/// quota.invitation, as it is told.
domain_event invitation_event_of(const invitation_row& invitation);

/// Of blacklist.enforced.
std::string block_payload_of(const block_effect& effect, const event_row& event);

/// Of user.updated. `is_verified`: the customer has shown that the address is theirs.
std::string user_payload_of(const customer_row& customer, bool is_verified);

} // namespace fq
