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
  void forget(queue_number n);
  /// 0: none.
  [[nodiscard]] queue_number party_of(queue_number n) const;
  /// Those in line, by ascending number.
  [[nodiscard]] std::span<const queue_number> members(queue_number party) const;
  /// Calls `take(party, entries)` for each party with its entries in memory, in line or not.
  template <class Take>
  void each(Take take) const {
    for (const auto& [party, p] : parties_) take(party, std::span<const queue_number>{p.entries});
  }

private:
  struct party_entries {
    std::vector<queue_number> entries; ///< first those in line, by ascending number
    std::size_t in_line = 0;
  };
  std::unordered_map<queue_number, queue_number> of_;
  std::unordered_map<queue_number, party_entries> parties_;
};

} // namespace fq
