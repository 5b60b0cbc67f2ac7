// SPDX-License-Identifier: Apache-2.0
// The row of an event ticket. No ledger stores it yet: it is not in change.hpp.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/model/description.hpp"
#include "domain/model/rare_text.hpp"
#include "domain/model/states.hpp"

#include <cstdint>

namespace fq {

/// One unit of a confirmed claim. Price and refunds are the claim's.
struct event_ticket_row {
  event_ticket_id id;
  claim_id claim;
  std::uint32_t ticket_type = 0; ///< ordinal
  rare_text seat; ///< label in the event's plan; empty: none
  customer_id holder; ///< the buyer, until a transfer; a refund goes to the claim's customer
  rare_text attendee; ///< name to print. Personal data of the holder
  event_ticket_status status = event_ticket_status::issued;
  std::uint32_t generation = 1; ///< of its code (event_ticket_code): a transfer raises it
  timestamp created_at, updated_at;
  friend bool operator==(const event_ticket_row&, const event_ticket_row&) = default;
};
FQ_ROW(event_ticket_row, "event_ticket", aggregate, row_field("id", &row::id, key),
       row_field("claim", &row::claim, once), row_field("ticket_type", &row::ticket_type, once),
       row_field("seat", &row::seat, once), row_field("holder", &row::holder),
       row_field("attendee", &row::attendee), row_field("status", &row::status),
       row_field("generation", &row::generation), row_field("created_at", &row::created_at, once),
       row_field("updated_at", &row::updated_at))

} // namespace fq
