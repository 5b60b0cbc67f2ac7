// SPDX-License-Identifier: Apache-2.0
// The filter of an organizer's order search. Pure functions; called by order_desk_routes.
#pragma once
#include "domain/sale/views.hpp"

#include <optional>
#include <string>

namespace fq::net {

struct order_wanted {
  std::string text = {}; ///< part of the contact's name or e-mail address, of the id, or of the promo code;
                         ///< ignores case and accents, see folded(); empty: any
  std::optional<order_status> status = {};
};

[[nodiscard]] bool is_wanted(const order_view& order, const order_wanted& wanted);

/// Parses "awaiting_payment" and similar; nothing if unknown.
[[nodiscard]] std::optional<order_status> parse_order_status(std::string_view text);

} // namespace fq::net
