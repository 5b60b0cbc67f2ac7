// SPDX-License-Identifier: Apache-2.0
// The claims of an event: holders, purchases and deadlines. The sale moves stock and entries.
#pragma once
#include "domain/model/change.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fq {

/// Why a claim is released, for its order.
struct claim_end {
  order_trigger trigger = order_trigger::fail;
  std::string_view failure = "expired"; ///< order_row::failure
};

class claims_book {
public:
  struct counts_t {
    std::uint64_t live = 0, confirmed = 0;
  };

  void load(const claim_row& row);

  [[nodiscard]] const claim_row* find(const claim_id& id) const;
  /// Live or confirmed claim of `customer` in its lowest slot; null if none.
  [[nodiscard]] const claim_row* standing(const customer_id& customer) const;
  /// Claim of `customer` that awaits payment; null if none.
  [[nodiscard]] const claim_row* live(const customer_id& customer) const;
  /// The lowest slot below `slots` that no live or confirmed claim of `customer` occupies (I2).
  [[nodiscard]] std::optional<std::uint8_t> free_slot(const customer_id& customer, std::uint32_t slots) const;
  [[nodiscard]] const counts_t& counts() const { return counts_; }
  /// Number of live and confirmed claims of `customer` that use this promo code (claim_row::promo).
  [[nodiscard]] std::uint64_t promo_uses(const customer_id& customer, std::uint32_t promo) const;
  /// Tickets of a type that `customer` holds or has bought, without refunded tickets.
  [[nodiscard]] std::uint64_t units_of(const customer_id& customer, std::uint32_t ticket_type) const;
  /// Live and confirmed claims of `customer`.
  [[nodiscard]] std::vector<claim_id> standing_of(const customer_id& customer) const;
  /// CLAIMED claims whose expires_at has passed, at most `limit`.
  [[nodiscard]] std::vector<claim_id> due(timestamp now, std::size_t limit) const;
  /// EXPIRING claims whose grace is over, at most `limit`. The grace starts at the latest of expires_at, the
  /// move to EXPIRING, and restart_grace: before that the gateway could not be asked.
  [[nodiscard]] std::vector<claim_id> overdue(timestamp now, milliseconds grace, std::size_t limit) const;
  /// All CLAIMED and EXPIRING claims, at most `limit`.
  [[nodiscard]] std::vector<claim_id> live_ones(std::size_t limit) const;
  [[nodiscard]] timestamp next_deadline(milliseconds grace) const;

  const claim_row& open(claim_row row, changes& out);
  /// Restarts the grace of all EXPIRING claims after a load, because no gateway was asked while the owner
  /// was down.
  void restart_grace(timestamp now);
  /// Applies `trigger`; false if the rule table forbids it.
  bool move(const claim_id& id, claim_trigger trigger, timestamp now, changes& out);
  /// Confirms a guest's claim: from now on it is `buyer`'s, in its slot `slot`.
  bool confirm_for(const customer_id& buyer, std::uint8_t slot, const claim_id& id, timestamp now,
                   changes& out);
  /// Marks tickets of a CONFIRMED claim as refunded; with the last ticket it becomes REFUNDED.
  void refund(const claim_id& id, std::span<const refund_item> items, timestamp now, changes& out);

private:
  void index(const claim_row& row, timestamp grace_from);
  void unindex(const claim_row& row);

  std::unordered_map<claim_id, claim_row> rows_;
  std::unordered_map<customer_id, std::vector<claim_id>> standing_; ///< live and confirmed claims
  std::set<std::pair<timestamp, claim_id>> claimed_; ///< by expires_at
  std::set<std::pair<timestamp, claim_id>> expiring_; ///< by grace_from_
  std::unordered_map<claim_id, timestamp> grace_from_; ///< of EXPIRING claims
  counts_t counts_;
};

} // namespace fq
