// SPDX-License-Identifier: Apache-2.0
// Whether the rows of an event agree with one another: the invariants that a ledger can be asked about
// without its owner. Pure.
#pragma once
#include "domain/model/rows.hpp"

#include <span>
#include <string>
#include <vector>

namespace fq {

/// The durable rows of one event, as the ledger had them at one moment.
struct audited_rows {
  const event_row& event;
  std::span<const ticket_type_row> ticket_types;
  std::span<const entry_row> entries;
  std::span<const claim_row> claims;
  std::span<const payment_row> payments;
  std::span<const refund_row> refunds = {};
  std::span<const order_row> orders = {};
  std::span<const promo_code_row> promo_codes = {};
};

/// What contradicts I1 (stock against claims, confirmed ones counted), I2 (places and claims per customer),
/// I3 (what is kept of a payment against the tickets that are not refunded) or I4 (claims against captured
/// money, orders against their claims, uses of promo codes against the claims that use them), for people;
/// empty if nothing. At most `contradictions_max` lines.
std::vector<std::string> contradictions(const audited_rows& rows);
inline constexpr std::size_t contradictions_max = 20;

} // namespace fq
