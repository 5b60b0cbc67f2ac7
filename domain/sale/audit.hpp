// SPDX-License-Identifier: Apache-2.0
// Checks that the rows of an event are consistent: the invariants that can be verified from the ledger
// without the owner. Pure.
#pragma once
#include "domain/model/change.hpp"
#include "domain/sale/limits.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace fq {

class seating;

/// The durable rows of one event, read at one moment.
struct audited_rows {
  const event_row& event;
  std::span<const ticket_type_row> ticket_types;
  std::span<const entry_row> entries;
  std::span<const claim_row> claims;
  std::span<const payment_row> payments;
  std::span<const refund_row> refunds = {};
  std::span<const order_row> orders = {};
  std::span<const promo_code_row> promo_codes = {};
  std::span<const event_ticket_row> event_tickets = {};
  bool has_settled_tickets = true; ///< false: purchases of older programs still get their event tickets
  std::span<const scan_row> scans = {};
  const event_plan_row* plan = nullptr;
  std::span<const seat_setting_row> seat_settings = {};
  std::span<const claim_seat_row> claim_seats = {};
  std::span<const session_lock_row> locks = {};
  const seating* owned = nullptr; ///< of the owner: its plan is taken if the row has the same
};

/// Describes contradictions, for people; empty if none, at most `contradictions_max` lines. Checks I1 (stock
/// against claims, seats against claims and stock), I2 (entries and claims per customer) and I3 (kept money
/// of a payment against tickets not refunded; those against valid event tickets, once they are settled).
/// Checks I4: claims against captured money, orders against claims, promo code uses against claims. Checks
/// I10: event tickets against their scans. Locks against sessions.
std::vector<std::string> contradictions(const audited_rows& rows);

/// An event and its ticket types as the owner has them in memory.
struct audited_memory {
  event_row event;
  std::vector<ticket_type_row> ticket_types;
  std::map<std::uint32_t, claim_id> seats = {}; ///< held or sold
  std::map<std::string, queue_number> locks = {}; ///< with their sessions
  std::map<std::uint32_t, seat_setting_row> seat_settings = {}; ///< of seats that are not as in the plan
  void apply(const changes& content);
};
/// Whether audited_memory::apply has an effect.
[[nodiscard]] bool is_audited(const change& c);
/// Describes the fields that differ, without the counters of ticket types.
std::vector<std::string> differences(const audited_memory& memory, const audited_rows& rows);

} // namespace fq
