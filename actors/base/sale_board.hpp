// SPDX-License-Identifier: Apache-2.0
// What the events and queues of this process show of themselves to whoever measures: each owner has a seat
// and writes its numbers there after every decision, without a lock; what changes state is counted for all of
// them together. Safe on any thread; nobody decides an order by it. Numbers are of what was decided: if a
// commit fails after all, the owner loads anew and says what is so.
#pragma once
#include "actors/base/counts.hpp"
#include "domain/model/change.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace fq {

/// Of one event or standalone queue, now.
struct event_numbers {
  std::uint64_t waiting = 0, away = 0, admitted = 0;
  std::int64_t free = 0, held = 0, sold = 0; ///< tickets
  money revenue = 0; ///< captured minus refunded, of all times
  std::uint64_t orders_pending = 0; ///< wait for their payment page
  timestamp oldest_pending; ///< when it was placed; `never` if none waits
  std::uint64_t dead_letters = 0; ///< open ones
  milliseconds due{0}; ///< steady time at which time alone will change something; 0: nothing waits for time
};

class sale_board;

/// An owner's place on the board, for as long as it serves. One thread writes.
class board_seat {
public:
  board_seat(sale_board& board, const event_id& event, std::string currency);
  ~board_seat();
  board_seat(const board_seat&) = delete;
  board_seat& operator=(const board_seat&) = delete;

  void tell(const event_numbers& now) noexcept;
  /// Nothing else has changed since the last `tell`.
  void tell_waiting(std::uint64_t waiting) noexcept { waiting_.set(static_cast<std::int64_t>(waiting)); }
  /// Each number is one that was told; not all of them in the same call.
  [[nodiscard]] event_numbers read() const noexcept;

  const event_id event;
  const std::string currency; ///< empty: it sells nothing

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
  /// Counts what changed its state. `now` is the event's time.
  void count(const changes& content, timestamp now) noexcept;

  struct reading {
    event_id event;
    std::string currency;
    event_numbers numbers;
  };
  [[nodiscard]] std::vector<reading> read() const;
  /// Of all events together; only what orders wait for.
  struct pending_orders {
    std::uint64_t count = 0;
    timestamp oldest; ///< `never` if none waits
  };
  [[nodiscard]] pending_orders pending() const;

  counter_of<entry_status, 8> entries; ///< by the state that they came into
  counter_of<claim_status, 5> claims;
  counter_of<order_status, 7> orders;
  counter_of<payment_status, 10> payments;
  counter_of<refund_status, 3> refunds;
  duration_counts<task_bounds_seconds>
    pages; ///< from an order to its payment page, or to its end if it needs none
  counter orders_served; ///< that came so far
  counter orders_failed; ///< whose page never came

private:
  friend class board_seat;
  void count_order(order_status from, const order_row& row, timestamp now) noexcept;

  mutable std::mutex mutex_; // owners that begin and end, and the metrics' io thread, meet here
  std::unordered_set<const board_seat*> seats_;
};

} // namespace fq
