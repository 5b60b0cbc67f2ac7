// SPDX-License-Identifier: Apache-2.0
// Money for people: minor units and an ISO 4217 code as text. Pages and mail show the same amount in the same
// words.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fq {

struct currency_decimals {
  std::string_view currency; ///< its ISO 4217 code
  unsigned decimals; ///< of its minor unit: 0 to 4
};

/// All currencies whose minor unit is not a hundredth.
[[nodiscard]] std::span<const currency_decimals> unusual_decimals();

/// How many decimals a currency's minor unit is: 2 for one that ISO 4217 says nothing else about.
[[nodiscard]] unsigned decimals_of(std::string_view currency);

/// "5000.00 NGN", "1200 JPY", "-0.05 EUR". A point and no grouping, which no reader can take for another
/// number.
[[nodiscard]] std::string money_text(std::int64_t minor_units, std::string_view currency);

} // namespace fq
