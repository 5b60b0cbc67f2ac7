// SPDX-License-Identifier: Apache-2.0
// The shop's pages: events on sale, ticket choice, an order from reservation to receipt, a customer's
// orders. Pure: views in, page out.
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

/// The visitor of a page.
struct shopper {
  language in = language::en;
  const std::string& base;
  timestamp now;
  bool signed_in = false;
  std::string_view token = {}; ///< the shopper's token, for the script
  std::string shop_url = {}; ///< public address of the shop
  bool is_guest = false;
};

/// `next_cursor`: of the next page; empty: this is the last.
[[nodiscard]] site_page on_sale_page(const shopper& who, const std::vector<event_view>& events,
                                     std::string_view next_cursor = {});

struct choice_view {
  const event_view& event;
  const entry_view* place = nullptr; ///< admitted; null for events without a waiting room
  const form& sent; ///< the form as filled in; empty at first
  std::optional<quote_view> quote = {}; ///< price of the choice
  std::string problem = {}; ///< key of the text of the refusal
  std::string order_key = {}; ///< makes a form that is sent twice one order
  bool takes_donations = false; ///< the server has a gateway
  std::string_view used_code = {}; ///< access code that was just taken
};
/// Whether chosen seats may be accessible and companions' seats.
[[nodiscard]] inline bool wants_accessible(const form& sent) { return sent.find("accessible") == "1"; }
[[nodiscard]] site_page choice_page(const shopper& who, const choice_view& choice);

[[nodiscard]] site_page order_page(const shopper& who, const order_view& order, const event_row& event);

[[nodiscard]] site_page orders_page(const shopper& who, const std::vector<order_listing>& orders);

/// Name of the form field with the quantity of a ticket type: "t." and its id.
[[nodiscard]] std::string quantity_field(const ticket_type_id& type);
/// Name of the form field with the names of its chosen seats, which the script fills in: "s." and its id.
[[nodiscard]] std::string seats_field(const ticket_type_id& type);

} // namespace fq::net
