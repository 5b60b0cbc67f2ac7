// SPDX-License-Identifier: Apache-2.0
// Checkout of the fake server: orders of three ticket types in an open event, a promo code, a gateway and the
// organizer's books, in memory. It can inject one kind of misbehaviour. Not thread-safe: used by the fake
// server's thread only.
#pragma once

#include "load/base/uuid.hpp"

#include <boost/json/object.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fq::load::test {

enum class shop_fault : std::uint8_t {
  none,
  forgets, // one paid order answers 404 and is missing in lists
  takes_back, // one successful order is failed in the organizer's list
  miscounts, // totals exceed their parts by one
  other_price, // tickets cost more than the event's price
  other_tickets, // one more ticket than ordered
  keeps_money, // one payment is captured, its order fails
  gives_away, // one order succeeds although its payment was declined
  oversells, // one ticket of each type beyond its total
  overuses_code, // the promo code's limit is ignored
  forgets_a_use, // the promo code counts one use too few
  invents // the list has an order that its fan never placed
};

struct shop_options {
  bool is_used = false;
  std::int64_t stock = 12; // per ticket type, three types
  std::int64_t promo_uses = 4;
  int order_ms = 250; // lifetime of an unpaid order
  shop_fault fault = shop_fault::none;
};

class fake_shop {
public:
  struct reply {
    int status = 200;
    boost::json::value body;
  };

  fake_shop(shop_options options, std::string event, std::string url);

  // Nothing for a target outside the shop.
  std::optional<reply> answer(const std::string& method, const std::string& target,
                              const std::string& customer, const std::string& body);
  void expire();

private:
  using clock = std::chrono::steady_clock;
  struct item {
    std::size_t type = 0;
    std::int64_t quantity = 0;
    std::int64_t donation = 0;
    std::int64_t unit_discount = 0;
  };
  struct order {
    uuid id, claim, payment;
    std::string customer, email, promo;
    std::vector<item> items;
    std::string status = "pending", payment_status = "PENDING";
    clock::time_point page_at, until;
  };

  reply event() const;
  reply check_out(const std::string& customer, const std::string& body);
  reply on_order(order& which, const std::string& method, const std::string& rest);
  reply pay(const std::string& payment, const std::string& body);
  reply books(const std::string& what);
  [[nodiscard]] boost::json::object status_json(const order& which) const;
  [[nodiscard]] boost::json::object order_json(const order& which) const;
  [[nodiscard]] boost::json::object payment_json(const order& which) const;
  [[nodiscard]] std::int64_t price(std::size_t type) const;
  [[nodiscard]] std::int64_t total(const order& which) const;
  [[nodiscard]] std::int64_t free(std::size_t type) const;
  [[nodiscard]] std::int64_t uses() const;
  [[nodiscard]] std::int64_t units(bool sold) const;
  // True exactly once, when the fault must show.
  bool misbehaves(shop_fault fault);
  void refresh(order& which) const;

  shop_options options_;
  std::string event_;
  std::string url_;
  std::vector<order> orders_; // append-only, ordered by id
  bool misbehaved_ = false;
};

} // namespace fq::load::test
