// SPDX-License-Identifier: Apache-2.0
// The checks of orders made by checkout. Called by judge() only; pure.
#pragma once

#include "load/checks/check_parts.hpp"

#include <vector>

namespace fq::load {

// True if fans ordered or the books were read.
[[nodiscard]] bool has_orders(const sale_history& history);

// Fills all order checks except those of the books. Adds the stock that orders provably held to `holdings`.
void judge_orders(const sale_history& history, const payment_map& payments, std::vector<holding>& holdings,
                  judgement& out);

// Fills order_stock and promo_uses. Call it after the claims were counted.
void judge_order_books(const sale_history& history, judgement& out);

} // namespace fq::load
