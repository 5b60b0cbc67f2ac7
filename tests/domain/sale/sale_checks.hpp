// SPDX-License-Identifier: Apache-2.0
// The invariants of DESIGN §3 that one sale can break, checked on its rows; and that a reload shows what
// memory showed.
#pragma once
#include "tests/domain/sale/sample_sale.hpp"

#include <map>
#include <string>

namespace fq::test {

/// What one gateway did, by its own book: the oracle of I3 and I4.
struct gateway_book {
  std::map<payment_id, money> captured; ///< as quoted, told to the sale or not yet
  std::map<payment_id, money> mismatched; ///< another amount than quoted, told to the sale
  std::map<refund_id, money> refunded;
};

/// Empty if I1, I2, I3, I4 hold of the rows and the sale's memory equals them; else what is wrong.
std::string what_is_wrong(const sample_sale& s);
/// I4 against the gateway's own book: `told` are the captures whose webhook arrived at least once.
std::string what_money_is_wrong(const sample_sale& s, const gateway_book& book,
                                const std::map<payment_id, money>& told);
/// Empty if a sale loaded from the rows shows the same to everybody.
std::string how_a_reload_differs(const sample_sale& s);

} // namespace fq::test
