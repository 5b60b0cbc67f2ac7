// SPDX-License-Identifier: Apache-2.0
#include "domain/money_text.hpp"

#include <algorithm>
#include <array>

namespace fq {
namespace {

// ISO 4217 as amended to 2024, list one: the currencies whose minor unit is not a hundredth.
constexpr std::array<std::string_view, 17> no_decimals{"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG",
                                                       "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"};
constexpr std::array<std::string_view, 7> three_decimals{"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"};
constexpr std::array<std::string_view, 2> four_decimals{"CLF", "UYW"};

template <std::size_t N>
bool has(const std::array<std::string_view, N>& list, std::string_view currency) {
  return std::find(list.begin(), list.end(), currency) != list.end();
}

} // namespace

unsigned decimals_of(std::string_view currency) {
  if (has(no_decimals, currency)) return 0;
  if (has(three_decimals, currency)) return 3;
  return has(four_decimals, currency) ? 4 : 2;
}

std::string money_text(std::int64_t minor_units, std::string_view currency) {
  const bool negative = minor_units < 0;
  const auto size = negative ? 0 - static_cast<std::uint64_t>(minor_units) : static_cast<std::uint64_t>(minor_units);
  auto text = std::to_string(size);
  const std::size_t decimals = decimals_of(currency);
  if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
  if (decimals > 0) text.insert(text.size() - decimals, ".");
  if (negative) text.insert(0, "-");
  return text.append(" ").append(currency);
}

} // namespace fq
