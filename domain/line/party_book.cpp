// SPDX-License-Identifier: Apache-2.0
#include "domain/line/party_book.hpp"

#include <algorithm>

namespace fq {

void party_book::enter(queue_number n, queue_number party, bool is_in_line) {
  of_[n] = party;
  if (!is_in_line) return;
  auto& all = members_[party];
  all.insert(std::ranges::upper_bound(all, n), n);
}

void party_book::left_line(queue_number n) {
  const auto party = of_.find(n);
  if (party == of_.end()) return;
  const auto all = members_.find(party->second);
  if (all == members_.end()) return;
  std::erase(all->second, n);
  if (all->second.empty()) members_.erase(all);
}

queue_number party_book::party_of(queue_number n) const {
  const auto found = of_.find(n);
  return found == of_.end() ? queue_number{} : found->second;
}

std::span<const queue_number> party_book::members(queue_number party) const {
  const auto found = members_.find(party);
  return found == members_.end() ? std::span<const queue_number>{} : found->second;
}

} // namespace fq
