// SPDX-License-Identifier: Apache-2.0
// Money for people: minor units and an ISO 4217 code as text. Pages and mail show the same amount in the same words.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace fq {

/// How many decimals a currency's minor unit is: 2 for one that ISO 4217 says nothing else about.
[[nodiscard]] unsigned decimals_of(std::string_view currency);

/// "5000.00 NGN", "1200 JPY", "-0.05 EUR". A point and no grouping, which no reader can take for another number.
[[nodiscard]] std::string money_text(std::int64_t minor_units, std::string_view currency);

} // namespace fq
