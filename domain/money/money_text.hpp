// SPDX-License-Identifier: Apache-2.0
// Formats money for people: minor units and an ISO 4217 code as text. Pages and mails use the same format.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fq {

struct currency_decimals {
  std::string_view currency; ///< ISO 4217 code
  unsigned decimals; ///< digits of the minor unit: 0 to 4
};

/// All currencies whose minor unit is not 1/100.
[[nodiscard]] std::span<const currency_decimals> unusual_decimals();

/// Number of decimals of a currency; 2 if it is not in unusual_decimals().
[[nodiscard]] unsigned decimals_of(std::string_view currency);

/// "5000.00 NGN", "1200 JPY", "-0.05 EUR". Decimal point, no grouping: unambiguous in every locale.
[[nodiscard]] std::string money_text(std::int64_t minor_units, std::string_view currency);

/// The same without the currency: "5000.00".
[[nodiscard]] std::string amount_text(std::int64_t minor_units, std::string_view currency);

} // namespace fq
