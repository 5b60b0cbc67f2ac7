// SPDX-License-Identifier: Apache-2.0
// The server's JSON about orders and the organizer's books, and the checkout's body: pure functions, as in
// wire.hpp.
#pragma once

#include "load/base/history.hpp"

#include <boost/json/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::load {

// The answer of POST /checkout (200 and 202), GET /orders/{id}/status and DELETE /orders/{id}.
struct order_answer {
  uuid order;
  order_status status = order_status::pending; // "processing" maps to pending
  std::string payment_url; // empty: none now
  std::string payments_url; // a path at the server; empty: none now
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
  std::string admission_token; // empty in an open event
  std::string email;
  std::vector<order_item> items;
  std::string promo_code; // empty: none
  std::vector<question_terms> questions = {}; // to be answered
};

std::optional<order_answer> read_order_status(const boost::json::value& body);
// Parses GET /orders/{id}, which contains the terms.
std::optional<order_sight> read_order(const boost::json::value& body);
// Parses GET /events/{id}/orders. `run`: the run's name in its fans' addresses (fan_of).
std::optional<page_answer<listed_order>> read_event_orders(const boost::json::value& body,
                                                           std::string_view run);
std::optional<page_answer<listed_promo>> read_promo_codes(const boost::json::value& body);
std::optional<stats_answer> read_stats(const boost::json::value& body);

std::string checkout_text(const checkout_wish& wish);

// The e-mail address that identifies a fan's orders, and its inverse; nothing for other addresses.
std::string address_of(std::size_t fan, std::string_view run);
std::optional<std::size_t> fan_of(std::string_view address, std::string_view run);

} // namespace fq::load
