// SPDX-License-Identifier: Apache-2.0
// The checks of what fans bought by checkout. Called by judge() only; pure as the others.
#pragma once

#include "load/checks/check_parts.hpp"

#include <vector>

namespace fq::load {

// Fills the checks of orders but those of the books, and adds the stock that orders surely held to
// `holdings`.
void judge_orders(const sale_history& history, const payment_map& payments, std::vector<holding>& holdings,
                  judgement& out);

// order_stock and promo_uses. After the claims were counted.
void judge_order_books(const sale_history& history, judgement& out);

} // namespace fq::load
