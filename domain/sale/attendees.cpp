// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/attendees.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

namespace fq {

attendee_numbers attendees_of(const claim_row& claim, std::span<const event_ticket_row* const> tickets) {
  std::vector<const event_ticket_row*> sorted(tickets.begin(), tickets.end());
  std::ranges::sort(sorted, {}, [](const auto* t) { return std::tie(t->ticket_type, t->seat, t->id); });
  attendee_numbers numbers;
  std::uint32_t before = 0; // units of the items before
  for (const auto& item : claim.items) {
    std::uint32_t n = 0, seat = 0;
    for (const auto* t : std::ranges::equal_range(sorted, item.ticket_type, {},
                                                  [](const auto* ticket) { return ticket->ticket_type; })) {
      if (t->seat == 0 || t->seat != seat) ++n; // a seat that was issued again keeps its attendee
      seat = t->seat;
      if (n <= item.quantity) numbers.emplace(t->id, before + n);
    }
    before += item.quantity;
  }
  return numbers;
}

} // namespace fq
