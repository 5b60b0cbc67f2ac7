// SPDX-License-Identifier: Apache-2.0
// Block lists, and invitations to a quota.
#define CAF_SUITE domain_sale_people
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace sale_people_test {

using namespace fq;
using namespace fq::test;

namespace {

/// 10 Standard at 10.00 and a quota of 5 at 1.00, two of them in an order.
struct fixture {
  explicit fixture(event_row event = sample_event()) : s(std::move(event), types()) {}

  static std::vector<ticket_type_row> types() {
    auto all = sample_types(10, 1'000);
    all.push_back({.ordinal = 1,
                   .id = {0x77, 2},
                   .name = "Members",
                   .price = 100,
                   .total = 5,
                   .max_per_order = 2,
                   .hidden = true});
    return all;
  }
  item_wish standard(std::uint32_t quantity = 1) const { return {s.type(0).id, quantity, 0}; }
  item_wish quota(std::uint32_t quantity = 1) const { return {s.type(1).id, quantity, 0}; }
  invitation_wish to_quota(std::uint32_t quantity = 2, timestamp until = never) const {
    return {s.type(1).id, quantity, until};
  }

  payment_id ordered(std::uint64_t n, std::vector<item_wish> items = {}) {
    s.join(n);
    const auto done = s.order(n, std::move(items));
    CAF_REQUIRE(!done.no);
    const auto payment = s.payment_of(s.order_of(n)).id;
    s.initialized(payment);
    return payment;
  }
  payment_id bought(std::uint64_t n, std::vector<item_wish> items = {}) {
    const auto payment = ordered(n, std::move(items));
    s.captured(payment);
    CAF_REQUIRE(s.order_of(n).status == order_status::success);
    return payment;
  }
  refund_id refund_of_last() const {
    const auto refund = s.refund_asked();
    CAF_REQUIRE(refund.has_value());
    return *refund;
  }
  void sound() const {
    const auto wrong = what_is_wrong(s);
    if (!wrong.empty()) CAF_FAIL(wrong);
  }
  sample_sale s;
};

} // namespace

// -- personal data --------------------------------------------------------------------------------------

CAF_TEST(contacts of an ended sale are forgotten and those of open orders are not) {
  fixture f;
  f.bought(1);
  f.ordered(2);
  const auto in_memory = [&](std::uint64_t n) { return f.s.it->orders().find(f.s.order_of(n).id)->contact; };
  const auto after_end = f.s.it->event().sale_end + milliseconds{1};
  f.s.it->forget_contacts_of_sales_before(after_end);
  CAF_CHECK(!in_memory(1).email.empty()); // the sale has not ended
  CAF_REQUIRE(!f.s.change_status(event_trigger::end));
  f.s.it->forget_contacts_of_sales_before(f.s.it->event().sale_end);
  CAF_CHECK(!in_memory(1).email.empty());
  f.s.it->forget_contacts_of_sales_before(after_end);
  CAF_CHECK(in_memory(1) == contact{});
  CAF_CHECK_EQUAL(in_memory(2).email.empty(), !is_open(f.s.order_of(2).status));
}

// -- blocks ---------------------------------------------------------------------------------------------

CAF_TEST(a blocked customer can neither join nor buy) {
  fixture f;
  f.s.block({1});
  CAF_CHECK(f.s.join(1).no.why == reason::customer_blocked);
  CAF_CHECK(f.s.claim(1).why == reason::customer_blocked);
  CAF_CHECK(f.s.order(1).no.why == reason::customer_blocked);
  CAF_CHECK(!f.s.join(2).no);
  f.s.block({});
  CAF_CHECK(!f.s.join(1).no);
  f.sound();
}

CAF_TEST(an open event does not let a blocked customer in by itself) {
  auto event = sample_event();
  event.queue.policy = admission_policy::open;
  fixture f{event};
  f.s.block({1});
  CAF_CHECK(f.s.order(1, {f.standard()}).no.why == reason::customer_blocked);
  CAF_CHECK(f.s.it->queue().find(fan(1)) == nullptr);
}

CAF_TEST(a place and a session end with the block) {
  auto event = sample_event();
  event.queue.batch_size = 1;
  fixture f{event};
  f.s.join_all(1, 3);
  f.s.block({1, 3});
  CAF_CHECK(f.s.entry(1).status == entry_status::revoked);
  CAF_CHECK(f.s.entry(3).status == entry_status::cancelled);
  CAF_CHECK(f.s.entry(2).status == entry_status::waiting);
  CAF_CHECK_EQUAL(f.s.last.blocked.size(), 2u);
  CAF_CHECK(f.s.last.blocked[0].had_place);
  f.sound();
}

CAF_TEST(what was bought goes back and is free for others) {
  fixture f;
  f.bought(1, {f.standard(2)});
  f.s.block({1});
  CAF_REQUIRE_EQUAL(f.s.last.blocked.size(), 1u);
  CAF_CHECK_EQUAL(f.s.last.blocked[0].refunds, 1u);
  CAF_CHECK(f.s.last.blocked[0].customer == fan(1));
  f.s.refunded(f.refund_of_last());
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  f.s.pass(seconds{1});
  CAF_CHECK(f.s.last.blocked.empty()); // reported once
  f.sound();
}

CAF_TEST(an order that waits for its money is cancelled and what still comes goes back) {
  fixture f;
  const auto payment = f.ordered(1);
  f.s.block({1});
  CAF_CHECK(f.s.order_of(1).status == order_status::cancelled);
  CAF_CHECK(f.s.asked(gateway_call_kind::expire));
  f.s.captured(payment);
  CAF_CHECK(f.s.asked(gateway_call_kind::refund));
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  CAF_CHECK_EQUAL(f.s.type(0).held, 0);
  f.sound();
}

CAF_TEST(a claim without an order goes back too and its money with it) {
  fixture f;
  f.s.join(1);
  CAF_REQUIRE(!f.s.claim(1));
  const auto attempt = f.s.pay(1);
  f.s.block({1});
  CAF_CHECK(f.s.it->open_payment(fan(1), f.s.claim_of(1).id, "sandbox", f.s.now, f.s.last).no.why
            == reason::customer_blocked);
  f.s.captured(attempt.payment);
  CAF_CHECK(f.s.asked(gateway_call_kind::refund));
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  f.sound();
}

CAF_TEST(the rest goes back when a refund of some tickets is done) {
  fixture f;
  f.bought(1, {f.standard(3)});
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {f.standard(1)}));
  const auto first = f.refund_of_last();
  f.s.block({1});
  CAF_CHECK(!f.s.refund_asked()); // one at a time
  f.s.refunded(first);
  f.s.refunded(f.refund_of_last());
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  f.sound();
}

CAF_TEST(a block is looked at again after a restart) {
  fixture f;
  f.bought(1);
  auto customers = std::make_shared<blocked_customers::list>();
  customers->emplace(fan(1), false);
  f.s.blocked.own = std::move(customers); // decided while the event had no owner
  f.s.reload();
  f.s.pass(seconds{1});
  CAF_CHECK(f.s.asked(gateway_call_kind::refund));
}

CAF_TEST(admission waits until all new blocks have been applied) {
  auto event = sample_event();
  event.queue.concurrency = 1;
  fixture f{event};
  const auto last = 2 * f.s.rules.bounds.rows_per_run; // blocks are applied from the last one on
  f.s.join(last);
  f.s.join(2);
  CAF_REQUIRE(f.s.entry(2).status == entry_status::waiting);
  std::set<std::uint64_t> all;
  for (std::uint64_t n = 1; n <= last; ++n) all.insert(n);
  f.s.block(all);
  CAF_CHECK(f.s.entry(2).status == entry_status::waiting); // not admitted though the session is free
  f.s.drain();
  CAF_CHECK(f.s.entry(2).status == entry_status::cancelled);
  f.sound();
}

CAF_TEST(many blocked customers are paid back in parts) {
  auto event = sample_event();
  event.queue.batch_size = 300;
  auto types = fixture::types();
  types[0].total = 300;
  fixture f{event};
  f.s = sample_sale{event, types};
  std::set<std::uint64_t> all;
  for (std::uint64_t n = 1; n <= 250; ++n) {
    f.s.join(n);
    f.s.order(n);
    f.s.captured(f.s.payment_of(f.s.order_of(n)).id);
    all.insert(n);
  }
  f.s.block(all);
  CAF_CHECK_EQUAL(f.s.last.blocked.size(), 20u); // the other refunds follow
  CAF_CHECK(f.s.wake.at == f.s.now + milliseconds{100});
  for (int slot = 0; slot < 11; ++slot) f.s.pass(milliseconds{100});
  CAF_CHECK_EQUAL(f.s.it->payments().unanswered_refunds(), 200u); // other events need the gateway too
  for (int i = 0; i < 10; ++i, f.s.pass(milliseconds{100}))
    for (const auto& [id, refund] : std::map{f.s.ledger.refunds})
      if (refund.status == refund_status::requested) f.s.refunded(id);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  f.sound();
}

CAF_TEST(places end at once though the gateway has not given back what others paid) {
  auto event = sample_event();
  event.queue.batch_size = 10;
  auto types = fixture::types();
  types[0].total = 300;
  fixture f{event};
  f.s = sample_sale{event, types};
  std::set<std::uint64_t> all;
  for (std::uint64_t n = 1; n <= 10; ++n) {
    f.s.join(n);
    f.s.order(n);
    f.s.captured(f.s.payment_of(f.s.order_of(n)).id);
    all.insert(n);
  }
  for (std::uint64_t n = 11; n <= 400; ++n) {
    f.s.join(n);
    all.insert(n);
  }
  f.s.block(all);
  CAF_CHECK_EQUAL(f.s.it->queue().counts().waiting + f.s.it->queue().counts().admitted, 0u);
  f.sound();
}

CAF_TEST(what a gateway has refused is left to a person) {
  fixture f;
  const auto payment = f.bought(1);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id));
  auto refused = f.s.fact(payment, verdict::refund_failed);
  refused.refund = to_string(f.refund_of_last());
  for (int i = 0; i < 20 && f.s.payment(payment).status != payment_status::refund_failed; ++i) {
    refused.gateway_event = "no" + std::to_string(i);
    f.s.hear(refused);
  }
  CAF_REQUIRE(f.s.payment(payment).status == payment_status::refund_failed);
  f.s.block({1});
  CAF_CHECK(!f.s.refund_asked());
  f.s.reload();
  f.s.pass(seconds{1});
  CAF_CHECK(!f.s.refund_asked());
  CAF_CHECK_EQUAL(f.s.ledger.dead_letters.size(), 1u);
}

CAF_TEST(a surplus capture whose refund fails does not keep the rest) {
  fixture f;
  const auto first = f.ordered(1);
  f.s.declined(first);
  const auto second = f.s.pay(1).payment;
  f.s.initialized(second);
  f.s.captured(second);
  f.s.captured(first); // its page was paid after all: a refund is in flight
  CAF_REQUIRE(f.s.payment(first).status == payment_status::refund_pending);
  f.s.block({1});
  CAF_CHECK(f.s.payment(second).status == payment_status::refund_pending);
  f.sound();
}

CAF_TEST(what was bought from a sale that has ended goes back if that is wanted) {
  fixture f;
  f.bought(1);
  f.s.change_status(event_trigger::end);
  f.s.block({1});
  CAF_CHECK(f.s.last.blocked.empty());
  CAF_CHECK(!f.s.refund_asked());
  f.s.block({1}, true);
  CAF_CHECK(f.s.refund_asked().has_value());
}

// -- invitations ----------------------------------------------------------------------------------------

CAF_TEST(only who is invited buys from a quota and no more than that) {
  fixture f;
  CAF_REQUIRE(!f.s.invite({1}, f.to_quota(2)));
  f.s.join_all(1, 2);
  CAF_CHECK(f.s.order(2, {f.quota()}).no.why == reason::invalid_field);
  CAF_CHECK(!f.s.order(1, {f.quota(2)}).no);
  f.s.captured(f.s.payment_of(f.s.order_of(1)).id);
  CAF_CHECK_EQUAL(f.s.type(1).sold, 2);
  f.sound();
}

CAF_TEST(what is held counts and comes back when it is given up) {
  auto event = sample_event();
  event.claims_per_customer = 2;
  fixture f{event};
  CAF_REQUIRE(!f.s.invite({1}, f.to_quota(2)));
  f.bought(1, {f.quota(1)});
  f.s.join(1);
  CAF_CHECK(f.s.order(1, {f.quota(2)}).no.why == reason::limit_exceeded);
  const auto order = f.s.order(1, {f.quota(1)}).order;
  const auto payment = f.s.payment_of(f.s.ledger.orders.at(order)).id;
  CAF_CHECK_EQUAL(f.s.it->remaining_of(f.s.ledger.invitations.at(fan(1))), 0u);
  f.s.cancel_order(1, order);
  f.s.closed(payment);
  CAF_CHECK_EQUAL(f.s.it->remaining_of(f.s.ledger.invitations.at(fan(1))), 1u);
  f.sound();
}

CAF_TEST(an invitation ends with its time or its withdrawal) {
  fixture f;
  CAF_REQUIRE(!f.s.invite({1}, f.to_quota(1, f.s.now + seconds{5})));
  CAF_REQUIRE(!f.s.invite({2}, f.to_quota(1)));
  f.s.join_all(1, 2);
  f.s.pass(seconds{5});
  CAF_CHECK(f.s.order(1, {f.quota()}).no.why == reason::invalid_field);
  CAF_CHECK_EQUAL(f.s.uninvite(2), 1u);
  CAF_CHECK_EQUAL(f.s.uninvite(2), 0u);
  CAF_CHECK(f.s.order(2, {f.quota()}).no.why == reason::invalid_field);
  std::size_t news = 0;
  CAF_CHECK(!f.s.invite({2}, f.to_quota(1), &news)); // valid again, but its mail was sent today already
  CAF_CHECK_EQUAL(news, 0u);
  CAF_CHECK(!f.s.order(2, {f.quota()}).no);
}

CAF_TEST(no more is promised than there is) {
  fixture f; // 5 units
  CAF_REQUIRE(!f.s.invite({1, 2}, f.to_quota(2)));
  const auto no = f.s.invite({3}, f.to_quota(2));
  CAF_CHECK(no.why == reason::quota_exceeded);
  CAF_CHECK_EQUAL(no.first, 1);
  CAF_CHECK_EQUAL(f.s.ledger.invitations.size(), 2u); // all or none
  CAF_CHECK(!f.s.invite({3}, f.to_quota(1)));
  f.bought(1, {f.quota(2)}); // sold units still count against the quota
  CAF_CHECK(f.s.invite({4}, f.to_quota(1)).why == reason::quota_exceeded);
  CAF_CHECK(!f.s.invite({2}, f.to_quota(1))); // instead of two
  CAF_CHECK(!f.s.invite({4}, f.to_quota(1)));
  f.sound();
}

CAF_TEST(an invitation is news once) {
  fixture f;
  std::size_t news = 0;
  CAF_REQUIRE(!f.s.invite({1, 1, 2}, f.to_quota(1), &news));
  CAF_CHECK_EQUAL(news, 2u);
  f.s.pass(seconds{1});
  CAF_REQUIRE(!f.s.invite({1, 2, 3}, f.to_quota(1), &news));
  CAF_CHECK_EQUAL(news, 1u);
  CAF_REQUIRE(!f.s.invite({1}, f.to_quota(2), &news));
  CAF_CHECK_EQUAL(news, 0u); // more, but within the same day
  CAF_CHECK_EQUAL(f.s.ledger.invitations.at(fan(1)).quantity, 2u);
  f.s.block({4});
  CAF_REQUIRE(!f.s.invite({4}, f.to_quota(1), &news));
  CAF_CHECK_EQUAL(news, 0u);
}

CAF_TEST(late money takes no more of a quota than its invitation allows) {
  auto event = sample_event();
  event.claims_per_customer = 2;
  fixture f{event};
  CAF_REQUIRE(!f.s.invite({1}, f.to_quota(2)));
  const auto late = f.ordered(1, {f.quota(2)});
  f.s.closed(late);
  f.s.pass(seconds{30}); // it expires
  f.s.join(1);
  f.s.order(1, {f.quota(2)});
  for (const auto& [id, p] : std::map{f.s.ledger.payments})
    if (id != late) f.s.captured(id);
  CAF_REQUIRE_EQUAL(f.s.type(1).sold, 2);
  f.s.captured(late);
  CAF_CHECK_EQUAL(f.s.type(1).sold, 2);
  CAF_CHECK(f.s.asked(gateway_call_kind::refund));
  f.sound();
}

CAF_TEST(the invitation of who is blocked promises nothing) {
  fixture f;
  CAF_REQUIRE(!f.s.invite({1, 2}, f.to_quota(2)));
  CAF_CHECK(f.s.invite({3}, f.to_quota(2)).why == reason::quota_exceeded);
  f.s.block({1});
  CAF_CHECK(!f.s.invite({3}, f.to_quota(2)));
}

CAF_TEST(what cannot be an invitation is refused) {
  fixture f;
  CAF_CHECK(f.s.invite({1}, {f.s.type(0).id, 1, never}).why == reason::invalid_field); // is on general sale
  CAF_CHECK(f.s.invite({1}, {{0x77, 9}, 1, never}).why == reason::invalid_field);
  CAF_CHECK(f.s.invite({1}, f.to_quota(0)).why == reason::invalid_field);
  CAF_CHECK(f.s.invite({1}, f.to_quota(3)).why == reason::invalid_field);
  CAF_CHECK(f.s.invite({1}, f.to_quota(1, f.s.now)).why == reason::invalid_field);
  f.s.change_status(event_trigger::end);
  CAF_CHECK(f.s.invite({1}, f.to_quota(1)).why == reason::invalid_transition);
}

CAF_TEST(who is invited may leave the choice to the sale) {
  auto types = fixture::types();
  types[0].on_sale = false;
  fixture f;
  f.s = sample_sale{sample_event(), types};
  CAF_REQUIRE(!f.s.invite({1}, f.to_quota(1)));
  f.s.join(1);
  CAF_CHECK(!f.s.order(1).no);
  CAF_CHECK_EQUAL(f.s.type(1).held, 1);
}

} // namespace sale_people_test
