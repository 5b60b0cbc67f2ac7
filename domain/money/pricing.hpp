// SPDX-License-Identifier: Apache-2.0
// The price of an order: prices, discount, donations, fees, in minor units of one currency and rounded
// half-up. Pure arithmetic; eligibility for a discount and stock are decided elsewhere.
#pragma once
#include "domain/model/rows.hpp"
#include "domain/money/limits.hpp"

#include <span>
#include <vector>

namespace fq {

/// Fees of the installation in one currency. Defaults: 1.50 per ticket, 2.9 % + 0.30.
struct fee_rules {
  money platform_per_ticket = 150; ///< per ticket with a price above 0
  std::int64_t processing_basis_points = 290; ///< of the amount charged so far; 100 are 1 %
  money processing_fixed = 30; ///< once per order, if any ticket has a price above 0
  friend bool operator==(const fee_rules&, const fee_rules&) = default;
};

/// A quantity of one ticket type.
struct priced_item {
  std::uint32_t ticket_type = 0; ///< ordinal
  std::uint32_t quantity = 0;
  money unit_price = 0; ///< list price
  money donation = 0; ///< voluntary extra amount per ticket
  money unit_discount = 0; ///< set by `price`: off the list price of each ticket
  friend bool operator==(const priced_item&, const priced_item&) = default;
};

struct price_quote {
  std::vector<priced_item> items;
  money subtotal = 0; ///< sum of list prices
  money discount = 0;
  money donations = 0;
  money platform_fee = 0;
  money processing_fee = 0;
  money total = 0; ///< amount to charge: subtotal - discount + donations + fees
  friend bool operator==(const price_quote&, const price_quote&) = default;
};

/// `amount` * `basis_points` / 10,000, half-up. Both must not be negative.
[[nodiscard]] constexpr money share_of(money amount, std::int64_t basis_points) {
  return (amount * basis_points + 5'000) / 10'000;
}

/// Prices the items. Their sum must not exceed order_total_max.
[[nodiscard]] price_quote price(std::span<const priced_item> items, const discount& reduction,
                                const fee_rules& fees);

/// The items in the form that a claim stores.
[[nodiscard]] std::vector<claim_item> items_of(const price_quote& price);

/// Price of one ticket of the item: with discount and donation, without fees.
[[nodiscard]] constexpr money price_of_one(const claim_item& i) {
  return i.unit_price - i.unit_discount + i.donation;
}

/// Platform and processing fee: the part of the claim's amount beyond its items.
[[nodiscard]] money fees_of(const claim_row& claim);

} // namespace fq
