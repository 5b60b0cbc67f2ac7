// SPDX-License-Identifier: Apache-2.0
#include "actors/base/sale_board.hpp"

#include <utility>

namespace fq {
namespace {

template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};

} // namespace

board_seat::board_seat(sale_board& board, const event_id& id, std::string money) :
    event(id), currency(std::move(money)), board_(board) {
  const std::scoped_lock held{board_.mutex_};
  board_.seats_.insert(this);
}

board_seat::~board_seat() {
  const std::scoped_lock held{board_.mutex_};
  board_.seats_.erase(this);
}

void board_seat::tell(const event_numbers& now) noexcept {
  waiting_.set(static_cast<std::int64_t>(now.waiting));
  away_.set(static_cast<std::int64_t>(now.away));
  admitted_.set(static_cast<std::int64_t>(now.admitted));
  free_.set(now.free);
  held_.set(now.held);
  sold_.set(now.sold);
  revenue_.set(now.revenue);
  orders_pending_.set(static_cast<std::int64_t>(now.orders_pending));
  oldest_pending_.set(unix_ms(now.oldest_pending));
  dead_letters_.set(static_cast<std::int64_t>(now.dead_letters));
  due_.set(now.due.count());
}

event_numbers board_seat::read() const noexcept {
  event_numbers n;
  n.waiting = static_cast<std::uint64_t>(waiting_.get());
  n.away = static_cast<std::uint64_t>(away_.get());
  n.admitted = static_cast<std::uint64_t>(admitted_.get());
  n.free = free_.get();
  n.held = held_.get();
  n.sold = sold_.get();
  n.revenue = revenue_.get();
  n.orders_pending = static_cast<std::uint64_t>(orders_pending_.get());
  n.oldest_pending = from_unix_ms(oldest_pending_.get());
  n.dead_letters = static_cast<std::uint64_t>(dead_letters_.get());
  n.due = milliseconds{due_.get()};
  return n;
}

void sale_board::count(const changes& content, timestamp now) noexcept {
  const auto came = [](auto& counts, auto status) { counts[status].add(); };
  const auto moved = [&](auto& counts, const auto& c) {
    if (c.from != c.row.status) came(counts, c.row.status);
  };
  for (const auto& one : content)
    std::visit(overloaded{
                 [&](const entry_joined& c) { came(entries, c.row.status); },
                 [&](const entry_moved& c) { moved(entries, c); },
                 [&](const claim_opened& c) { came(claims, c.row.status); },
                 [&](const claim_moved& c) { moved(claims, c); },
                 [&](const payment_opened& c) { came(payments, c.row.status); },
                 [&](const payment_moved& c) { moved(payments, c); },
                 [&](const refund_opened& c) { came(refunds, c.row.status); },
                 [&](const refund_moved& c) { moved(refunds, c); },
                 [&](const order_placed& c) {
                   came(orders, c.row.status);
                   if (c.row.status != order_status::pending) count_order(order_status::pending, c.row, now);
                 },
                 [&](const order_moved& c) {
                   moved(orders, c);
                   count_order(c.from, c.row, now);
                 },
                 [](const auto&) {},
               },
               one);
}

/// An order cancelled by its customer counts neither as served nor as failed.
void sale_board::count_order(order_status from, const order_row& row, timestamp now) noexcept {
  if (from != order_status::pending) return;
  if (row.status == order_status::failed) orders_failed.add();
  if (row.status != order_status::awaiting_payment && row.status != order_status::success) return;
  orders_served.add();
  pages.observe(now - row.created_at);
}

std::vector<sale_board::reading> sale_board::read() const {
  const std::scoped_lock held{mutex_};
  std::vector<reading> all;
  all.reserve(seats_.size());
  for (const auto* seat : seats_) all.push_back({seat->event, seat->currency, seat->read()});
  return all;
}

sale_board::pending_orders sale_board::pending() const {
  const std::scoped_lock held{mutex_};
  pending_orders all;
  for (const auto* seat : seats_) {
    const auto n = seat->read();
    all.count += n.orders_pending;
    if (is_set(n.oldest_pending) && (!is_set(all.oldest) || n.oldest_pending < all.oldest))
      all.oldest = n.oldest_pending;
  }
  return all;
}

} // namespace fq
