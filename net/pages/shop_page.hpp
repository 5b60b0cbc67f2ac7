// SPDX-License-Identifier: Apache-2.0
// The shop's pages: what is on sale, choosing tickets, an order from reserved to receipt, one's orders. Pure:
// views in, page out.
#pragma once
#include "domain/sale/views.hpp"
#include "net/pages/forms.hpp"
#include "net/pages/site_page.hpp"
#include "store/port/ledger.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// Who looks, and where.
struct shopper {
  language in = language::en;
  const std::string& base;
  timestamp now;
  bool signed_in = false;
  std::string_view token = {}; ///< the customer's, for the script
};

[[nodiscard]] site_page on_sale_page(const shopper& who, const std::vector<event_view>& events);

struct choice_view {
  const event_view& event;
  const entry_view* place = nullptr; ///< admitted; null in events without a waiting room
  const form& sent; ///< what was filled in; empty at first
  std::optional<quote_view> quote = {}; ///< what it would cost
  std::string problem = {}; ///< key of a text: why it was not taken
  std::string order_key = {}; ///< makes a form that comes twice one order
};
[[nodiscard]] site_page choice_page(const shopper& who, const choice_view& choice);

/// `event`: for the names of ticket types.
[[nodiscard]] site_page order_page(const shopper& who, const order_view& order, const event_view& event);

[[nodiscard]] site_page orders_page(const shopper& who, const std::vector<order_listing>& orders);

/// The name of the form field that says how many of a ticket type: "t." and its id.
[[nodiscard]] std::string quantity_field(const ticket_type_id& type);

} // namespace fq::net
