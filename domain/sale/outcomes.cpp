// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/outcomes.hpp"

#include <algorithm>

namespace fq {

void session_outcomes::follow(const queue_line& line, const claims_book& claims, const orders_book& orders) {
  for (; !open.empty(); open.pop_front()) {
    const auto* e = line.find(open.front());
    if (e->status == entry_status::admitted) return;
    std::uint64_t bought = 0;
    const auto add = [&](const claim_id& id) {
      const auto& claim = *claims.find(id);
      if (claim.entry != e->number || claim.status != claim_status::confirmed) return;
      for (const auto& i : claim.items) bought += i.quantity;
    };
    for (const auto& id : claims.standing_of(e->subject)) add(id);
    for (const auto& id : orders.of_guest(e->subject)) add(orders.find(id)->claim); // the buyer's now
    ++people;
    claimed += e->session().has_claimed || e->session().reclaims > 0 ? 1 : 0;
    buyers += bought > 0 ? 1 : 0;
    units += bought;
    squares += bought * bought;
  }
}

void session_outcomes::load(const queue_line& line, const claims_book& claims, const orders_book& orders) {
  std::vector<std::pair<timestamp, queue_number>> all;
  line.each([&](const queue_line::entry& e) {
    if (is_set(e.session().admitted_at)) all.emplace_back(e.session().admitted_at, e.number);
  });
  std::ranges::sort(all);
  for (const auto& [at, number] : all) open.push_back(number);
  follow(line, claims, orders);
}

} // namespace fq
