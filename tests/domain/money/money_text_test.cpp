// SPDX-License-Identifier: Apache-2.0
// Amounts as text: decimal places by currency.
#define CAF_SUITE money_text
#include "domain/money/money_text.hpp"

#include "caf/test/unit_test.hpp"

#include <limits>

namespace money_text_test {

using namespace fq;

CAF_TEST(every currency has its own decimals) {
  struct row {
    std::int64_t amount;
    const char* currency;
    const char* text;
  };
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  for (const auto& [amount, currency, text] : {
         row{500'000, "NGN", "5000.00 NGN"},
         row{1, "EUR", "0.01 EUR"},
         row{10, "EUR", "0.10 EUR"},
         row{100, "EUR", "1.00 EUR"},
         row{0, "GBP", "0.00 GBP"},
         row{-5, "EUR", "-0.05 EUR"},
         row{-12'345, "USD", "-123.45 USD"},
         row{1200, "JPY", "1200 JPY"},
         row{0, "JPY", "0 JPY"},
         row{-7, "XOF", "-7 XOF"},
         row{15'000, "UGX", "15000 UGX"},
         row{1, "KWD", "0.001 KWD"},
         row{12'345, "TND", "12.345 TND"},
         row{12'345, "CLF", "1.2345 CLF"},
         row{9, "UYW", "0.0009 UYW"},
         row{150, "HUF", "1.50 HUF"},
         row{150, "???", "1.50 ???"},
         row{most, "JPY", "9223372036854775807 JPY"},
         row{least, "EUR", "-92233720368547758.08 EUR"},
       }) {
    CAF_CHECK_EQUAL(money_text(amount, currency), text);
    CAF_CHECK_EQUAL(amount_text(amount, currency) + " " + std::string{currency}, text);
  }
}

CAF_TEST(the table is of what is unusual and every currency is in it once) {
  const auto table = unusual_decimals();
  for (std::size_t i = 0; i < table.size(); ++i) {
    CAF_CHECK_NOT_EQUAL(table[i].decimals, 2u);
    CAF_CHECK_EQUAL(decimals_of(table[i].currency), table[i].decimals);
    CAF_CHECK(i == 0 || table[i - 1].currency < table[i].currency);
  }
}

} // namespace money_text_test
