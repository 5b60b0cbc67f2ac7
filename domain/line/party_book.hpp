// SPDX-License-Identifier: Apache-2.0
// The parties of a line: entries that draw one lot and are admitted together. About 100 bytes for each
// member; nothing without parties.
#pragma once
#include "domain/base/ids.hpp"

#include <span>
#include <unordered_map>
#include <vector>

namespace fq {

class party_book {
public:
  /// `is_in_line`: it counts as a member.
  void enter(queue_number n, queue_number party, bool is_in_line);
  /// The entry left the line: its row keeps the party.
  void left_line(queue_number n);
  void forget(queue_number n) { of_.erase(n); }
  /// 0: none.
  [[nodiscard]] queue_number party_of(queue_number n) const;
  /// Those in line, by ascending number.
  [[nodiscard]] std::span<const queue_number> members(queue_number party) const;
  /// Calls `take(number, party)` for each entry in memory that has a party.
  template <class Take>
  void each(Take take) const {
    for (const auto& [n, party] : of_) take(n, party);
  }

private:
  std::unordered_map<queue_number, queue_number> of_;
  std::unordered_map<queue_number, std::vector<queue_number>> members_;
};

} // namespace fq
