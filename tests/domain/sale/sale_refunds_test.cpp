// SPDX-License-Identifier: Apache-2.0
// Refunds of orders: whole and in parts, refused by the gateway, of another amount than quoted.
#define CAF_SUITE domain_sale_refunds
#include "tests/domain/sale/orders_fixture.hpp"

namespace sale_refunds_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(tickets go back one by one and the fees with the last) {
  orders_fixture f;
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
  orders_fixture f;
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

namespace {

/// A bought order whose refund the gateway refused for good, and a person retried.
struct retried_refund : orders_fixture {
  order_id order;
  refund_id first, second;
  explicit retried_refund(bool with_seat = false) {
    s.rules.refund_retry.attempts = 2;
    s.reload();
    order = bought(1, with_seat ? std::vector{standard(), seat()} : std::vector{standard()}).id;
    s.refund_order(order, {standard()});
    first = *s.refund_asked();
    refuse(first);
    CAF_REQUIRE_EQUAL(s.ledger.dead_letters.size(), 1u);
    s.it->retry_dead_letter(s.ledger.dead_letters.begin()->first, s.now, s.last = {});
    s.settle();
    second = *s.refund_asked();
  }
  void refuse(const refund_id& refund) {
    for (int i = 0; i < 2; ++i) {
      s.it->refund_not_processed(refund, true, s.now, s.last = {});
      s.settle();
    }
  }
};

} // namespace

CAF_TEST(a refund made after it was given up takes the tickets back if the next one is refused) {
  retried_refund f;
  f.s.refunded(f.first);
  f.s.refunded(f.first); // another report of it
  CAF_CHECK_EQUAL(f.s.ledger.dead_letters.size(), 1u);
  CAF_CHECK(f.s.order_of(1).status == order_status::success);
  f.s.reload();
  f.refuse(f.second); // there is nothing left to refund
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  CAF_CHECK(f.s.ledger.dead_letters.empty());
  f.sound();
}

CAF_TEST(a refund made after it was given up stays a dead letter if the next one is made too) {
  retried_refund f;
  f.s.refunded(f.first);
  f.s.refunded(f.second);
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  CAF_CHECK_EQUAL(f.s.ledger.dead_letters.size(), 1u);
  f.sound();
}

CAF_TEST(a refund made after another one gave its tickets back takes nothing back again) {
  for (const bool is_told_early : {true, false}) {
    retried_refund f{true};
    f.s.refunded(f.second);
    if (is_told_early) f.s.refunded(f.first);
    f.s.refund_order(f.order, {f.seat()});
    f.refuse(*f.s.refund_asked());
    if (!is_told_early) f.s.refunded(f.first);
    CAF_CHECK_EQUAL(f.s.ledger.dead_letters.size(), 2u); // a person has to look
    CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
    CAF_CHECK_EQUAL(f.s.type(1).sold, 1);
    f.sound();
  }
}

CAF_TEST(another amount than quoted waits for a person and can be sent back) {
  orders_fixture f;
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
  orders_fixture f;
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

CAF_TEST(as much in another currency does not pay for refunded tickets) {
  orders_fixture f;
  const auto first = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(first);
  f.s.declined(first);
  const auto second = f.s.pay(1).payment;
  f.s.initialized(second);
  f.s.captured(first);
  const auto revenue = f.s.it->stats(f.s.now).revenue;
  auto wrong = f.s.fact(second, verdict::paid);
  wrong.currency = "USD";
  f.s.hear(wrong);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id));
  const auto refund = *f.s.refund_asked();
  CAF_REQUIRE_EQUAL(f.s.ledger.dead_letters.size(), 1u);
  f.s.it->retry_dead_letter(f.s.ledger.dead_letters.begin()->first, f.s.now, f.s.last = {});
  f.s.settle();
  CAF_REQUIRE(f.s.payment(second).status == payment_status::refund_pending);
  CAF_CHECK_EQUAL(f.s.it->stats(f.s.now).revenue, revenue); // dollars are no naira
  f.s.refunded(refund);
  CAF_CHECK(f.s.order_of(1).status == order_status::refunded);
  CAF_CHECK_EQUAL(f.s.type(0).sold, 0);
  CAF_CHECK_EQUAL(f.s.it->stats(f.s.now).revenue, 0);
  f.sound();
}

namespace {

/// Money that the gateway took for a payment whose row is lost.
struct lost_payment : sample_sale {
  gateway_fact paid;
  lost_payment() {
    paid = {"stripe", "evt_1", verdict::paid, make_reference(make_uuid(now, sample_aggregate, 4711)), 1'000,
            "NGN",    {}};
    paid.tax = 75;
    paid.gateway_id = "cs_1";
  }
  uuid letter() const { return ledger.dead_letters.begin()->first; }
  refusal retry() {
    auto no = it->retry_dead_letter(letter(), now, last = {});
    settle();
    return no;
  }
  void refund_answered(bool refused, const refund_id& refund) {
    it->refund_not_processed(refund, refused, now, last = {});
    settle();
  }
  gateway_fact about_refund(verdict what, const uuid& refund) {
    auto f = paid;
    f.gateway_event = "evt_" + std::string{what == verdict::refund_failed ? "f" : "p"} + to_string(refund);
    f.what = what;
    f.refund = to_string(refund);
    return f;
  }
};

} // namespace

CAF_TEST(money for a payment that the ledger lost waits for a person once) {
  lost_payment s;
  CAF_CHECK(!s.hear(s.paid));
  CAF_REQUIRE_EQUAL(s.ledger.dead_letters.size(), 1u);
  const auto row = s.ledger.dead_letters.begin()->second;
  CAF_CHECK(row.kind == dead_letter_kind::payment_unknown);
  CAF_CHECK(make_reference(row.subject) == s.paid.reference);
  for (const auto* part : {"stripe", "fq-", "cs_1", "10.75 NGN"})
    CAF_CHECK(row.detail.find(part) != std::string::npos);
  auto again = s.paid;
  again.gateway_event = "evt_2";
  CAF_CHECK(!s.hear(again));
  CAF_CHECK(!s.hear(s.paid));
  CAF_CHECK(s.last.content.empty());
  s.reload();
  CAF_CHECK(!s.hear(again));
  CAF_CHECK(s.last.content.empty());
  // Another server that lost the same row makes the same letter.
  lost_payment other;
  CAF_CHECK(!other.hear(other.paid));
  CAF_CHECK(other.letter() == row.id);
  lost_payment elsewhere;
  elsewhere.paid.gateway = "paystack";
  CAF_CHECK(!elsewhere.hear(elsewhere.paid));
  CAF_CHECK(elsewhere.letter() != row.id);
}

CAF_TEST(a person gives lost money back and never twice) {
  lost_payment s;
  s.hear(s.paid);
  s.reload();
  const auto letter = s.letter();
  CAF_CHECK(!s.retry());
  CAF_REQUIRE(s.refund_asked());
  CAF_CHECK(*s.refund_asked() == letter); // the gateway knows every repetition by this id
  const auto charge = s.it->unknown_charge(letter);
  CAF_REQUIRE(charge);
  CAF_CHECK(charge->gateway == "stripe" && charge->reference == s.paid.reference
            && charge->gateway_id == "cs_1" && charge->captured == 1'075 && charge->currency == "NGN");
  CAF_REQUIRE_EQUAL(s.ledger.dead_letters.size(), 1u); // until the gateway answers: the answer may be lost
  s.refund_answered(false, letter); // a bank takes days
  CAF_REQUIRE_EQUAL(s.ledger.dead_letters.size(), 1u);
  CAF_CHECK(!s.retry());
  CAF_CHECK(s.refund_asked() == letter);
  s.hear(s.about_refund(verdict::refund_processed, letter));
  CAF_CHECK(s.ledger.dead_letters.empty());
  s.hear(s.paid); // the gateway repeats it
  s.reload();
  s.hear(s.paid);
  CAF_CHECK(s.ledger.dead_letters.empty());
  CAF_CHECK(s.it->retry_dead_letter(letter, s.now, s.last = {}).why == reason::not_found);
}

CAF_TEST(lost money that the gateway does not give back waits on under another id) {
  lost_payment s;
  s.hear(s.paid);
  const auto letter = s.letter();
  s.retry();
  s.refund_answered(true, letter);
  CAF_REQUIRE_EQUAL(s.ledger.dead_letters.size(), 1u);
  const auto second = s.letter();
  CAF_CHECK(second != letter); // a gateway remembers its refusal
  CAF_CHECK(!s.hear(s.about_refund(verdict::refund_failed, letter)));
  CAF_REQUIRE_EQUAL(s.ledger.dead_letters.size(), 1u); // the same news again
  s.retry();
  CAF_CHECK(s.refund_asked() == second);
  s.hear(s.about_refund(verdict::refund_processed, second));
  CAF_CHECK(s.ledger.dead_letters.empty());
  CAF_CHECK(!s.hear(s.about_refund(verdict::refund_failed, second))); // days later the bank rejects it
  CAF_REQUIRE_EQUAL(s.ledger.dead_letters.size(), 1u);
  CAF_CHECK(s.letter() != second);
}

CAF_TEST(lost payments have a limit beyond which the gateway must tell again) {
  lost_payment s;
  for (std::size_t i = 0; i <= unknown_payments_max; ++i) {
    auto f = s.paid;
    f.reference = make_reference(make_uuid(s.now, sample_aggregate, i));
    CAF_REQUIRE((s.it->apply(f, s.now, s.last = {}).why == reason::unavailable)
                == (i == unknown_payments_max));
  }
  CAF_CHECK(s.last.content.empty());
}

CAF_TEST(tax that the gateway adds is recorded and goes back with the rest) {
  orders_fixture f;
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
  orders_fixture f;
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

CAF_TEST(who gave tickets back in parts is the payer though another capture is on its way back) {
  orders_fixture f;
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

} // namespace sale_refunds_test
