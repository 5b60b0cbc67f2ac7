// SPDX-License-Identifier: Apache-2.0
// What the bodies of claims and checkouts say about items and seats.
#pragma once
#include "domain/sale/views.hpp"
#include "net/wire/json_in.hpp"

namespace fq::net {

/// ticket_type_id, quantity and seats. Without a quantity: as many as seats, else 1.
item_wish read_item(object_reader& item);
/// best, section, ticket_type_id and accessible.
void read_seats(object_reader& body, seat_wish& seats);

} // namespace fq::net
