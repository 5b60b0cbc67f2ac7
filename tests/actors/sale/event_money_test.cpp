// SPDX-License-Identifier: Apache-2.0
// The event actor's payments: pages, webhooks, reports that the gateway confirms.
#define CAF_SUITE event_money
#include "tests/actors/sale/event_fixture.hpp"

namespace event_money_test {

using namespace fq;
using namespace fq::test;

CAF_TEST_FIXTURE_SCOPE(event_money_tests, event_fixture)

CAF_TEST(a payment waits for the page of the gateway and no longer than three seconds) {
  start(10, one_by_one());
  const auto claim = admitted_claim(1); // `services.payments` has no gateway
  const idempotency_ref key{true, {7, 7}, {8, 8}};
  auto paying = ask<payment_reply>(owner, open_payment{customer(1), claim, "sandbox", key});
  run();
  CAF_CHECK(paying->open());
  advance(3'000ms);
  CAF_REQUIRE(paying->ok);
  CAF_CHECK(paying->value.payment.payment.status == payment_status::initializing);
  const auto id = paying->value.payment.payment.id;
  caf::anon_send(owner, gateway_answered{.kind = gateway_call_kind::initialize,
                                         .result = gateway_result::initialized,
                                         .gateway = "sandbox",
                                         .payment = id,
                                         .reference = make_reference(id),
                                         .authorization_url = "https://pay"});
  run();
  auto shown = ask<payment_reply>(owner, find_payment{customer(1), id});
  auto again = ask<payment_reply>(owner, open_payment{customer(1), claim, "sandbox", key});
  run();
  CAF_CHECK(shown->ok && shown->value.payment.payment.authorization_url == "https://pay");
  CAF_CHECK(again->ok && again->value.replayed && again->value.payment.payment.id == id);
  auto webhook = ask<ack_reply>(
    owner, apply_fact{{"sandbox", "evt-1", verdict::paid, make_reference(id), claim_price, "NGN", {}}});
  auto twice = ask<ack_reply>(
    owner, apply_fact{{"sandbox", "evt-1", verdict::paid, make_reference(id), claim_price, "NGN", {}}});
  run();
  CAF_CHECK(webhook->ok && !webhook->value.no && twice->ok && !twice->value.no);
  CAF_CHECK(store.find_claim(event.aggregate, claim)->status == claim_status::confirmed);
  CAF_CHECK_EQUAL(store.find_ticket_type(event.aggregate, 0)->sold, 1);
}

CAF_TEST(a key that opened a payment opens no second one after a reload) {
  start(10, one_by_one());
  const auto claim = admitted_claim(1);
  const idempotency_ref key{true, {7, 7}, {8, 8}};
  auto paying = ask<payment_reply>(owner, open_payment{customer(1), claim, "sandbox", key});
  run();
  CAF_REQUIRE(paying->open()); // committed; waits for the page
  CAF_REQUIRE_EQUAL(store.committed(event.aggregate)->payments.size(), 1u);
  const auto id = store.committed(event.aggregate)->payments.front().id;
  store.acquire_unleased(event.aggregate, never);
  auto lost = join_as(5);
  run(); // reloaded
  CAF_CHECK(paying->unavailable());
  caf::anon_send(owner, gateway_answered{.kind = gateway_call_kind::initialize,
                                         .result = gateway_result::rejected,
                                         .gateway = "sandbox",
                                         .payment = id,
                                         .reference = make_reference(id)});
  run();
  auto again = ask<payment_reply>(owner, open_payment{customer(1), claim, "sandbox", key});
  run();
  CAF_REQUIRE(again->ok && !again->value.no);
  CAF_CHECK(again->value.replayed && again->value.payment.payment.id == id);
  CAF_CHECK(again->value.payment.payment.status == payment_status::failed);
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->payments.size(), 1u);
}

CAF_TEST(a webhook is acknowledged only after its commit) {
  start(10, one_by_one());
  const auto claim = admitted_claim(1);
  auto paying = ask<payment_reply>(owner, open_payment{customer(1), claim, "sandbox", {}});
  run();
  advance(3'000ms);
  const auto id = paying->value.payment.payment.id;
  auto webhook = ask<ack_reply>(
    owner, apply_fact{{"sandbox", "evt-1", verdict::paid, make_reference(id), claim_price, "NGN", {}}});
  auto unknown =
    ask<ack_reply>(owner, apply_fact{{"sandbox", "evt-2", verdict::paid, "fq-nothing", 5'000, "NGN", {}}});
  run_without(worker);
  CAF_CHECK(webhook->open());
  run();
  CAF_CHECK(webhook->ok);
  CAF_CHECK(unknown->ok && unknown->value.no.why == reason::not_found);
}

CAF_TEST(a report of money that the gateway does not know yet comes again) {
  start(10, one_by_one());
  const auto claim = admitted_claim(1);
  auto paying = ask<payment_reply>(owner, open_payment{customer(1), claim, "sandbox", {}});
  run();
  advance(3'000ms);
  const auto id = paying->value.payment.payment.id;
  const auto report = [&] {
    auto told = ask<ack_reply>(
      owner,
      apply_fact{{"sandbox", "evt-1", verdict::paid, make_reference(id), claim_price, "NGN", {}}, true});
    run();
    return told;
  };
  const auto answer = [&](gateway_result result) {
    caf::anon_send(owner, gateway_answered{.kind = gateway_call_kind::verify,
                                           .result = result,
                                           .gateway = "sandbox",
                                           .payment = id,
                                           .reference = make_reference(id),
                                           .amount = claim_price,
                                           .currency = "NGN"});
    run();
  };
  auto first = report();
  CAF_CHECK(first->open());
  answer(gateway_result::unpaid); // to a request from before the payment
  CAF_CHECK(first->unavailable());
  auto again = report();
  CAF_CHECK(again->open());
  answer(gateway_result::paid);
  CAF_CHECK(again->ok && !again->value.no);
  CAF_CHECK(store.find_claim(event.aggregate, claim)->status == claim_status::confirmed);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace event_money_test
