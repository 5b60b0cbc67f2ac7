// SPDX-License-Identifier: Apache-2.0
// Checks the invariants (docs/glossary.md) on the rows of one sale, and that a reload equals memory.
#pragma once
#include "tests/domain/sale/sample_sale.hpp"

#include <map>
#include <string>

namespace fq::test {

/// The own records of one gateway: the oracle of I3 and I4.
struct gateway_book {
  std::map<payment_id, money> captured; ///< the quoted amount, reported to the sale or not
  std::map<payment_id, money> mismatched; ///< another amount than quoted, reported to the sale
  std::map<refund_id, money> refunded;
};

/// Empty if I1, I2, I3 and I4 hold for the rows and the sale's memory equals them; else the error.
std::string what_is_wrong(const sample_sale& s);
/// I4 against the gateway's own records. `told`: captures whose webhook arrived at least once.
std::string what_money_is_wrong(const sample_sale& s, const gateway_book& book,
                                const std::map<payment_id, money>& told);
/// Empty if a sale loaded from the rows has the same visible state; else the difference.
std::string how_a_reload_differs(const sample_sale& s);

/// The first finding of `fairqueue admin verify`; empty: none.
std::string audit_says(const sample_sale& s);

} // namespace fq::test
