// SPDX-License-Identifier: Apache-2.0
#include "net/api/seat_wishes.hpp"

#include "net/api/limits.hpp"

namespace fq::net {

item_wish read_item(object_reader& item) {
  item.require("ticket_type_id");
  item_wish wish;
  wish.ticket_type = item.id("ticket_type_id").value;
  const auto quantity = item.number<std::uint32_t>("quantity", quantity_range);
  wish.seats = item.texts("seats", quantity_range, seat_name_size);
  const auto otherwise = wish.seats.empty() ? std::size_t{1} : wish.seats.size();
  wish.quantity = quantity.given ? quantity.value : static_cast<std::uint32_t>(otherwise);
  return wish;
}

void read_seats(object_reader& body, seat_wish& seats) {
  seats.best.count = body.number<std::uint32_t>("best", quantity_range).value;
  seats.best.section = body.text("section", section_size).value;
  seats.best.ticket_type = body.id("ticket_type_id").value;
  seats.best.accessible = body.number<std::uint32_t>("accessible", accessible_range).value;
  seats.asks_accessible = seats.best.accessible;
  if (seats.best.count > 0) return;
  for (const auto name : {"section", "ticket_type_id"})
    if (body.has(name)) body.reject(name, "Needs best.");
}

} // namespace fq::net
