// SPDX-License-Identifier: Apache-2.0
// The event actor's questions about failed attempts, and money for payments whose rows are lost.
#define CAF_SUITE late_money
#include "tests/actors/sale/checkout_fixture.hpp"

#include <algorithm>

namespace late_money_test {

using namespace fq;
using namespace fq::test;

CAF_TEST_FIXTURE_SCOPE(late_money_tests, checkout_fixture)

CAF_TEST(a failed attempt is asked about until the gateway answers) {
  const auto order = ordered(1);
  page(order);
  const auto tell_of = [&](gateway_result result) {
    tell({.kind = gateway_call_kind::verify,
          .result = result,
          .gateway = "sandbox",
          .payment = order.payment,
          .reference = make_reference(order.payment)});
  };
  const auto row = [&] { return store.committed(event.aggregate)->payments.front(); };
  tell_of(gateway_result::closed);
  CAF_REQUIRE(row().status == payment_status::failed);
  const auto due = row().recheck_at;
  CAF_CHECK(due == row().updated_at + services.rules.recheck_after[0]);
  tell_of(gateway_result::closed); // before it is due
  CAF_CHECK(row().recheck_at == due);
  gateway->calls.clear();
  advance(services.rules.recheck_after[0]);
  run();
  const auto questions = [&] {
    return std::ranges::count(gateway->calls, gateway_call_kind::verify, &call_gateway::kind);
  };
  CAF_CHECK(questions() == 1);
  tell_of(gateway_result::unavailable);
  CAF_CHECK(row().recheck_at == due);
  seize_and_reload(2); // before the answer
  CAF_CHECK(questions() == 2);
  tell_of(gateway_result::unpaid);
  CAF_CHECK(row().recheck_at == row().updated_at + services.rules.recheck_after[1]);
}

CAF_TEST(late money of a customer who is blocked takes no stock) {
  std::shared_ptr<const blocked_customers::list> blocked;
  services.blocked_at = [&](tenant_id, const organizer_id&) { return blocked_customers{blocked, nullptr}; };
  const auto order = ordered(1);
  page(order);
  advance(event.claim_ttl);
  const gateway_answered closed{.kind = gateway_call_kind::expire,
                                .result = gateway_result::closed,
                                .gateway = "sandbox",
                                .payment = order.payment,
                                .reference = make_reference(order.payment)};
  tell(closed);
  const auto stored = [&] { return *store.committed(event.aggregate); };
  CAF_REQUIRE(stored().payments.front().status == payment_status::failed);
  blocked = std::make_shared<blocked_customers::list>(blocked_customers::list{{customer(1), false}});
  auto paid = closed;
  paid.kind = gateway_call_kind::verify;
  paid.result = gateway_result::paid;
  paid.amount = stored().payments.front().amount;
  paid.currency = event.currency;
  tell(paid);
  CAF_CHECK_EQUAL(stored().claims.size(), 1u);
  CAF_CHECK_EQUAL(stored().refunds.size(), 1u);
}

CAF_TEST(money whose payment the ledger lost is confirmed and waits for a person and goes back) {
  const auto id = make_uuid(env.wall_now(), event.aggregate, 4711);
  gateway_fact fact{.gateway = "paystack",
                    .gateway_event = "charge.success:1",
                    .what = verdict::paid,
                    .reference = make_reference(id),
                    .amount = 5'000,
                    .currency = "NGN"};
  const auto answered = [&](gateway_call_kind kind, gateway_result result, const refund_id& refund = {}) {
    tell({.kind = kind,
          .result = result,
          .gateway = "paystack",
          .payment = id,
          .reference = fact.reference,
          .refund = refund,
          .amount = 4'000,
          .currency = "NGN"});
  };
  auto reported = ask<ack_reply>(owner, apply_fact{fact, true}); // proves nothing by itself
  run();
  CAF_REQUIRE(reported->open());
  CAF_REQUIRE_EQUAL(gateway->calls.size(), 1u);
  CAF_CHECK(gateway->calls[0].kind == gateway_call_kind::verify && gateway->calls[0].gateway == "paystack"
            && gateway->calls[0].charge.reference == fact.reference);
  answered(gateway_call_kind::verify, gateway_result::paid);
  CAF_CHECK(reported->ok && !reported->value.no);
  const auto letters = store.committed(event.aggregate)->dead_letters;
  CAF_REQUIRE_EQUAL(letters.size(), 1u);
  CAF_CHECK(letters[0].detail.find("40.00 NGN") != std::string::npos); // as confirmed
  const principal organizer{principal_kind::organizer, event.tenant, event.organizer};
  for (int i = 0; i < 2; ++i) { // an answer may be lost
    auto retried = ask<ack_reply>(owner, settle_dead_letter{{letters[0].id, organizer}, {}, true});
    run();
    CAF_REQUIRE(retried->ok && !retried->value.no);
    const auto& call = gateway->calls.back();
    CAF_CHECK(call.kind == gateway_call_kind::refund && call.gateway == "paystack"
              && call.charge.reference == fact.reference && call.refund == letters[0].id
              && call.refund_amount == 4'000);
    seize_and_reload(3);
  }
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->dead_letters.size(), 1u);
  answered(gateway_call_kind::refund, gateway_result::unavailable, letters[0].id);
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->dead_letters.size(), 1u);
  answered(gateway_call_kind::refund, gateway_result::refunded, letters[0].id);
  CAF_CHECK(store.committed(event.aggregate)->dead_letters.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace late_money_test
