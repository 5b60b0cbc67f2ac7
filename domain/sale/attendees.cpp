// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/attendees.hpp"

#include "domain/sale/sale.hpp"

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

attendee_numbers asked_attendees(const sale& now, const claim_id& claim) {
  const auto* found = now.claims().find(claim);
  const bool asks = std::ranges::any_of(now.event().questions, &question::of_attendee);
  return found != nullptr && asks ? attendees_of(*found, now.event_tickets().of_claim(claim))
                                  : attendee_numbers{};
}

std::uint32_t attendee_of(const attendee_numbers& numbers, const event_ticket_id& ticket) {
  const auto found = numbers.find(ticket);
  return found != numbers.end() ? found->second : 0;
}

} // namespace fq
