// SPDX-License-Identifier: Apache-2.0
// Offers an event ticket to an address, for API and pages.
#pragma once
#include "actors/protocol/fan_messages.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <optional>
#include <string>

namespace fq::net {

struct offered {
  std::optional<response> no;
  reason why = reason::none; ///< of the event's refusal
  transfer_row transfer = {};
};

/// `email`: valid, in lower case; with or without an account. Asks the customer's limit of offers first.
awaitable<offered> offer_to(context& ctx, const request& rq, customer_id giver, event_ticket_id ticket,
                            std::string email);

} // namespace fq::net
