// SPDX-License-Identifier: Apache-2.0
// The limits of domain/money, each with its reason.
#pragma once
#include "domain/model/rows.hpp"

#include <cstddef>
#include <cstdint>

namespace fq {

// -- pricing
/// Upper bound of every amount of an order, so that no product overflows: 10^14 minor units.
inline constexpr money order_total_max = 100'000'000'000'000;
/// Max donation per ticket.
inline constexpr money donation_max = 1'000'000'000'000;

// -- promo_codes
/// Per event; all are in the owner's memory.
inline constexpr std::size_t promo_codes_max = 1'000;
/// A code is typed by hand.
inline constexpr std::size_t promo_code_length_max = 40;
/// Max fixed discount, in minor units.
inline constexpr std::int64_t promo_amount_max = 1'000'000'000'000;

} // namespace fq
