// SPDX-License-Identifier: Apache-2.0
// The claims of an event: who holds or bought what, and which deadline is next. Stock and entries are moved
// by the sale.
#pragma once
#include "domain/model/change.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace fq {

class claims_book {
public:
  struct counts_t {
    std::uint64_t live = 0, confirmed = 0;
  };

  void load(const claim_row& row);

  [[nodiscard]] const claim_row* find(const claim_id& id) const;
  /// A claim of `customer` that is live or confirmed in its lowest slot; null if none.
  [[nodiscard]] const claim_row* standing(const customer_id& customer) const;
  /// The customer's claim that still awaits payment; null if none.
  [[nodiscard]] const claim_row* live(const customer_id& customer) const;
  /// The lowest slot below `slots` that no live or confirmed claim of `customer` occupies (I2).
  [[nodiscard]] std::optional<std::uint8_t> free_slot(const customer_id& customer, std::uint32_t slots) const;
  [[nodiscard]] const counts_t& counts() const { return counts_; }
  /// Live and confirmed claims of `customer` that use this promo code (claim_row::promo).
  [[nodiscard]] std::uint64_t promo_uses(const customer_id& customer, std::uint32_t promo) const;
  /// Tickets of a type that `customer` holds or has bought, without refunded ones.
  [[nodiscard]] std::uint64_t units_of(const customer_id& customer, std::uint32_t ticket_type) const;
  /// Live and confirmed claims of `customer`.
  [[nodiscard]] std::vector<claim_id> standing_of(const customer_id& customer) const;
  /// CLAIMED ones whose expires_at has come, at most `limit`.
  [[nodiscard]] std::vector<claim_id> due(timestamp now, std::size_t limit) const;
  /// EXPIRING ones whose grace is over, at most `limit`. It counts from when the gateway could be asked: from
  /// expires_at, the move to EXPIRING, or restart_grace, whichever is latest.
  [[nodiscard]] std::vector<claim_id> overdue(timestamp now, milliseconds grace, std::size_t limit) const;
  /// All that are CLAIMED or EXPIRING, at most `limit`.
  [[nodiscard]] std::vector<claim_id> live_ones(std::size_t limit) const;
  [[nodiscard]] timestamp next_deadline(milliseconds grace) const;

  const claim_row& open(claim_row row, changes& out);
  /// After a load: nobody was asked meanwhile.
  void restart_grace(timestamp now);
  /// Applies `trigger`; false if the table forbids it.
  bool move(const claim_id& id, claim_trigger trigger, timestamp now, changes& out);
  /// Marks tickets of a CONFIRMED claim refunded; with the last one it is REFUNDED.
  void refund(const claim_id& id, std::span<const refund_item> items, timestamp now, changes& out);

private:
  void index(const claim_row& row, timestamp grace_from);
  void unindex(const claim_row& row);

  std::unordered_map<claim_id, claim_row> rows_;
  std::unordered_map<customer_id, std::vector<claim_id>> standing_; ///< live and confirmed ones
  std::set<std::pair<timestamp, claim_id>> claimed_; ///< by expires_at
  std::set<std::pair<timestamp, claim_id>> expiring_; ///< by grace_from_
  std::unordered_map<claim_id, timestamp> grace_from_; ///< of the EXPIRING
  counts_t counts_;
};

} // namespace fq
