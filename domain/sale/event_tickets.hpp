// SPDX-License-Identifier: Apache-2.0
// The event tickets of an event: rows, and those of each claim. The sale decides which are issued and
// cancelled. An event may have a million: each takes 100 bytes, and each claim 60 more.
#pragma once
#include "domain/model/change.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace fq {

using ticket_rows = std::span<const event_ticket_row* const>;

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
  /// How many of `ticket_type` have this status.
  [[nodiscard]] std::size_t count(std::uint32_t ticket_type, event_ticket_status status) const;
  /// When gates have to hear of it: its last step, or the last begin or end of a refund of its claim.
  [[nodiscard]] timestamp changed_at(const event_ticket_row& row) const;
  /// At most `limit` that changed after (`at`, `id`) and before `until`, by changed_at and id.
  [[nodiscard]] std::vector<const event_ticket_row*> changed_after(timestamp at, const event_ticket_id& id,
                                                                   timestamp until, std::size_t limit) const;
  /// Valid ones of `claim` and `ticket_type`.
  [[nodiscard]] std::size_t count_valid(const claim_id& claim, std::uint32_t ticket_type) const;
  /// The same, at most `count`: first those that the buyer did not give away, of these the ones that were
  /// never checked in, of these the last seats, of the same seat the newest.
  [[nodiscard]] std::vector<event_ticket_id> first_to_cancel(const claim_id& claim, std::uint32_t ticket_type,
                                                             std::size_t count) const;

  /// A refund of `claim` began or ended at `at`. Not durable: the rows of refunds say it again after a load.
  void refund_changed(const claim_id& claim, timestamp at);
  void issue(event_ticket_row row, changes& out);
  /// Applies `trigger`; false if the rule table forbids it, and for a transfer: see hand_over.
  bool move(const event_ticket_id& id, event_ticket_trigger trigger, timestamp now, changes& out);
  /// Another holder: the codes of the one before are void. False as above.
  bool hand_over(const event_ticket_id& id, const customer_id& holder, timestamp now, changes& out);
  /// The same holder and status, the next generation: all codes so far are void.
  void void_codes(const event_ticket_id& id, timestamp now, changes& out);

private:
  std::size_t& counter_of(const event_ticket_row& row);
  void set(event_ticket_row& row, event_ticket_status to, timestamp now);

  using index = std::uint32_t;
  static constexpr index none = ~index{0};
  template <class Visit>
  void newest_first(const claim_id& claim, Visit visit) const;

  std::deque<event_ticket_row> rows_; ///< as they came
  std::vector<index> by_id_;
  std::vector<index> older_; ///< the next lower id of the same claim
  std::unordered_map<claim_id, index> newest_; ///< the highest id of the claim
  std::unordered_map<claim_id, timestamp> refunds_changed_; ///< only claims that had refunds
  /// By changed_at and id; made when a gate first asks.
  mutable std::optional<std::set<std::pair<timestamp, event_ticket_id>>> by_change_;
  std::vector<std::array<std::size_t, event_ticket_statuses>> counts_; ///< by ticket type and status
};

} // namespace fq
