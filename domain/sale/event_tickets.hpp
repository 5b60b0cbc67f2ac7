// SPDX-License-Identifier: Apache-2.0
// The event tickets of an event: rows, and those of each claim. The sale decides which are issued and
// cancelled.
#pragma once
#include "domain/model/change.hpp"

#include <cstddef>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace fq {

class event_tickets_book {
public:
  void load(const event_ticket_row& row);

  /// Null: none.
  [[nodiscard]] const event_ticket_row* find(const event_ticket_id& id) const;
  /// By id, so by time.
  [[nodiscard]] const std::map<event_ticket_id, event_ticket_row>& all() const { return rows_; }
  /// Of `claim`, also those that are no longer valid; by id.
  [[nodiscard]] std::span<const event_ticket_row* const> of_claim(const claim_id& claim) const;
  /// Valid ones of `claim` and `ticket_type`.
  [[nodiscard]] std::size_t count_valid(const claim_id& claim, std::uint32_t ticket_type) const;
  /// The same, at most `count`: those that were never checked in come first, then the newest;
  /// of reserved seats the last ones.
  [[nodiscard]] std::vector<event_ticket_id> first_to_cancel(const claim_id& claim, std::uint32_t ticket_type,
                                                             std::size_t count) const;

  void issue(event_ticket_row row, changes& out);
  /// Applies `trigger`; false if the rule table forbids it.
  bool move(const event_ticket_id& id, event_ticket_trigger trigger, timestamp now, changes& out);

private:
  std::map<event_ticket_id, event_ticket_row> rows_;
  std::unordered_map<claim_id, std::vector<const event_ticket_row*>> by_claim_;
};

} // namespace fq
