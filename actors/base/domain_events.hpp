// SPDX-License-Identifier: Apache-2.0
// JSON payloads of domain events.
#pragma once
#include "domain/delivery/outbox.hpp"
#include "domain/sale/sale.hpp"

#include <span>
#include <string>

namespace fq {

/// Payload per docs/events.schema.json: event_id, the subject's id under its own name, customer_id, and
/// amount, currency, session_expires_at, items, points where they apply. `types`: the event's ticket types,
/// by ordinal.
std::string payload_of(const domain_event& told, const event_row& event,
                       std::span<const ticket_type_row> types);

/// The domain event quota.invitation.
domain_event invitation_event_of(const invitation_row& invitation);

/// Payload of blacklist.enforced.
std::string block_payload_of(const block_effect& effect, const event_row& event);

/// Payload of user.updated: of a new customer, which has proved ownership of the address by signing in, or of
/// an erased one.
std::string user_payload_of(const customer_row& customer);

} // namespace fq
