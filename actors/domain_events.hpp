// SPDX-License-Identifier: Apache-2.0
// Domain events as they go out: the JSON of their payload.
#pragma once
#include "domain/outbox.hpp"

#include <string>

namespace fq {

/// A JSON object: event_id, the subject's id under its own name, customer_id, amount and currency, session_expires_at where they apply.
std::string payload_of(const domain_event& told, const event_row& event);

} // namespace fq
