// SPDX-License-Identifier: Apache-2.0
// Orders: prices, the right to place one, the end with their payments; promo codes, hidden types, windows,
// partial refunds.
#define CAF_SUITE domain_sale_orders
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace sale_orders_test {

using namespace fq;
using namespace fq::test;

namespace {

/// 10 Standard at 10.00 (at most 4), 5 Seats at 25.00; the fees of the second reference.
struct fixture {
  explicit fixture(event_row event = sample_event(), std::vector<ticket_type_row> types = two_types()) :
      s(std::move(event), std::move(types)) {}

  static std::vector<ticket_type_row> two_types() {
    auto types = sample_types(10, 1'000);
    types.push_back(
      {.ordinal = 1, .id = {0x77, 2}, .name = "Seat", .price = 2'500, .total = 5, .max_per_order = 4});
    return types;
  }
  item_wish standard(std::uint32_t quantity = 1, money donation = 0) const {
    return {s.type(0).id, quantity, donation};
  }
  item_wish seat(std::uint32_t quantity = 1) const { return {s.type(1).id, quantity, 0}; }

  /// Fan `n` is admitted and has placed an order.
  const order_row& ordered(std::uint64_t n, std::vector<item_wish> items, std::string code = {}) {
    s.join(n);
    const auto done = s.order(n, std::move(items), std::move(code));
    CAF_CHECK(!done.no);
    return s.order_of(n);
  }
  /// The same, and has paid.
  const order_row& bought(std::uint64_t n, std::vector<item_wish> items, std::string code = {}) {
    const auto payment = s.payment_of(ordered(n, std::move(items), std::move(code))).id;
    if (is_open(s.payment(payment).status)) {
      s.initialized(payment);
      s.captured(payment);
    }
    return s.order_of(n);
  }
  void code(std::string word, discount reduction, std::uint32_t uses_max = 0,
            std::uint32_t per_customer = 0) {
    promo_code_patch p;
    p.code = {true, std::move(word)};
    p.reduction = {true, reduction};
    p.uses_max = {true, uses_max};
    p.uses_per_customer = {true, per_customer};
    CAF_CHECK(!s.promo(p));
  }
  void sound() const {
    const auto wrong = what_is_wrong(s);
    if (!wrong.empty()) CAF_FAIL(wrong);
  }
  sample_sale s;
};

discount percent(std::int64_t basis_points, std::uint64_t types = 0) {
  return {discount_kind::percent, basis_points, types};
}

event_row open_event() {
  auto e = sample_event();
  e.queue.policy = admission_policy::open;
  return e;
}

} // namespace

CAF_TEST(an order holds its tickets and waits for its page and then for its money) {
  fixture f;
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
  fixture f;
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
  fixture f{event};
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
  fixture f{open_event()};
  CAF_CHECK(!f.s.order(1, {f.standard()}).no);
  CAF_CHECK(f.s.entry(1).status == entry_status::admitted);
  CAF_CHECK(f.s.order(2, {f.standard(5)}).no.why == reason::limit_exceeded);
  CAF_CHECK(f.s.it->queue().find(fan(2)) == nullptr); // a refused order joins no queue
  f.sound();
}

CAF_TEST(a place that an order took and could not shop from is revealed by its commit only) {
  fixture f{open_event()};
  f.s.change_status(event_trigger::pause);
  CAF_CHECK(f.s.order(1, {f.standard()}).no.why == reason::not_admitted);
  CAF_CHECK(f.s.entry(1).status == entry_status::waiting);
  CAF_CHECK(f.s.last.reveals);
}

CAF_TEST(what costs nothing is bought at once) {
  auto types = fixture::two_types();
  types[0].price = 0;
  fixture f{sample_event(), types};
  const auto& o = f.ordered(1, {f.standard(2)});
  CAF_CHECK(o.status == order_status::success);
  CAF_CHECK_EQUAL(o.total, 0);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 2);
  CAF_CHECK(!f.s.asked(gateway_call_kind::initialize));
  f.sound();
}

CAF_TEST(a donation on a free ticket is charged with its percentage only) {
  auto types = fixture::two_types();
  types[0].price = 0;
  fixture f{sample_event(), types};
  const auto& o = f.ordered(1, {f.standard(2, 500)});
  CAF_CHECK_EQUAL(o.donations, 1'000);
  CAF_CHECK_EQUAL(o.platform_fee, 0);
  CAF_CHECK_EQUAL(o.processing_fee, 29);
  CAF_CHECK(o.status == order_status::pending);
  f.sound();
}

CAF_TEST(an order ends with its hold and its tickets come back) {
  fixture f;
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
  fixture f;
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
  fixture f;
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
  fixture f{event};
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
  fixture f;
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
  fixture f;
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
  fixture f;
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
  fixture f;
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
  fixture f;
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
  fixture f{event};
  f.code("ONCE", percent(1'000), 0, 1);
  f.bought(1, {f.standard()}, "ONCE");
  f.s.join(1);
  CAF_CHECK(f.s.order(1, {f.standard()}, "ONCE").no.why == reason::promo_code_limit);
  CAF_CHECK(!f.s.order(1, {f.standard()}).no);
}

CAF_TEST(a code has a window and can be off and its word is its own) {
  fixture f;
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
  fixture f;
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
  fixture f{event};
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
  auto types = fixture::two_types();
  types[1].hidden = true;
  fixture f{sample_event(), types};
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
  auto types = fixture::two_types();
  types[1].sale_from = opening + seconds{3};
  types[1].sale_until = opening + seconds{6};
  fixture f{sample_event(), types};
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
  fixture f;
  f.code("TEN", percent(1'000));
  order_wish wish;
  wish.items = {f.standard(2)};
  wish.promo_code = "TEN";
  quote_view quoted;
  CAF_CHECK(!f.s.it->quote(fan(1), wish, f.s.now, quoted));
  CAF_CHECK_EQUAL(quoted.price.discount, 200);
  CAF_CHECK_EQUAL(quoted.price.total, f.ordered(1, {f.standard(2)}, "TEN").total);
}

CAF_TEST(tickets go back one by one and the fees with the last) {
  fixture f;
  const auto& o = f.bought(1, {f.standard(2), f.seat()});
  const auto id = o.id, payment = f.s.payment_of(o).id;
  const auto total = o.total;
  CAF_CHECK(f.s.refund_order(id, {f.standard(3)}).why == reason::invalid_field);
  CAF_CHECK(!f.s.refund_order(id, {f.standard()}));
  CAF_CHECK(f.s.refund_order(id).why == reason::refund_open);
  const auto first = f.s.refund_asked();
  CAF_REQUIRE(!first); // the last decision was the refusal
  const auto refund = f.s.ledger.refunds.begin()->first;
  CAF_CHECK_EQUAL(f.s.ledger.refunds.at(refund).amount, 1'000);
  f.s.refunded(refund);
  CAF_CHECK(f.s.order_of(1).status == order_status::partially_refunded);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 1);
  CAF_CHECK(f.s.payment(payment).status == payment_status::partially_refunded);
  f.sound();
  CAF_CHECK(!f.s.refund_order(id, {f.seat(), f.standard()})); // all remaining tickets, in another order
  const auto last = *f.s.refund_asked();
  CAF_CHECK_EQUAL(f.s.ledger.refunds.at(last).amount, total - 1'000);
  f.s.refunded(last);
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  CAF_CHECK(f.s.claim_of(1).status == claim_status::refunded);
  CAF_CHECK_EQUAL(f.s.type(0).sold + f.s.type(1).sold, 0);
  CAF_CHECK(f.s.refund_order(id).why == reason::nothing_to_refund);
  f.sound();
}

CAF_TEST(a refund that the gateway will not make waits for a person) {
  auto rules = sale_rules{};
  rules.refund_retry.attempts = 2;
  fixture f;
  f.s.rules = rules;
  f.s.reload();
  const auto id = f.bought(1, {f.standard()}).id;
  f.s.refund_order(id);
  const auto refund = *f.s.refund_asked();
  for (int i = 0; i < 2; ++i) {
    f.s.it->refund_not_processed(refund, true, f.s.now, f.s.last = {});
    f.s.settle();
  }
  CAF_REQUIRE_EQUAL(f.s.ledger.dead_letters.size(), 1u);
  const auto letter = f.s.ledger.dead_letters.begin()->first;
  f.s.it->retry_dead_letter(letter, f.s.now, f.s.last = {});
  f.s.settle();
  CAF_CHECK(f.s.asked(gateway_call_kind::refund));
  CAF_CHECK(f.s.ledger.dead_letters.empty());
  const auto another = *f.s.refund_asked(); // a new refund id, because the gateway refuses the old one again
  CAF_CHECK(another != refund);
  f.s.refunded(another);
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  f.sound();
}

CAF_TEST(another amount than quoted waits for a person and can be sent back) {
  fixture f;
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(payment);
  auto wrong = f.s.fact(payment, verdict::paid);
  wrong.amount -= 1;
  f.s.hear(wrong);
  CAF_CHECK(f.s.payment(payment).status == payment_status::quarantined);
  CAF_REQUIRE_EQUAL(f.s.ledger.dead_letters.size(), 1u);
  f.s.it->retry_dead_letter(f.s.ledger.dead_letters.begin()->first, f.s.now, f.s.last = {});
  f.s.settle();
  CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
  f.s.refunded(*f.s.refund_asked());
  CAF_CHECK_EQUAL(f.s.payment(payment).refunded, wrong.amount);
  f.sound();
}

CAF_TEST(another amount that waits to go back does not pay for refunded tickets) {
  fixture f;
  const auto first = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(first);
  f.s.declined(first);
  const auto second = f.s.pay(1).payment;
  f.s.initialized(second);
  f.s.captured(first); // captured after all
  auto wrong = f.s.fact(second, verdict::paid);
  wrong.amount += 1;
  f.s.hear(wrong);
  CAF_REQUIRE(f.s.order_of(1).status == order_status::success);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id));
  const auto refund = *f.s.refund_asked();
  CAF_REQUIRE_EQUAL(f.s.ledger.dead_letters.size(), 1u);
  f.s.it->retry_dead_letter(f.s.ledger.dead_letters.begin()->first, f.s.now, f.s.last = {});
  f.s.settle();
  CAF_REQUIRE(f.s.payment(second).status == payment_status::refund_pending);
  f.s.refunded(refund);
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  f.sound();
}

CAF_TEST(tax that the gateway adds is recorded and goes back with the rest) {
  fixture f;
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(payment);
  auto paid = f.s.fact(payment, verdict::paid);
  paid.tax = 190;
  f.s.hear(paid);
  CAF_CHECK(f.s.order_of(1).status == order_status::success);
  CAF_CHECK_EQUAL(f.s.payment(payment).captured, paid.amount + 190);
  f.s.refund_order(f.s.order_of(1).id);
  CAF_CHECK_EQUAL(f.s.ledger.refunds.at(*f.s.refund_asked()).amount, paid.amount + 190);
}

CAF_TEST(a cancelled event gives every order back) {
  fixture f;
  const auto bought = f.bought(1, {f.standard()}).id;
  const auto paying = f.s.payment_of(f.ordered(2, {f.standard()})).id;
  f.s.initialized(paying);
  f.s.change_status(event_trigger::cancel);
  f.s.drain();
  CAF_CHECK(f.s.order_of(2).status == order_status::failed);
  CAF_CHECK(f.s.order_of(2).failure == "event_cancelled");
  f.s.captured(paying); // captured at the same moment
  for (const auto& [id, r] : std::map{f.s.ledger.refunds}) f.s.refunded(id);
  CAF_CHECK(f.s.it->orders().find(bought)->status == order_status::refunded);
  CAF_CHECK(f.s.payment(paying).status == payment_status::refunded);
  CAF_CHECK(f.s.order_of(2).status == order_status::failed);
  CAF_CHECK_EQUAL(f.s.type(0).held + f.s.type(0).sold, 0);
  f.sound();
}

CAF_TEST(who has not paid after a while is sent the page once) {
  fixture f;
  f.s.initialized(f.s.payment_of(f.ordered(1, {f.standard()})).id);
  CAF_CHECK(f.s.order_of(1).payment_link_at == f.s.now + seconds{2});
  CAF_CHECK(f.s.wake.at <= f.s.now + seconds{2});
  f.s.pass(seconds{2});
  CAF_CHECK(!is_set(f.s.order_of(1).payment_link_at));
  f.bought(2, {f.standard()});
  CAF_CHECK(!is_set(f.s.order_of(2).payment_link_at)); // paid before
}

CAF_TEST(who gave tickets back in parts is the payer though another capture is on its way back) {
  fixture f;
  const auto& o = f.ordered(1, {f.standard(2)});
  const auto first = f.s.payment_of(o).id;
  f.s.initialized(first);
  f.s.declined(first);
  const auto second = f.s.pay(1).payment;
  f.s.initialized(second);
  f.s.captured(second);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {f.standard(1)}));
  f.s.refunded(*f.s.refund_asked());
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id));
  const auto rest = f.s.refund_asked();
  f.s.captured(first); // its page was paid after all
  const auto of_first = f.s.refund_asked();
  CAF_REQUIRE(rest && of_first);
  f.s.refunded(*rest);
  f.sound();
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  f.s.refunded(*of_first);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  f.sound();
}

CAF_TEST(a join that moves others reveals itself to their reads) {
  auto event = sample_event();
  event.queue_opens_at = event.sale_start = opening;
  event.queue.batch_size = 1;
  fixture f{event};
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
  fixture f{event};
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
