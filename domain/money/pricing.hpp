// SPDX-License-Identifier: Apache-2.0
// What an order costs: prices, discount, donations, fees, all in minor units of one currency and rounded
// half-up. Pure arithmetic: whether somebody may have a discount, and whether there is stock, is decided
// elsewhere.
#pragma once
#include "domain/model/rows.hpp"

#include <span>
#include <vector>

namespace fq {

/// The installation's fees in one currency (DESIGN section 9; the defaults are the second seed's: 1.50 a
/// ticket, 2.9 % + 0.30).
struct fee_rules {
  money platform_per_ticket = 150; ///< for each ticket that costs something
  std::int64_t processing_basis_points = 290; ///< of what is charged before it; 100 are 1 %
  money processing_fixed = 30; ///< once, if any ticket costs something
  friend bool operator==(const fee_rules&, const fee_rules&) = default;
};

/// So many tickets of one type.
struct priced_item {
  std::uint32_t ticket_type = 0; ///< ordinal
  std::uint32_t quantity = 0;
  money unit_price = 0; ///< as listed
  money donation = 0; ///< on top of each, as the customer wishes
  money unit_discount = 0; ///< set by `price`: off the listed price of each
  friend bool operator==(const priced_item&, const priced_item&) = default;
};

struct price_quote {
  std::vector<priced_item> items;
  money subtotal = 0; ///< listed prices
  money discount = 0;
  money donations = 0;
  money platform_fee = 0;
  money processing_fee = 0;
  money total = 0; ///< what is charged: subtotal - discount + donations + fees
  friend bool operator==(const price_quote&, const price_quote&) = default;
};

/// Most that any amount of an order may be, so that no product overflows: 10^14 minor units.
inline constexpr money order_total_max = 100'000'000'000'000;

/// Most that may be given on top of one ticket.
inline constexpr money donation_max = 1'000'000'000'000;

/// `amount` * `basis_points` / 10,000, halves away from zero. Both not negative.
[[nodiscard]] constexpr money share_of(money amount, std::int64_t basis_points) {
  return (amount * basis_points + 5'000) / 10'000;
}

/// Prices the items. Their sum must not exceed order_total_max.
[[nodiscard]] price_quote price(std::span<const priced_item> items, const discount& reduction,
                                const fee_rules& fees);

/// The items as the claim that holds them keeps them.
[[nodiscard]] std::vector<claim_item> items_of(const price_quote& price);

/// What one ticket of the item costs: discount and donation included, fees not.
[[nodiscard]] constexpr money price_of_one(const claim_item& i) {
  return i.unit_price - i.unit_discount + i.donation;
}

/// The part of the claim's amount that its items do not explain: platform and processing fee.
[[nodiscard]] money fees_of(const claim_row& claim);

} // namespace fq
