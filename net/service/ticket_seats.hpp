// SPDX-License-Identifier: Apache-2.0
// The seats of a customer's event tickets: the ledger's list has numbers, the events have the plans.
#pragma once
#include "actors/protocol/catalog_messages.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <vector>

namespace fq::net {

/// For `held.seats`. The first event that does not answer ends it, and slow ones do: further tickets are
/// without. `held` must outlive the call.
awaitable<std::vector<ticket_seat>> find_seats_of(context& ctx, const held_tickets_reply& held,
                                                  customer_id holder);

} // namespace fq::net
