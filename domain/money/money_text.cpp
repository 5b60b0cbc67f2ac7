// SPDX-License-Identifier: Apache-2.0
#include "domain/money/money_text.hpp"

#include <algorithm>
#include <array>

namespace fq {
namespace {

// ISO 4217 as amended to 2024, list one: the currencies whose minor unit is not 1/100. The console receives
// this table from here.
constexpr auto unusual = std::to_array<currency_decimals>({
  {"BHD", 3}, {"BIF", 0}, {"CLF", 4}, {"CLP", 0}, {"DJF", 0}, {"GNF", 0}, {"IQD", 3}, {"ISK", 0}, {"JOD", 3},
  {"JPY", 0}, {"KMF", 0}, {"KRW", 0}, {"KWD", 3}, {"LYD", 3}, {"OMR", 3}, {"PYG", 0}, {"RWF", 0}, {"TND", 3},
  {"UGX", 0}, {"UYI", 0}, {"UYW", 4}, {"VND", 0}, {"VUV", 0}, {"XAF", 0}, {"XOF", 0}, {"XPF", 0},
});

} // namespace

std::span<const currency_decimals> unusual_decimals() { return unusual; }

unsigned decimals_of(std::string_view currency) {
  const auto* found = std::ranges::find(unusual, currency, &currency_decimals::currency);
  return found != unusual.end() ? found->decimals : 2;
}

std::string amount_text(std::int64_t minor_units, std::string_view currency) {
  const bool negative = minor_units < 0;
  const auto size =
    negative ? 0 - static_cast<std::uint64_t>(minor_units) : static_cast<std::uint64_t>(minor_units);
  auto text = std::to_string(size);
  const std::size_t decimals = decimals_of(currency);
  if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
  if (decimals > 0) text.insert(text.size() - decimals, ".");
  if (negative) text.insert(0, "-");
  return text;
}

std::string money_text(std::int64_t minor_units, std::string_view currency) {
  return amount_text(minor_units, currency).append(" ").append(currency);
}

} // namespace fq
