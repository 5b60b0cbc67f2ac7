// SPDX-License-Identifier: Apache-2.0
// Orders: prices, the right to place one, the end with their payments; promo codes, hidden types, windows.
#define CAF_SUITE domain_sale_orders
#include "tests/domain/sale/orders_fixture.hpp"

#include <algorithm>
#include <variant>

namespace sale_orders_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(an order holds its tickets and waits for its page and then for its money) {
  orders_fixture f;
  const auto& o = f.ordered(1, {f.standard(2), f.seat()});
  CAF_CHECK(o.status == order_status::pending);
  CAF_CHECK_EQUAL(o.subtotal, 4'500);
  CAF_CHECK_EQUAL(o.platform_fee, 450);
  CAF_CHECK_EQUAL(o.processing_fee, 174); // 2.9 % of 4950 is 143.55, and 30
  CAF_CHECK_EQUAL(o.total, 5'124);
  CAF_CHECK_EQUAL(f.s.claim_of(1).amount, 5'124);
  CAF_CHECK_EQUAL(f.s.type(0).held, 2);
  CAF_CHECK_EQUAL(f.s.type(1).held, 1);
  CAF_CHECK(f.s.asked(gateway_call_kind::initialize));
  const auto payment = f.s.payment_of(o).id;
  f.s.initialized(payment);
  CAF_CHECK(f.s.order_of(1).status == order_status::awaiting_payment);
  CAF_CHECK(f.s.it->view_of(f.s.order_of(1)).payment_url == "http://page");
  f.s.captured(payment);
  CAF_CHECK(f.s.order_of(1).status == order_status::success);
  CAF_CHECK(f.s.it->view_of(f.s.order_of(1)).payment_url.empty());
  CAF_CHECK_EQUAL(f.s.type(0).sold, 2);
  f.sound();
}

CAF_TEST(all items or none) {
  orders_fixture f;
  f.s.join(1);
  f.bought(2, {f.seat(4)});
  const auto refused = f.s.order(1, {f.standard(), f.seat(2)});
  CAF_CHECK(refused.no.why == reason::none_free);
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  CAF_CHECK(f.s.ledger.orders.size() == 1);
  f.sound();
}

CAF_TEST(only an admitted customer orders and one at a time) {
  auto event = sample_event();
  event.queue.batch_size = 1;
  orders_fixture f{event};
  f.s.join(1);
  f.s.join(2);
  CAF_CHECK(f.s.order(2, {f.standard()}).no.why == reason::not_admitted);
  CAF_CHECK(f.s.order(3, {f.standard()}).no.why == reason::not_admitted);
  CAF_CHECK(!f.s.order(1, {f.standard()}).no);
  const auto again = f.s.order(1, {f.standard()});
  CAF_CHECK(again.no.why == reason::already_claimed);
  CAF_CHECK(again.no.id == f.s.claim_of(1).id);
}

CAF_TEST(an open event lets who orders in by itself) {
  orders_fixture f{open_event()};
  CAF_CHECK(!f.s.order(1, {f.standard()}).no);
  CAF_CHECK(f.s.entry(1).status == entry_status::admitted);
  CAF_CHECK(f.s.entry(1).has_claimed);
  const auto is_move = [](const change& c) { return std::holds_alternative<entry_moved>(c); };
  CAF_CHECK_EQUAL(std::ranges::count_if(f.s.last.content, is_move), 1); // admitted with its claim
  CAF_CHECK(f.s.order(2, {f.standard(5)}).no.why == reason::limit_exceeded);
  CAF_CHECK(f.s.it->queue().find(fan(2)) == nullptr); // a refused order joins no queue
  f.sound();
}

CAF_TEST(a place that an order took and could not shop from is revealed by its commit only) {
  orders_fixture f{open_event()};
  f.s.change_status(event_trigger::pause);
  CAF_CHECK(f.s.order(1, {f.standard()}).no.why == reason::not_admitted);
  CAF_CHECK(f.s.entry(1).status == entry_status::waiting);
  CAF_CHECK(f.s.last.reveals);
}

CAF_TEST(what costs nothing is bought at once) {
  auto types = orders_fixture::two_types();
  types[0].price = 0;
  orders_fixture f{sample_event(), types};
  const auto& o = f.ordered(1, {f.standard(2)});
  CAF_CHECK(o.status == order_status::success);
  CAF_CHECK_EQUAL(o.total, 0);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 2);
  CAF_CHECK(!f.s.asked(gateway_call_kind::initialize));
  f.sound();
}

CAF_TEST(a donation on a free ticket is charged with its percentage only) {
  auto types = orders_fixture::two_types();
  types[0].price = 0;
  orders_fixture f{sample_event(), types};
  const auto& o = f.ordered(1, {f.standard(2, 500)});
  CAF_CHECK_EQUAL(o.donations, 1'000);
  CAF_CHECK_EQUAL(o.platform_fee, 0);
  CAF_CHECK_EQUAL(o.processing_fee, 29);
  CAF_CHECK(o.status == order_status::pending);
  f.sound();
}

CAF_TEST(an order ends with its hold and its tickets come back) {
  orders_fixture f;
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(payment);
  f.s.pass(seconds{20});
  CAF_CHECK(f.s.asked(gateway_call_kind::verify));
  CAF_CHECK(f.s.order_of(1).status == order_status::awaiting_payment); // the gateway must answer first
  f.s.closed(payment);
  CAF_CHECK(f.s.order_of(1).status == order_status::failed);
  CAF_CHECK(f.s.order_of(1).failure == "expired");
  CAF_CHECK(f.s.it->view_of(f.s.order_of(1)).can_retry);
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  f.sound();
}

CAF_TEST(money after a failure buys the tickets again or goes back) {
  orders_fixture f;
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(payment);
  f.s.pass(seconds{20});
  f.s.closed(payment);
  f.s.captured(payment);
  CAF_CHECK(f.s.order_of(1).status == order_status::success);
  CAF_CHECK(f.s.order_of(1).failure.empty());
  CAF_CHECK(f.s.order_of(1).claim == f.s.payment(payment).claim);
  f.sound();
}

CAF_TEST(a declined card keeps the hold and may try again) {
  orders_fixture f;
  const auto first = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(first);
  f.s.declined(first);
  CAF_CHECK(f.s.order_of(1).status == order_status::awaiting_payment);
  CAF_CHECK(f.s.it->view_of(f.s.order_of(1)).can_retry);
  CAF_CHECK_EQUAL(f.s.type(0).held, 1);
  const auto second = f.s.pay(1);
  CAF_CHECK(second.created);
  CAF_CHECK_EQUAL(f.s.payment(second.payment).amount, f.s.order_of(1).total);
  f.s.initialized(second.payment);
  f.s.captured(second.payment);
  CAF_CHECK(f.s.order_of(1).status == order_status::success);
  f.sound();
}

CAF_TEST(no order waits for its page for ever) {
  auto event = sample_event();
  event.claim_ttl = seconds{600};
  event.queue.session_ttl = seconds{1'200};
  orders_fixture f{event};
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  for (int asked = 0; asked < 3; ++asked) { // the sale keeps polling the gateway
    f.s.it->not_answered(payment, f.s.now);
    f.s.pass(seconds{15});
    CAF_CHECK(f.s.asked(gateway_call_kind::initialize));
  }
  f.s.pass(seconds{300 - 45});
  CAF_CHECK(f.s.order_of(1).status == order_status::failed);
  CAF_CHECK(f.s.order_of(1).failure == "gateway_unavailable");
  CAF_CHECK(f.s.asked(gateway_call_kind::expire)); // the gateway may have created the page after all
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  f.sound();
}

CAF_TEST(a gateway that refuses fails the order and one that knows the reference already gets another) {
  orders_fixture f;
  const auto first = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.it->refused_by_gateway(first, true, f.s.now, f.s.last = {});
  f.s.settle();
  const auto second = f.s.payment_of(f.s.order_of(1)).id;
  CAF_CHECK(second != first);
  CAF_CHECK(f.s.payment(first).status == payment_status::failed);
  CAF_CHECK(f.s.order_of(1).status == order_status::pending);
  f.s.it->refused_by_gateway(second, false, f.s.now, f.s.last = {});
  f.s.settle();
  CAF_CHECK(f.s.order_of(1).status == order_status::failed);
  CAF_CHECK(f.s.order_of(1).failure == "payment_rejected");
  f.sound();
}

CAF_TEST(a reference that came twice takes no page away that is known) {
  orders_fixture f;
  const auto first = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(first);
  f.s.it->refused_by_gateway(first, true, f.s.now,
                             f.s.last = {}); // polled again while the answer was in flight
  f.s.settle();
  CAF_CHECK(f.s.payment(first).status == payment_status::pending);
  f.s.captured(first);
  CAF_CHECK(f.s.order_of(1).status == order_status::success);
  f.sound();
}

CAF_TEST(an order given up frees its tickets once nobody can pay any more) {
  orders_fixture f;
  const auto& o = f.ordered(1, {f.standard()});
  const auto id = o.id, payment = f.s.payment_of(o).id;
  f.s.initialized(payment);
  CAF_CHECK(f.s.cancel_order(2, id).why == reason::not_found);
  CAF_CHECK(!f.s.cancel_order(1, id));
  CAF_CHECK(f.s.order_of(1).status == order_status::cancelled);
  CAF_CHECK(f.s.asked(gateway_call_kind::expire));
  CAF_CHECK_EQUAL(f.s.type(0).held, 1); // until the gateway confirms that the page is closed
  f.s.closed(payment);
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  CAF_CHECK(!f.s.cancel_order(1, id)); // repeated: the same answer
  f.sound();
}

CAF_TEST(money for an order given up goes back) {
  orders_fixture f;
  const auto& o = f.ordered(1, {f.standard()});
  const auto id = o.id, payment = f.s.payment_of(o).id;
  f.s.initialized(payment);
  f.s.cancel_order(1, id);
  f.s.captured(payment);
  CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
  CAF_CHECK(f.s.order_of(1).status == order_status::cancelled);
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  f.sound();
}

CAF_TEST(a promo code makes it cheaper for so many orders and comes back on failure) {
  orders_fixture f;
  f.code("HALF", percent(5'000), 2, 1);
  const auto& first = f.ordered(1, {f.standard(2)}, " half ");
  CAF_CHECK_EQUAL(first.discount, 1'000);
  CAF_CHECK(first.promo_code == "HALF");
  f.bought(2, {f.standard()}, "HALF");
  f.s.join(3);
  CAF_CHECK(f.s.order(3, {f.standard()}, "HALF").no.why == reason::promo_code_exhausted);
  CAF_CHECK(f.s.order(3, {f.standard()}, "NONE").no.why == reason::promo_code_invalid);
  CAF_CHECK(f.s.order(3, {f.standard()}, "two words").no.why == reason::promo_code_invalid);
  const auto payment = f.s.payment_of(f.s.order_of(1)).id;
  f.s.cancel_order(1, f.s.order_of(1).id);
  f.s.closed(payment);
  CAF_CHECK_EQUAL(f.s.ledger.promo_codes[0].uses, 1u);
  CAF_CHECK(!f.s.order(3, {f.standard()}, "HALF").no);
  f.sound();
}

CAF_TEST(a customer uses a code as often as it may) {
  auto event = sample_event();
  event.claims_per_customer = 3;
  orders_fixture f{event};
  f.code("ONCE", percent(1'000), 0, 1);
  f.bought(1, {f.standard()}, "ONCE");
  f.s.join(1);
  CAF_CHECK(f.s.order(1, {f.standard()}, "ONCE").no.why == reason::promo_code_limit);
  CAF_CHECK(!f.s.order(1, {f.standard()}).no);
}

CAF_TEST(a code has a window and can be off and its word is its own) {
  orders_fixture f;
  f.code("EARLY", percent(1'000));
  promo_code_patch p;
  p.id = f.s.ledger.promo_codes[0].id;
  p.valid_from = {true, opening + seconds{5}};
  p.valid_until = {true, opening + seconds{8}};
  CAF_CHECK(!f.s.promo(p));
  f.s.join(1);
  const auto early = f.s.order(1, {f.standard()}, "EARLY");
  CAF_CHECK(early.no.why == reason::promo_code_expired);
  CAF_CHECK(early.no.at == opening + seconds{5});
  f.s.pass(seconds{8});
  CAF_CHECK(f.s.order(1, {f.standard()}, "EARLY").no.why == reason::promo_code_expired);
  promo_code_patch same;
  same.code = {true, "early"};
  CAF_CHECK(f.s.promo(same).why == reason::promo_code_taken);
  p.is_active = {true, false};
  f.s.promo(p);
  CAF_CHECK(f.s.order(1, {f.standard()}, "EARLY").no.why == reason::promo_code_invalid);
  p.uses_max = {true, 1};
  p.valid_until = {true, opening};
  CAF_CHECK(f.s.promo(p).why == reason::invalid_field);
}

CAF_TEST(late money does not redeem a code once more than it may be) {
  orders_fixture f;
  f.code("LAST", percent(5'000), 1);
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard()}, "LAST")).id;
  f.s.initialized(payment);
  f.s.pass(seconds{20});
  f.s.closed(payment);
  f.bought(2, {f.standard()}, "LAST");
  f.s.captured(payment);
  CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
  CAF_CHECK(f.s.order_of(1).status == order_status::failed);
  f.sound();
}

CAF_TEST(late money does not redeem a code for a customer who has used it up) {
  auto event = sample_event();
  event.claims_per_customer = 2;
  orders_fixture f{event};
  f.code("ONCE", percent(5'000), 0, 1);
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard()}, "ONCE")).id;
  f.s.initialized(payment);
  f.s.pass(seconds{20});
  f.s.closed(payment);
  f.bought(1, {f.standard()}, "ONCE"); // the first use was released
  f.s.captured(payment);
  CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
  f.sound();
}

CAF_TEST(a hidden type is sold to who has a code that names it) {
  auto types = orders_fixture::two_types();
  types[1].hidden = true;
  orders_fixture f{sample_event(), types};
  f.code("ALL", percent(100));
  f.code("BACKSTAGE", {discount_kind::none, 0, 0b10});
  f.s.join(1);
  CAF_CHECK(f.s.order(1, {f.seat()}).no.why == reason::invalid_field);
  CAF_CHECK(f.s.order(1, {f.seat()}, "ALL").no.why == reason::invalid_field);
  CAF_CHECK(f.s.claim(1, {f.seat()}).why == reason::invalid_field);
  CAF_CHECK(!f.s.order(1, {f.seat()}, "BACKSTAGE").no);
  f.sound();
}

CAF_TEST(a type has a window of its own) {
  auto types = orders_fixture::two_types();
  types[1].sale_from = opening + seconds{3};
  types[1].sale_until = opening + seconds{6};
  orders_fixture f{sample_event(), types};
  f.s.join(1);
  const auto early = f.s.order(1, {f.seat()});
  CAF_CHECK(early.no.why == reason::not_on_sale);
  CAF_CHECK(early.no.at == opening + seconds{3});
  CAF_CHECK(f.s.claim(1, {f.seat()}).why == reason::not_on_sale);
  f.s.pass(seconds{3});
  CAF_CHECK(!f.s.order(1, {f.seat()}).no);
  f.s.join(2);
  f.s.pass(seconds{3});
  CAF_CHECK(f.s.order(2, {f.seat()}).no.why == reason::not_on_sale);
}

CAF_TEST(a quote holds nothing) {
  orders_fixture f;
  f.code("TEN", percent(1'000));
  order_wish wish;
  wish.items = {f.standard(2)};
  wish.promo_code = "TEN";
  quote_view quoted;
  CAF_CHECK(!f.s.it->quote(fan(1), wish, f.s.now, quoted));
  CAF_CHECK_EQUAL(quoted.price.discount, 200);
  CAF_CHECK_EQUAL(quoted.price.total, f.ordered(1, {f.standard(2)}, "TEN").total);
}

CAF_TEST(who has not paid after a while is sent the page once) {
  orders_fixture f;
  f.s.initialized(f.s.payment_of(f.ordered(1, {f.standard()})).id);
  CAF_CHECK(f.s.order_of(1).payment_link_at == f.s.now + seconds{2});
  CAF_CHECK(f.s.wake.at <= f.s.now + seconds{2});
  f.s.pass(seconds{2});
  CAF_CHECK(!is_set(f.s.order_of(1).payment_link_at));
  f.bought(2, {f.standard()});
  CAF_CHECK(!is_set(f.s.order_of(2).payment_link_at)); // paid before
}

CAF_TEST(a join that moves others reveals itself to their reads) {
  auto event = sample_event();
  event.queue_opens_at = event.sale_start = opening;
  event.queue.batch_size = 1;
  orders_fixture f{event};
  f.s.prefer(3, priority_vip);
  f.s.join(1); // is admitted
  f.s.join(2);
  CAF_CHECK(!f.s.last.reveals);
  f.s.join(3);
  CAF_CHECK(f.s.last.reveals); // fan 2 must not see the change before it is durable
}

CAF_TEST(preferred customers come first and in order) {
  auto event = sample_event();
  event.queue.batch_size = 1;
  event.queue_opens_at = opening + seconds{1};
  event.sale_start = opening + seconds{1};
  orders_fixture f{event};
  f.s.prefer(3, priority_vip);
  f.s.prefer(4, priority_vip);
  f.s.pass(seconds{1});
  for (std::uint64_t n : {1, 2, 3, 4}) f.s.join(n);
  f.s.prefer(2, std::nullopt);
  CAF_CHECK(f.s.entry(1).status == entry_status::admitted); // admitted when it was alone
  f.s.pass(seconds{5});
  CAF_CHECK(f.s.entry(3).status == entry_status::admitted);
  f.s.pass(seconds{5});
  CAF_CHECK(f.s.entry(4).status == entry_status::admitted);
  CAF_CHECK(f.s.entry(2).status == entry_status::waiting);
  f.s.prefer(3, std::nullopt);
  CAF_CHECK_EQUAL(f.s.ledger.priorities.size(), 1u);
}

} // namespace sale_orders_test
