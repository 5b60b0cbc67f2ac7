// SPDX-License-Identifier: Apache-2.0
// Guests buy without a sign-in: what they hold is theirs, what is paid is the buyer's, within the buyer's
// limit.
#define CAF_SUITE domain_sale_guests
#include "tests/domain/sale/orders_fixture.hpp"

#include <algorithm>
#include <vector>

namespace sale_guests_test {

using namespace fq;
using namespace fq::test;

constexpr std::uint64_t guest = first_guest + 1, another = 2 * first_guest + 1; ///< both buy for fan 1

event_row guests_event() {
  auto e = sample_event();
  e.guests = true;
  return e;
}

struct fixture : orders_fixture {
  fixture() : orders_fixture(guests_event()) {}
  /// Its payment page is there.
  payment_id with_page(std::uint64_t n) {
    const auto payment = s.payment_of(ordered(n, {standard()})).id;
    s.initialized(payment);
    return payment;
  }
};

CAF_TEST(what a guest pays for is the buyers and what it holds is its own) {
  fixture f;
  const auto payment = f.with_page(guest);
  const auto held = f.s.claim_of(guest);
  CAF_CHECK(f.s.order_of(guest).customer == fan(1));
  CAF_CHECK(f.s.order_of(guest).guest == fan(guest));
  CAF_CHECK(held.customer == fan(guest));
  CAF_CHECK(f.s.payment(payment).customer == fan(guest));
  f.s.captured(payment);
  const auto& bought = f.s.claim_of(1);
  CAF_CHECK(bought.id == held.id);
  CAF_CHECK(bought.status == claim_status::confirmed);
  CAF_CHECK(f.s.payment(payment).customer == fan(1));
  const auto tickets = f.s.tickets_of(1);
  CAF_REQUIRE_EQUAL(tickets.size(), 1u);
  CAF_CHECK(f.s.ledger.event_tickets.at(tickets.front()).holder == fan(1));
  CAF_CHECK(f.s.entry(guest).status == entry_status::completed);
  f.s.reload();
  CAF_CHECK(f.s.it->claims().standing(fan(1)) != nullptr);
  f.sound();
}

CAF_TEST(what is free of charge needs a sign in) {
  fixture f;
  f.code("FREE", percent(10'000));
  f.s.join(guest);
  CAF_CHECK(f.s.order(guest, {f.standard()}, "FREE").no.why == reason::sign_in_required);
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  CAF_CHECK(f.ordered(1, {f.standard()}, "FREE").status == order_status::success); // its limit is unused
  f.sound();
}

CAF_TEST(an event whose tickets are all free takes no guests) {
  auto types = orders_fixture::two_types();
  for (auto& t : types) t.price = 0;
  orders_fixture f{guests_event(), std::move(types)};
  CAF_CHECK(f.s.join(guest).no.why == reason::sign_in_required);
  f.bought(1, {f.standard()});
  f.sound();
}

CAF_TEST(an address that has bought its limit must sign in) {
  fixture f;
  f.bought(guest, {f.standard()});
  f.s.join(another);
  CAF_CHECK(f.s.order(another, {f.standard()}).no.why == reason::sign_in_required);
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  f.sound();
}

CAF_TEST(what guests hold takes nothing from the owner of the address) {
  fixture f;
  f.with_page(guest);
  f.with_page(another);
  f.s.pass(milliseconds{5}); // the next order is the newest
  f.bought(1, {f.standard()});
  CAF_CHECK_EQUAL(f.s.type(0).sold, 1);
  f.sound();
}

CAF_TEST(of two guests who pay for one address the second is refunded) {
  fixture f;
  const auto first = f.with_page(guest), second = f.with_page(another);
  f.s.captured(first);
  f.s.captured(second);
  const auto& late = f.s.order_of(another);
  CAF_CHECK(late.status == order_status::failed);
  CAF_CHECK_EQUAL(late.failure, "limit_exceeded");
  CAF_CHECK(f.s.payment(second).status == payment_status::refund_pending);
  CAF_CHECK(f.s.refund_asked().has_value());
  CAF_CHECK_EQUAL(f.s.type(0).sold, 1);
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 1u);
  f.sound();
}

CAF_TEST(what the owner holds signed in counts when a guest pays) {
  fixture f;
  const auto payment = f.with_page(guest);
  f.ordered(1, {f.standard()});
  f.s.captured(payment);
  CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
  CAF_CHECK(is_live(f.s.claim_of(1).status));
  f.sound();
}

CAF_TEST(a guests late money buys again for the buyer) {
  fixture f;
  const auto payment = f.with_page(guest);
  f.s.pass(f.s.it->event().claim_ttl);
  f.s.closed(payment);
  f.s.drain();
  CAF_REQUIRE(f.s.claim_of(guest).status == claim_status::released);
  f.s.captured(payment);
  CAF_CHECK(f.s.claim_of(1).status == claim_status::confirmed);
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 1u);
  CAF_CHECK(f.s.order_of(guest).status == order_status::success);
  f.sound();
}

CAF_TEST(a blocked address buys nothing and learns nothing) {
  fixture f;
  const auto payment = f.with_page(guest);
  f.s.block({1});
  f.s.join(another);
  CAF_CHECK(f.s.order(another, {f.standard()}).no.why == reason::sign_in_required);
  f.s.captured(payment);
  CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
  f.sound();
}

CAF_TEST(money for an address that was erased meanwhile is refunded) {
  fixture f;
  const auto payment = f.with_page(guest);
  const std::vector erased{fan(1)};
  f.s.it->forget_contacts(erased);
  f.s.ledger.orders.at(f.s.order_of(guest).id).contact = {};
  f.s.captured(payment);
  CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
}

CAF_TEST(guests need an event that takes them an order and a code without a limit for each customer) {
  orders_fixture closed;
  CAF_CHECK(closed.s.join(guest).no.why == reason::sign_in_required);
  quote_view quoted;
  order_wish wish;
  wish.items = {closed.standard()};
  CAF_CHECK(closed.s.it->quote(fan(guest), wish, closed.s.now, quoted).why == reason::sign_in_required);
  CAF_CHECK(!closed.s.it->quote(fan(1), wish, closed.s.now, quoted));
  fixture f;
  f.code("ONCE", percent(1'000), 0, 1);
  f.code("MANY", percent(1'000));
  f.s.join(guest);
  CAF_CHECK(f.s.claim(guest).why == reason::sign_in_required);
  CAF_CHECK(f.s.order(guest, {f.standard()}, "ONCE").no.why == reason::sign_in_required);
  CAF_CHECK(!f.s.order(guest, {f.standard()}, "MANY").no);
  f.sound();
}

CAF_TEST(a guest and the owner of the address may cancel an unpaid order) {
  fixture f;
  f.ordered(guest, {f.standard()});
  CAF_CHECK(f.s.cancel_order(2, f.s.order_of(guest).id).why == reason::not_found);
  CAF_CHECK(!f.s.cancel_order(guest, f.s.order_of(guest).id));
  f.ordered(another, {f.standard()});
  CAF_CHECK(!f.s.cancel_order(1, f.s.order_of(another).id));
  f.sound();
}

} // namespace sale_guests_test
