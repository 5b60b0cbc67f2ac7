// SPDX-License-Identifier: Apache-2.0
// The event tickets of an event: rows, and those of each claim. The sale decides which are issued and
// cancelled. An event may have a million: each takes 100 bytes, and each claim 60 more.
#pragma once
#include "domain/model/change.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace fq {

class event_tickets_book {
public:
  void load(const event_ticket_row& row);

  /// Null: none. A row stays where it is.
  [[nodiscard]] const event_ticket_row* find(const event_ticket_id& id) const;
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// By id, so by time.
  [[nodiscard]] const event_ticket_row& at(std::size_t place) const { return rows_[by_id_[place]]; }
  /// The first place whose id is not below `id`.
  [[nodiscard]] std::size_t place_of(const event_ticket_id& id) const;
  /// Of `claim`, also those that are no longer valid; by id.
  [[nodiscard]] std::vector<const event_ticket_row*> of_claim(const claim_id& claim) const;
  /// Valid ones of `claim` and `ticket_type`.
  [[nodiscard]] std::size_t count_valid(const claim_id& claim, std::uint32_t ticket_type) const;
  /// The same, at most `count`: those that were never checked in come first, then the newest;
  /// of reserved seats the last ones.
  [[nodiscard]] std::vector<event_ticket_id> first_to_cancel(const claim_id& claim, std::uint32_t ticket_type,
                                                             std::size_t count) const;

  void issue(event_ticket_row row, changes& out);
  /// Applies `trigger`; false if the rule table forbids it. Not for a transfer, which needs a new holder and
  /// generation.
  bool move(const event_ticket_id& id, event_ticket_trigger trigger, timestamp now, changes& out);

private:
  using index = std::uint32_t;
  static constexpr index none = ~index{0};
  template <class Visit>
  void newest_first(const claim_id& claim, Visit visit) const;

  std::deque<event_ticket_row> rows_; ///< as they came
  std::vector<index> by_id_;
  std::vector<index> older_; ///< the next lower id of the same claim
  std::unordered_map<claim_id, index> newest_; ///< the highest id of the claim
};

} // namespace fq
