// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/outcomes.hpp"

#include <algorithm>

namespace fq {

void session_outcomes::follow(const queue_line& line, const claims_book& claims) {
  for (; !open.empty(); open.pop_front()) {
    const auto* e = line.find(open.front());
    if (e->status == entry_status::admitted) return;
    std::uint64_t bought = 0;
    for (const auto& id : claims.standing_of(e->subject)) {
      const auto& claim = *claims.find(id);
      if (claim.entry != e->number || claim.status != claim_status::confirmed) continue;
      for (const auto& i : claim.items) bought += i.quantity;
    }
    ++people;
    claimed += e->session().has_claimed || e->session().reclaims > 0 ? 1 : 0;
    buyers += bought > 0 ? 1 : 0;
    units += bought;
    squares += bought * bought;
  }
}

void session_outcomes::load(const queue_line& line, const claims_book& claims) {
  std::vector<std::pair<timestamp, queue_number>> all;
  line.each([&](const queue_line::entry& e) {
    if (is_set(e.session().admitted_at)) all.emplace_back(e.session().admitted_at, e.number);
  });
  std::ranges::sort(all);
  for (const auto& [at, number] : all) open.push_back(number);
  follow(line, claims);
}

} // namespace fq
