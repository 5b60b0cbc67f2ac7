// SPDX-License-Identifier: Apache-2.0
// Writes what is kept of a customer as JSON, page by page. Called by the route and the control socket;
// independent of HTTP.
#pragma once
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/catalog_messages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// Where an export goes on: with the orders, then with the records.
struct export_cursor {
  order_id before; ///< only older orders; nil: from the newest
  std::optional<record_position> records; ///< set: all orders were given
};
[[nodiscard]] std::string cursor_text(const export_cursor& cursor);
[[nodiscard]] std::optional<export_cursor> parse_export_cursor(std::string_view text);

/// A page of an export in the making.
struct customer_export {
  customer_reply who;
  std::optional<export_cursor> next; ///< nothing: all was given
  std::vector<order_listing> orders = {};
  std::vector<customer_record> records = {};

  [[nodiscard]] bool wants_orders() const { return next && !next->records; }
  void add(order_list_reply page);
  [[nodiscard]] bool wants_records(std::size_t limit) const {
    return next && next->records && orders.size() + records.size() < limit;
  }
  void add(record_page page);
};

/// Ends at page_bytes_max with an order; then it has no records.
[[nodiscard]] std::string customer_text(customer_export page);

} // namespace fq::net
