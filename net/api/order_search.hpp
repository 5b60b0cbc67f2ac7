// SPDX-License-Identifier: Apache-2.0
// Which orders an organizer means. A pure function of an order; called by order_desk_routes.
#pragma once
#include "domain/sale/views.hpp"

#include <optional>
#include <string>

namespace fq::net {

struct order_wanted {
  std::string text = {}; ///< part of the contact's name or e-mail address, of the id, or of the promo code,
                         ///< whatever the case of ASCII letters; empty: any
  std::optional<order_status> status = {};
};

[[nodiscard]] bool is_wanted(const order_view& order, const order_wanted& wanted);

/// "awaiting_payment" and its like; nothing for what is no state.
[[nodiscard]] std::optional<order_status> parse_order_status(std::string_view text);

} // namespace fq::net
