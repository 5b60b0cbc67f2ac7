// SPDX-License-Identifier: Apache-2.0
// The board on which owners publish their numbers: seats come and go, readers see published values, each
// state change counts once.
#define CAF_SUITE sale_board
#include "actors/base/sale_board.hpp"

#include "caf/test/unit_test.hpp"

#include <atomic>
#include <thread>

namespace sale_board_test {

using namespace fq;

namespace {

const auto noon = from_unix_ms(1'800'000'000'000);

order_row order(order_status status) {
  order_row row;
  row.status = status;
  row.created_at = noon;
  return row;
}

} // namespace

CAF_TEST(a seat shows what was told for as long as it is there) {
  sale_board board;
  auto seat = board.enter(uuid{1, 2}, "EUR");
  const auto at_first = board.read();
  CAF_REQUIRE_EQUAL(at_first.size(), 1u);
  CAF_CHECK_EQUAL(at_first[0].numbers.waiting, 0u);
  event_numbers n;
  n.waiting = 7;
  n.away = 1;
  n.admitted = 3;
  n.free = 4;
  n.held = 5;
  n.sold = 6;
  n.revenue = -8;
  n.orders_pending = 9;
  n.oldest_pending = noon;
  n.dead_letters = 2;
  n.due = milliseconds{11};
  seat->tell(n);
  const auto all = board.read();
  CAF_REQUIRE_EQUAL(all.size(), 1u);
  CAF_CHECK((all[0].event == uuid{1, 2}));
  CAF_CHECK_EQUAL(all[0].currency, "EUR");
  const auto& read = all[0].numbers;
  CAF_CHECK(read.waiting == 7 && read.away == 1 && read.admitted == 3 && read.free == 4 && read.held == 5
            && read.sold == 6);
  CAF_CHECK(read.revenue == -8 && read.orders_pending == 9 && read.oldest_pending == noon
            && read.dead_letters == 2 && read.due == milliseconds{11});
  seat = nullptr;
  CAF_CHECK(board.read().empty());
  CAF_CHECK_EQUAL(board.pending().count, 0u);
}

CAF_TEST(pending orders are those of all and the oldest of all) {
  sale_board board;
  const auto a = board.enter(uuid{1, 1}, ""), b = board.enter(uuid{1, 2}, ""),
             c = board.enter(uuid{1, 3}, "");
  CAF_CHECK(!is_set(board.pending().oldest));
  event_numbers n;
  n.orders_pending = 2;
  n.oldest_pending = noon;
  a->tell(n);
  n.orders_pending = 3;
  n.oldest_pending = noon - seconds{5};
  c->tell(n);
  CAF_CHECK_EQUAL(board.pending().count, 5u);
  CAF_CHECK(board.pending().oldest == noon - seconds{5});
}

CAF_TEST(what comes into a state is counted and what only changes is not) {
  sale_board board;
  entry_row entry;
  claim_row claim;
  payment_row payment;
  refund_row refund;
  changes content;
  content.emplace_back(entry_joined{entry});
  entry.status = entry_status::admitted;
  content.emplace_back(entry_moved{entry_status::waiting, entry});
  content.emplace_back(entry_moved{entry_status::admitted, entry}); // has claimed
  content.emplace_back(claim_opened{claim});
  claim.status = claim_status::released;
  content.emplace_back(claim_moved{claim_status::claimed, claim});
  content.emplace_back(payment_opened{payment});
  payment.status = payment_status::confirmed;
  content.emplace_back(payment_moved{payment_status::pending, payment});
  content.emplace_back(refund_opened{refund});
  content.emplace_back(stock_moved{});
  board.count(content, noon);
  board.count({}, noon);
  CAF_CHECK_EQUAL(board.entries[entry_status::waiting].get(), 1u);
  CAF_CHECK_EQUAL(board.entries[entry_status::admitted].get(), 1u);
  CAF_CHECK_EQUAL(board.claims[claim_status::claimed].get(), 1u);
  CAF_CHECK_EQUAL(board.claims[claim_status::released].get(), 1u);
  CAF_CHECK_EQUAL(board.payments[payment_status::initializing].get(), 1u);
  CAF_CHECK_EQUAL(board.payments[payment_status::confirmed].get(), 1u);
  CAF_CHECK_EQUAL(board.refunds[refund_status::requested].get(), 1u);
}

CAF_TEST(the work behind a checkout ends once with its page or without one) {
  sale_board board;
  const auto at = [&](milliseconds after, changes content) { board.count(content, noon + after); };
  const auto moved = [](order_status from, order_status to) {
    changes content;
    content.emplace_back(order_moved{from, order(to)});
    return content;
  };
  changes placed;
  placed.emplace_back(order_placed{order(order_status::pending)});
  at(milliseconds{0}, placed);
  CAF_CHECK_EQUAL(board.orders_served.get() + board.orders_failed.get(), 0u);
  at(milliseconds{700}, moved(order_status::pending, order_status::awaiting_payment));
  at(milliseconds{9'000},
     moved(order_status::awaiting_payment, order_status::success)); // paid: its waiting time is not counted
  CAF_CHECK_EQUAL(board.orders_served.get(), 1u);
  CAF_CHECK_EQUAL(board.pages.seconds(), 0.7);
  at(milliseconds{0}, moved(order_status::pending, order_status::failed));
  at(milliseconds{0}, moved(order_status::awaiting_payment, order_status::failed)); // its page existed
  at(milliseconds{0}, moved(order_status::pending, order_status::cancelled)); // cancelled
  CAF_CHECK_EQUAL(board.orders_failed.get(), 1u);
  changes free_of_charge;
  free_of_charge.emplace_back(order_placed{order(order_status::success)});
  at(milliseconds{0}, free_of_charge);
  CAF_CHECK_EQUAL(board.orders_served.get(), 2u);
  CAF_CHECK_EQUAL(board.orders[order_status::failed].get(), 2u);
}

CAF_TEST(owners come and go while somebody reads) {
  sale_board board;
  std::atomic<bool> is_over{false};
  std::atomic<bool> is_sound{true};
  std::atomic<std::uint64_t> readings{0};
  std::thread reader{[&] {
    for (; !is_over; ++readings)
      for (const auto& r : board.read())
        if (r.numbers.waiting > 1'000 || r.currency != "EUR") is_sound = false;
  }};
  for (std::uint64_t round = 0; round < 200 || readings < 200; ++round) {
    std::vector<std::shared_ptr<board_seat>> seats;
    for (std::uint64_t i = 0; i < 50; ++i) {
      seats.push_back(board.enter(uuid{round, i}, "EUR"));
      event_numbers n;
      n.waiting = i * 20;
      seats.back()->tell(n);
    }
  }
  is_over = true;
  reader.join();
  CAF_CHECK(is_sound);
  CAF_CHECK(board.read().empty());
}

} // namespace sale_board_test
