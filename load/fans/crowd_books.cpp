// SPDX-License-Identifier: Apache-2.0
// The crowd's bookkeeper: reads the organizer's view of orders, promo codes and stock before the first fan
// arrives and after the last one is done. It records and judges nothing.
#include "load/base/tokens.hpp"
#include "load/fans/crowd.hpp"
#include "load/fans/fan_parts.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <fstream>

namespace fq::load {

namespace {

// The gateway may still settle the attempt of an order that is over: stock and promo code are about to be
// released.
bool is_being_undone(const order_sight& order) {
  if (!order.status || is_open(*order.status) || is_bought(*order.status)) return false;
  return order.payment_state == payment_status::initializing || order.payment_state == payment_status::pending
         || order.payment_state == payment_status::confirmed_late
         || order.payment_state == payment_status::refund_pending;
}

bool same(const listed_order& a, const listed_order& b) {
  return a.observation.order == b.observation.order && a.observation.status == b.observation.status
         && a.observation.refunded_amount == b.observation.refunded_amount
         && a.observation.payment_state == b.observation.payment_state;
}

bool same(const listed_promo& a, const listed_promo& b) {
  return a.code == b.code && a.uses == b.uses && a.uses_max == b.uses_max;
}

bool same(const listed_stock& a, const listed_stock& b) {
  return a.ticket_type == b.ticket_type && a.total == b.total && a.available == b.available;
}

template <class Row>
bool same_rows(const std::vector<Row>& a, const std::vector<Row>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Row& x, const Row& y) { return same(x, y); });
}

// True if two readings are equal and no order is about to change.
bool are_settled(const sale_books& a, const sale_books& b) {
  return a.sold == b.sold && a.held == b.held && same_rows(a.orders, b.orders)
         && same_rows(a.promos, b.promos) && same_rows(a.stock, b.stock)
         && std::none_of(b.orders.begin(), b.orders.end(),
                         [](const listed_order& each) { return is_being_undone(each.observation); });
}

} // namespace

void crowd::choose_buyers() {
  for (std::size_t i = 0; i < fans_.size(); ++i)
    if (options_.buy_by == buying_way::checkout
        || (options_.buy_by == buying_way::mixed && random_.unit() < 0.5))
      fans_[i]->check_out_from_now();
}

// Without a token the books are not read, and the checks that need them are skipped.
void crowd::find_organizer() {
  try {
    if (!options_.organizer_token_file.empty()) {
      organizer_token_ = read_tokens(options_.organizer_token_file, 1).front();
    } else if (!result_.history.terms.organizer.is_nil()) {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      organizer_token_ =
        mint_organizer_token(options_.data_dir, result_.history.terms.organizer,
                             std::chrono::duration_cast<std::chrono::seconds>(now).count(),
                             static_cast<std::int64_t>(options_.timeout_s + options_.books_s) + 3600);
    }
  } catch (const token_error& error) {
    if (result_.complaints.size() < complaint_limit)
      result_.complaints.push_back(std::string("the organizer's books are not read: ") + error.what());
  }
}

asio::awaitable<void> crowd::read_first_books() {
  if (options_.buy_by == buying_way::claims) co_return;
  find_organizer();
  co_await read_books(result_.history.before);
}

// Reads until two readings agree: a list of pages is not a snapshot, and the last orders may still be in
// progress. The server may be unavailable.
asio::awaitable<void> crowd::read_last_books() {
  if (options_.buy_by == buying_way::claims || organizer_token_.empty()) co_return;
  const auto until =
    steady::now() + std::chrono::microseconds(static_cast<run_time_us>(options_.books_s * 1e6));
  auto& last = result_.history.after;
  for (;;) {
    sale_books now;
    if (co_await read_books(now)) {
      now.settled = last.read && are_settled(last, now);
      last = std::move(now);
    }
    if (last.settled || steady::now() >= until) co_return;
    books_timer_.expires_after(books_pause);
    co_await books_timer_.async_wait(as_result);
  }
}

// False if a part could not be read; `out` is then unread.
asio::awaitable<bool> crowd::read_books(sale_books& out) {
  out = sale_books{};
  if (organizer_token_.empty()) co_return false;
  out.sent_us = now_us();
  const auto event = "/events/" + options_.event;
  std::string cursor;
  for (int page = 0; page < books_pages_max; ++page) {
    auto path = event + "/orders?limit=200";
    if (!cursor.empty()) path += "&cursor=" + cursor;
    const auto body = co_await ask_books(std::move(path));
    auto rows = read_event_orders(body, run_name_);
    if (!rows) co_return false;
    for (auto& row : rows->rows) {
      row.observation.sent_us = out.sent_us;
      row.observation.at_us = now_us();
      out.orders.push_back(std::move(row));
    }
    cursor = rows->next_cursor;
    if (cursor.empty()) break;
  }
  const auto promos = read_promo_codes(co_await ask_books(event + "/promo-codes"));
  const auto stats = read_stats(co_await ask_books(event + "/stats"));
  const auto told = read_event(co_await ask_books(event));
  if (!promos || !stats || !told) co_return false;
  out.promos = promos->rows;
  out.sold = stats->sold;
  out.held = stats->held;
  for (const auto& type : told->terms.types)
    out.stock.push_back({type.id, type.total, type.available_at_start});
  out.read = true;
  co_return true;
}

// Null if there was no usable answer.
asio::awaitable<boost::json::value> crowd::ask_books(std::string path) {
  const std::string text = "GET " + target(path) + " HTTP/1.1\r\nHost: " + server_.authority()
                           + "\r\nAuthorization: Bearer " + organizer_token_ + "\r\n\r\n";
  http_reply reply;
  const auto result = co_await watch_link_->exchange(text, reply, steady::now() + std::chrono::seconds(5));
  if (result != transfer::answered) co_return nullptr;
  if (reply.status != 200) {
    if (reply.status < 500 && reply.status != 429 && result_.complaints.size() < complaint_limit)
      result_.complaints.push_back("books: GET " + path + " answered " + std::to_string(reply.status));
    co_return nullptr;
  }
  co_return parse_object(reply.body);
}

} // namespace fq::load
