// SPDX-License-Identifier: Apache-2.0
// What the fans saw of their orders, and the organizer's books before and after the sale. Part of the history
// for the checker; filled by the fans and by the crowd's bookkeeper.
#pragma once

#include "load/base/uuid.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq::load {

// Microseconds of the load program's steady clock since the run began.
using run_time_us = std::int64_t;
inline constexpr run_time_us ms_us = 1000, second_us = 1000 * ms_us;
enum class payment_status : std::uint8_t;

enum class order_status : std::uint8_t {
  pending,
  awaiting_payment,
  success,
  failed,
  cancelled,
  partially_refunded,
  refunded
};
inline constexpr std::size_t order_status_count = 7;

struct order_item {
  uuid ticket_type;
  std::int64_t quantity = 0;
  std::int64_t unit_price = 0;
  std::int64_t unit_discount = 0;
  std::int64_t donation = 0; // per unit, in addition
  std::int64_t refunded = 0; // units
  std::vector<std::string> seats = {}; // names; only in wishes
};

// The content of an order. Immutable, except for the refunded units.
struct order_terms {
  uuid claim;
  std::vector<order_item> items;
  std::int64_t subtotal = 0;
  std::int64_t discount = 0;
  std::int64_t donations = 0;
  std::int64_t platform_fee = 0;
  std::int64_t processing_fee = 0;
  std::int64_t total = 0;
  std::string currency;
  std::string promo_code; // empty: none
  std::vector<std::string> seats = {}; // names
};

struct order_sight {
  run_time_us first_sent_us = 0; // of the first attempt to place it
  run_time_us sent_us = 0;
  run_time_us at_us = 0;
  uuid order;
  std::optional<order_status> status; // none: answered 404
  std::optional<order_terms> terms; // only in complete answers
  std::int64_t refunded_amount = 0;
  uuid payment; // the latest attempt; nil: not in the answer
  std::optional<payment_status> payment_state;
};

// A fan's request for an order.
struct order_wish {
  uuid order;
  std::vector<order_item> items; // type, quantity and donation
  std::string promo_code;
};

struct listed_order {
  order_sight observation;
  std::optional<std::size_t> fan; // none: not an order of this run
};

struct listed_promo {
  std::string code;
  std::int64_t uses_max = 0; // 0: no limit
  std::int64_t uses = 0;
};

struct listed_stock {
  uuid ticket_type;
  std::int64_t total = 0;
  std::int64_t available = 0;
};

// The organizer's view at one moment. `settled`: two consecutive readings were equal and no order was being
// undone.
struct sale_books {
  bool read = false;
  bool settled = false;
  run_time_us sent_us = 0;
  std::vector<listed_order> orders;
  std::vector<listed_promo> promos;
  std::vector<listed_stock> stock;
  std::int64_t sold = 0;
  std::int64_t held = 0;
};

// True if all or some of its tickets are bought.
inline bool is_bought(order_status status) {
  return status == order_status::success || status == order_status::partially_refunded;
}

inline bool is_open(order_status status) {
  return status == order_status::pending || status == order_status::awaiting_payment;
}

inline std::string_view name_of(order_status status) {
  switch (status) {
    case order_status::pending: return "pending";
    case order_status::awaiting_payment: return "awaiting_payment";
    case order_status::success: return "success";
    case order_status::failed: return "failed";
    case order_status::cancelled: return "cancelled";
    case order_status::partially_refunded: return "partially_refunded";
    case order_status::refunded: return "refunded";
  }
  return "?";
}

} // namespace fq::load
