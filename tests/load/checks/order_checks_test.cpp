// SPDX-License-Identifier: Apache-2.0
// Every check of orders with a planted violation, and with a similar valid or unprovable history that must
// pass.
#define CAF_SUITE load.order_checks
#include "caf/test/unit_test.hpp"

#include "load/checks/checker.hpp"

using namespace fq::load;

namespace {

const uuid standard{9, 1};
const uuid seat{9, 2};
constexpr run_time_us books_us = 900'000;

// Two standard tickets at 500 minus 50 each, plus a donation of 10 each, and a seat at 800:
// 1,800 - 100 + 20 + 450 + 93.
order_terms terms_of(std::uint64_t n, const std::string& promo = "HALF") {
  order_terms out;
  out.claim = {2, n};
  out.items = {{standard, 2, 500, 50, 10, 0}, {seat, 1, 800, 0, 0, 0}};
  out.subtotal = 1800;
  out.discount = 100;
  out.donations = 20;
  out.platform_fee = 450;
  out.processing_fee = 93;
  out.total = 2263;
  out.currency = "EUR";
  out.promo_code = promo;
  return out;
}

order_sight look(run_time_us at_us, std::uint64_t n, order_status status) {
  return {at_us, at_us, at_us + 5, {6, n}, status, {}, 0, {}, {}};
}

order_sight whole(run_time_us at_us, std::uint64_t n, order_status status, payment_status payment) {
  auto out = look(at_us, n, status);
  out.terms = terms_of(n);
  out.payment = {3, n};
  out.payment_state = payment;
  return out;
}

payment_sight paid(run_time_us at_us, std::uint64_t n, payment_status status) {
  return {at_us, at_us + 5, {3, n}, {2, n}, status, 2263, 0, "EUR"};
}

fan_history buyer(std::uint64_t n) {
  const auto t = static_cast<run_time_us>(1000 * n);
  fan_history fan;
  fan.end = outcome::bought;
  fan.wishes = {{{6, n}, {{standard, 2, 0, 0, 10, 0}, {seat, 1, 0, 0, 0, 0}}, "half"}};
  fan.orders = {look(t, n, order_status::pending), look(t + 10, n, order_status::awaiting_payment),
                whole(t + 20, n, order_status::awaiting_payment, payment_status::pending),
                look(t + 40, n, order_status::success),
                whole(t + 50, n, order_status::success, payment_status::confirmed)};
  fan.gateway = {{t + 30, {3, n}, true}};
  fan.payments = {paid(t + 60, n, payment_status::confirmed)};
  return fan;
}

// Cancels its unpaid order.
fan_history leaver(std::uint64_t n) {
  auto fan = buyer(n);
  const auto t = static_cast<run_time_us>(1000 * n);
  fan.end = outcome::abandoned;
  fan.plan = behaviour::abandon;
  fan.orders.resize(3);
  fan.orders.push_back(whole(t + 40, n, order_status::cancelled, payment_status::failed));
  fan.gateway.clear();
  fan.payments = {paid(t + 60, n, payment_status::failed)};
  return fan;
}

listed_order listed(std::uint64_t n, std::size_t fan, order_status status, payment_status payment) {
  return {whole(books_us, n, status, payment), fan};
}

// Four orders of two standard tickets and a seat are bought, one is cancelled.
sale_history good_sale() {
  sale_history sale;
  sale.terms.currency = "EUR";
  sale.terms.policy = "open";
  sale.terms.types = {{standard, "Standard", 500, 10, 10, 4}, {seat, "Seat", 800, 5, 5, 4}};
  sale.before.read = true;
  auto& books = sale.after;
  books.read = books.settled = true;
  books.sent_us = books_us;
  for (std::uint64_t n = 1; n <= 4; ++n) {
    sale.fans.push_back(buyer(n));
    books.orders.push_back(listed(n, n - 1, order_status::success, payment_status::confirmed));
  }
  sale.fans.push_back(leaver(5));
  books.orders.push_back(listed(5, 4, order_status::cancelled, payment_status::failed));
  books.stock = {{standard, 10, 2}, {seat, 5, 1}};
  books.promos = {{"HALF", 4, 4}};
  books.sold = 12;
  return sale;
}

void expect_clean(const sale_history& sale) {
  const auto judged = judge(sale);
  for (const auto& check : judged.checks)
    for (const auto& example : check.examples) CAF_MESSAGE(std::string(name_of(check.id)) + ": " + example);
  CAF_CHECK(!judged.broken());
}

// Only this check breaks.
void expect_only(const sale_history& sale, check_id id) {
  const auto judged = judge(sale);
  for (const auto& check : judged.checks) {
    CAF_MESSAGE(std::string(name_of(check.id))
                + (check.examples.empty() ? "" : ": " + check.examples.front()));
    CAF_CHECK_EQUAL(check.result == verdict::broken, check.id == id);
  }
}

} // namespace

CAF_TEST(a good sale of orders holds and its money is counted) {
  const auto sale = good_sale();
  expect_clean(sale);
  const auto judged = judge(sale);
  CAF_CHECK_EQUAL(judged.sold_units, 12);
  CAF_CHECK_EQUAL(judged.orders.gateway_paid, 4 * 2263);
  CAF_CHECK_EQUAL(judged.orders.bought_value, 4 * 2263);
  CAF_CHECK_EQUAL(judged.orders.in_flight, 0);
  for (auto id = static_cast<std::uint8_t>(check_id::lost_orders);
       id <= static_cast<std::uint8_t>(check_id::order_money); ++id)
    CAF_CHECK(judged.of(static_cast<check_id>(id)).result == verdict::held);
}

CAF_TEST(without orders nothing about them is judged) {
  sale_history sale;
  const auto judged = judge(sale);
  CAF_CHECK(!judged.broken());
  CAF_CHECK(judged.of(check_id::order_money).result == verdict::not_judged);
  CAF_CHECK(judged.of(check_id::order_stock).result == verdict::not_judged);
}

CAF_TEST(an order answered 404 is lost) {
  auto sale = good_sale();
  auto gone = look(4900, 4, order_status::success);
  gone.status.reset();
  sale.fans[3].orders.push_back(gone);
  expect_only(sale, check_id::lost_orders);
}

CAF_TEST(an answered order that the books miss is lost) {
  auto sale = good_sale();
  sale.after.orders.pop_back();
  expect_only(sale, check_id::lost_orders);
}

CAF_TEST(a success that becomes anything but a refund is reverted) {
  for (const auto status : {order_status::awaiting_payment, order_status::failed, order_status::cancelled}) {
    auto sale = good_sale();
    sale.fans[0].orders.insert(sale.fans[0].orders.begin() + 4, look(1045, 1, status));
    const auto judged = judge(sale);
    CAF_CHECK(judged.of(check_id::order_reverted).violations > 0);
  }
}

CAF_TEST(a cancelled order stays cancelled) {
  auto sale = good_sale();
  sale.fans[4].orders.push_back(look(5900, 5, order_status::awaiting_payment));
  sale.after = sale_books{};
  const auto judged = judge(sale);
  CAF_CHECK(judged.of(check_id::order_reverted).violations > 0);
}

CAF_TEST(a failed order may be bought late) {
  auto sale = good_sale();
  sale.fans[0].orders.insert(sale.fans[0].orders.begin() + 3, look(1035, 1, order_status::failed));
  expect_clean(sale);
}

CAF_TEST(an order whose total changes is another order) {
  auto sale = good_sale();
  auto& later = *sale.fans[1].orders.back().terms;
  later.donations += 2;
  later.items[0].donation += 1;
  later.total += 2;
  const auto judged = judge(sale);
  CAF_CHECK(judged.of(check_id::order_reverted).violations > 0);
}

CAF_TEST(a total that is not its parts is seen in an answer and in the books) {
  auto sale = good_sale();
  for (auto& observation : sale.fans[2].orders)
    if (observation.terms) observation.terms->total += 1;
  sale.after.orders[2].observation.terms->total += 1;
  for (auto& payment : sale.fans[2].payments) payment.amount += 1;
  expect_only(sale, check_id::order_amounts);
  sale = good_sale();
  listed_order other{whole(books_us, 77, order_status::failed, payment_status::failed), {}};
  other.observation.terms->subtotal -= 1;
  sale.after.orders.push_back(other);
  expect_only(sale, check_id::order_amounts);
}

CAF_TEST(a ticket at another price than the event says is seen) {
  auto sale = good_sale();
  sale.terms.types[1].price = 801;
  expect_only(sale, check_id::order_amounts);
  sale.terms_changed = true; // prices may have changed in between
  expect_clean(sale);
}

CAF_TEST(other tickets or another code than asked for are seen) {
  auto sale = good_sale();
  sale.fans[0].wishes[0].items[0].quantity = 1;
  expect_only(sale, check_id::order_amounts);
  sale = good_sale();
  sale.fans[0].wishes[0].promo_code = "LESS";
  expect_only(sale, check_id::order_amounts);
}

CAF_TEST(a payment of another amount than the total is seen) {
  auto sale = good_sale();
  sale.fans[0].payments[0].amount = 2000;
  expect_only(sale, check_id::order_amounts);
}

CAF_TEST(a success that the books do not confirm is seen) {
  auto sale = good_sale();
  sale.after.orders[0].observation.status = order_status::awaiting_payment;
  const auto judged = judge(sale);
  CAF_CHECK_EQUAL(judged.of(check_id::orders_confirmed).violations, 1u);
}

CAF_TEST(an order in the books that its fan never placed is seen) {
  auto sale = good_sale();
  sale.after.orders.push_back(listed(6, 4, order_status::failed, payment_status::failed));
  expect_only(sale, check_id::orders_confirmed);
  sale.fans[4].unknown_checkouts = 1; // its answer was lost: it may be this order
  expect_clean(sale);
}

CAF_TEST(more sold than there is breaks by the fans and by the books) {
  auto sale = good_sale();
  sale.terms.types[1].total = 3;
  sale.after.stock[1] = {seat, 3, 0};
  const auto judged = judge(sale);
  CAF_CHECK_EQUAL(judged.of(check_id::oversold).violations, 2u); // four sold and one held, of three
  CAF_CHECK(judged.of(check_id::order_stock).violations > 0);
}

CAF_TEST(stock that is gone without an order is seen) {
  auto sale = good_sale();
  sale.after.stock[0].available = 1;
  expect_only(sale, check_id::order_stock);
}

CAF_TEST(a count of sold tickets that is not that of the orders is seen) {
  auto sale = good_sale();
  sale.after.sold = 13;
  expect_only(sale, check_id::order_stock);
  sale.fans[4].unknown_claims = 1; // it may have bought with a claim
  sale.after.stock[0].available = 1;
  expect_clean(sale);
}

CAF_TEST(refunded units are on sale again) {
  auto sale = good_sale();
  auto& order = sale.after.orders[0].observation;
  order.status = order_status::partially_refunded;
  order.terms->items[0].refunded = 1;
  order.refunded_amount = 460;
  order.payment_state = payment_status::partially_refunded;
  sale.after.stock[0].available = 3;
  sale.after.sold = 11;
  expect_clean(sale);
  const auto judged = judge(sale);
  CAF_CHECK_EQUAL(judged.orders.refunds, 460);
  CAF_CHECK_EQUAL(judged.orders.bought_value, 4 * 2263 - 460);
}

CAF_TEST(a promo code beyond its limit or miscounted is seen) {
  auto sale = good_sale();
  sale.after.promos[0].uses_max = 3;
  expect_only(sale, check_id::promo_uses);
  sale = good_sale();
  sale.after.promos[0] = {"HALF", 0, 5};
  expect_only(sale, check_id::promo_uses);
}

CAF_TEST(an unpaid order keeps its promo code and its stock) {
  auto sale = good_sale();
  sale.fans[4].orders.resize(3);
  sale.fans[4].payments.clear();
  sale.after.orders[4] = listed(5, 4, order_status::awaiting_payment, payment_status::pending);
  sale.after.stock = {{standard, 10, 0}, {seat, 5, 0}};
  sale.after.promos[0] = {"HALF", 5, 5};
  expect_clean(sale);
  sale.after.promos[0].uses = 4;
  expect_only(sale, check_id::promo_uses);
}

CAF_TEST(books that did not come to rest prove nothing about sums) {
  auto sale = good_sale();
  sale.after.settled = false;
  sale.after.promos[0].uses = 9;
  sale.after.sold = 99;
  expect_clean(sale);
  CAF_CHECK(judge(sale).of(check_id::promo_uses).result == verdict::not_judged);
}

CAF_TEST(money without a ticket is seen) {
  auto sale = good_sale();
  sale.fans[4].gateway = {{5030, {3, 5}, true}};
  const auto judged = judge(sale);
  CAF_CHECK_EQUAL(judged.of(check_id::order_money).violations, 1u);
}

CAF_TEST(money for a cancelled order that goes back is in flight or refunded) {
  for (const auto state :
       {payment_status::confirmed_late, payment_status::refund_pending, payment_status::refunded}) {
    auto sale = good_sale();
    sale.fans[4].gateway = {{5030, {3, 5}, true}};
    sale.fans[4].orders.back().payment_state = state;
    sale.fans[4].payments[0].status = state;
    sale.after.orders[4].observation.payment_state = state;
    expect_clean(sale);
    const auto judged = judge(sale);
    CAF_CHECK_EQUAL(judged.orders.gateway_paid, 5 * 2263);
    CAF_CHECK_EQUAL(judged.orders.refunds, state == payment_status::refunded ? 2263 : 0);
    CAF_CHECK_EQUAL(judged.orders.in_flight, state == payment_status::refunded ? 0 : 2263);
  }
}

CAF_TEST(money that is confirmed for a cancelled order is kept) {
  auto sale = good_sale();
  sale.fans[4].gateway = {{5030, {3, 5}, true}};
  sale.fans[4].payments[0].status = payment_status::confirmed;
  sale.after.orders[4].observation.payment_state = payment_status::confirmed;
  expect_only(sale, check_id::order_money);
}

CAF_TEST(a ticket that nobody paid for is seen) {
  auto sale = good_sale();
  sale.fans[0].gateway.clear();
  expect_only(sale, check_id::order_money);
  sale.fans[0].unknown_gateway = 1; // its answer was lost: it may be paid
  expect_clean(sale);
}

CAF_TEST(an order paid for twice owes one of them back) {
  auto sale = good_sale();
  sale.fans[0].gateway.push_back({1035, {3, 101}, true});
  sale.fans[0].payments.push_back({1036, 1037, {3, 101}, {2, 1}, payment_status::confirmed, 2263, 0, "EUR"});
  expect_only(sale, check_id::order_money);
  sale.fans[0].payments.back().status = payment_status::refund_pending;
  expect_clean(sale);
}
