// SPDX-License-Identifier: Apache-2.0
// The server's JSON about orders and about the organizer's books, and the checkout's body: pure functions, as
// in wire.hpp.
#pragma once

#include "load/base/history.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::load {

// Of POST /checkout (200 and 202), GET /orders/{id}/status and DELETE /orders/{id}.
struct order_answer {
  uuid order;
  order_status status = order_status::pending; // "processing" is pending
  std::string payment_url; // empty: none now
  std::string payments_url; // a path of the server; empty: none now
  std::int64_t poll_after_ms = 0;
  bool can_retry = false;
};

template <class Row>
struct page_answer {
  std::vector<Row> rows;
  std::string next_cursor; // empty: the last page
};

struct stats_answer {
  std::int64_t sold = 0;
  std::int64_t held = 0;
};

struct checkout_wish {
  std::string event;
  std::string admission_token; // empty: none, in an open event
  std::string email;
  std::vector<order_item> items;
  std::string promo_code; // empty: none
};

std::optional<order_answer> read_order_status(const boost::json::value& body);
// Of GET /orders/{id}: with its terms.
std::optional<order_sight> read_order(const boost::json::value& body);
// GET /events/{id}/orders; `run` is the name behind which this run's fans are known (fan_of).
std::optional<page_answer<listed_order>> read_event_orders(const boost::json::value& body,
                                                           std::string_view run);
std::optional<page_answer<listed_promo>> read_promo_codes(const boost::json::value& body);
std::optional<stats_answer> read_stats(const boost::json::value& body);

std::string checkout_text(const checkout_wish& wish);

// The address by which an order is known as this fan's, and back; nothing for anybody else's.
std::string address_of(std::size_t fan, std::string_view run);
std::optional<std::size_t> fan_of(std::string_view address, std::string_view run);

} // namespace fq::load
