// SPDX-License-Identifier: Apache-2.0
// Metrics of this process's events and queues. Each owner has a seat and writes its numbers after every
// decision, without a lock; state changes are counted over all events. Thread-safe; not used for decisions
// except by checkout_switch. Counts decisions: after a failed commit the owner reloads and corrects its
// numbers.
#pragma once
#include "actors/base/counts.hpp"
#include "domain/model/change.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace fq {

/// Current numbers of one event or standalone queue.
struct event_numbers {
  std::uint64_t waiting = 0, away = 0, admitted = 0;
  std::int64_t free = 0, held = 0, sold = 0; ///< tickets
  money revenue = 0; ///< captured minus refunded, total
  std::uint64_t orders_pending = 0; ///< without a payment page yet
  timestamp oldest_pending; ///< when it was placed; `never`: none
  std::uint64_t dead_letters = 0; ///< open
  milliseconds due{0}; ///< steady time of the next deadline; 0: none
};

class sale_board;

/// An owner's slot, while it serves. Single writer.
class board_seat {
public:
  board_seat(sale_board& board, const event_id& event, std::string currency);
  ~board_seat();
  board_seat(const board_seat&) = delete;
  board_seat& operator=(const board_seat&) = delete;

  void tell(const event_numbers& now) noexcept;
  /// Updates only `waiting`.
  void set_waiting(std::uint64_t waiting) noexcept { waiting_.set(static_cast<std::int64_t>(waiting)); }
  /// Each number is current, but they may come from different `tell` calls.
  [[nodiscard]] event_numbers read() const noexcept;

  const event_id event;
  const std::string currency; ///< empty: a standalone queue

private:
  sale_board& board_;
  gauge waiting_, away_, admitted_, free_, held_, sold_, revenue_, orders_pending_, oldest_pending_,
    dead_letters_, due_;
};

class sale_board {
public:
  /// The board must outlive the seat.
  [[nodiscard]] std::shared_ptr<board_seat> enter(const event_id& event, std::string currency) {
    return std::make_shared<board_seat>(*this, event, std::move(currency));
  }
  /// Counts state changes. `now`: the event's time.
  void count(const changes& content, timestamp now) noexcept;

  struct reading {
    event_id event;
    std::string currency;
    event_numbers numbers;
  };
  [[nodiscard]] std::vector<reading> read() const;
  /// Orders without a payment page, over all events.
  struct pending_orders {
    std::uint64_t count = 0;
    timestamp oldest; ///< `never`: none
  };
  [[nodiscard]] pending_orders pending() const;

  counter_of<entry_status, 8> entries; ///< by new state
  counter_of<claim_status, 5> claims;
  counter_of<order_status, 7> orders;
  counter_of<payment_status, 10> payments;
  counter_of<refund_status, 3> refunds;
  /// From the order to its payment page, or to its success if it needs none.
  duration_counts<task_bounds_seconds> pages;
  counter orders_served; ///< reached a payment page or success
  counter orders_failed; ///< failed before their payment page

private:
  friend class board_seat;
  void count_order(order_status from, const order_row& row, timestamp now) noexcept;

  mutable std::mutex mutex_; // shared by starting and stopping owners and the metrics' io thread
  std::unordered_set<const board_seat*> seats_;
};

} // namespace fq
