// SPDX-License-Identifier: Apache-2.0
// Money that a gateway took for a payment whose row this ledger does not have: it was lost in a failover or
// with a restored backup. All that is left is what the gateway says, and what a refund needs.
#pragma once
#include "domain/model/sale_rows.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq {

struct unknown_payment {
  std::string gateway, reference;
  std::string gateway_id; ///< the gateway's own name for it; may be empty
  money captured = 0; ///< tax included
  std::string currency;
};

/// One line per member, and back; none for another text.
std::string text_of(const unknown_payment& p);
std::optional<unknown_payment> parse_unknown_payment(std::string_view text);

/// An id with the time and owner of `from`, the same each time: for the dead letter about a payment at
/// `word`, and for its refund. So no repetition makes a second letter or a second refund.
uuid derived_id(const uuid& from, std::string_view word);

} // namespace fq
