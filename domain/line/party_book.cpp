// SPDX-License-Identifier: Apache-2.0
#include "domain/line/party_book.hpp"

#include <algorithm>
#include <utility>

namespace fq {

void party_book::enter(queue_number n, queue_number party, bool is_in_line) {
  of_[n] = party;
  auto& p = parties_[party];
  p.entries.push_back(n);
  if (!is_in_line) return;
  std::swap(p.entries[p.in_line], p.entries.back()); // those out of line have no order
  const auto end_of_line = p.entries.begin() + static_cast<std::ptrdiff_t>(p.in_line++);
  std::rotate(std::upper_bound(p.entries.begin(), end_of_line, n), end_of_line, end_of_line + 1);
}

void party_book::left_line(queue_number n) {
  const auto own = of_.find(n);
  if (own == of_.end()) return;
  auto& p = parties_.find(own->second)->second;
  const auto end_of_line = p.entries.begin() + static_cast<std::ptrdiff_t>(p.in_line);
  const auto at = std::find(p.entries.begin(), end_of_line, n);
  if (at == end_of_line) return;
  std::rotate(at, at + 1, end_of_line);
  --p.in_line;
}

void party_book::forget(queue_number n) {
  const auto own = of_.find(n);
  if (own == of_.end()) return;
  const auto found = parties_.find(own->second);
  auto& p = found->second;
  const auto at = std::ranges::find(p.entries, n);
  if (at - p.entries.begin() < static_cast<std::ptrdiff_t>(p.in_line)) --p.in_line;
  p.entries.erase(at);
  if (p.entries.empty()) parties_.erase(found);
  of_.erase(own);
}

queue_number party_book::party_of(queue_number n) const {
  const auto found = of_.find(n);
  return found == of_.end() ? queue_number{} : found->second;
}

std::span<const queue_number> party_book::members(queue_number party) const {
  const auto found = parties_.find(party);
  if (found == parties_.end()) return {};
  return std::span{found->second.entries}.first(found->second.in_line);
}

} // namespace fq
