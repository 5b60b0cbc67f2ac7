// SPDX-License-Identifier: Apache-2.0
// The offers of an event's tickets to other people: rows, and those of each ticket. The sale decides which
// are made and accepted.
#pragma once
#include "domain/model/change.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace fq {

class transfers_book {
public:
  void load(const transfer_row& row);

  /// Null: none.
  [[nodiscard]] const transfer_row* find(const transfer_id& id) const;
  [[nodiscard]] const std::map<transfer_id, transfer_row>& all() const { return rows_; }
  /// Null: the ticket has no open offer.
  [[nodiscard]] const transfer_row* open_of(const event_ticket_id& ticket) const;
  /// All offers of the ticket that ever were; by id, so by time.
  [[nodiscard]] std::span<const transfer_id> of_ticket(const event_ticket_id& ticket) const;
  /// How often the ticket has got another holder.
  [[nodiscard]] std::size_t accepted_of(const event_ticket_id& ticket) const;
  /// At most `most` open ones whose time is over.
  [[nodiscard]] std::vector<transfer_id> due(timestamp now, std::size_t most) const;
  /// never: none is open.
  [[nodiscard]] timestamp next_deadline() const;

  void offer(transfer_row row, changes& out);
  /// Applies `trigger` and forgets the addresses; false if the rule table forbids it.
  bool end(const transfer_id& id, transfer_trigger trigger, timestamp now, changes& out);
  /// The ledger erases them by itself: memory follows. `erased` is sorted.
  void forget_addresses(std::span<const customer_id> erased);

private:
  std::map<transfer_id, transfer_row> rows_;
  std::unordered_map<event_ticket_id, transfer_id> open_;
  std::unordered_map<event_ticket_id, std::vector<transfer_id>> of_ticket_; ///< by id
  std::set<std::pair<timestamp, transfer_id>> deadlines_; ///< of open ones
};

} // namespace fq
