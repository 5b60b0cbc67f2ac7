// SPDX-License-Identifier: Apache-2.0
// Money in a sale: attempts, late captures, quarantine, refunds, and their special cases.
#define CAF_SUITE domain_sale_money
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace sale_money_test {

using namespace fq;
using namespace fq::test;

namespace {

void check_sound(const sample_sale& s) {
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
  CAF_CHECK_EQUAL(how_a_reload_differs(s), "");
}

struct one_buyer : sample_sale {
  payment_id paying;
  explicit one_buyer(std::int64_t total = 1) : sample_sale{sample_event(), sample_types(total)} {
    join(1);
    claim(1);
    paying = pay(1).payment;
  }
  claim_status claim_state() const { return claim_of(1).status; }
};

/// Whose attempt failed at `failed_at`, and whose claim is over: nothing but the attempt is left to ask
/// about.
struct given_up_buyer : one_buyer {
  timestamp failed_at;
  given_up_buyer() {
    initialized(paying);
    closed(paying);
    failed_at = now;
    change_status(event_trigger::end);
    pass(seconds{60});
  }
  bool asks_at(timestamp t) {
    if (t > now) pass(t - now);
    return asked(gateway_call_kind::verify);
  }
  /// The gateway's answer to the question: not paid.
  void answered() {
    last = {};
    it->closed(paying, now, last);
    it->rechecked(paying, now, last);
    settle();
  }
};

} // namespace

CAF_TEST(a failed attempt is asked about again after a quarter of an hour and after a day) {
  given_up_buyer s;
  CAF_CHECK(!s.it->is_quiet()); // or its owner would be passivated before it asks
  s.reload();
  CAF_CHECK(!s.it->is_quiet());
  const auto early = s.failed_at + s.rules.recheck_after[0], late = s.failed_at + s.rules.recheck_after[1];
  CAF_CHECK(!s.asks_at(early - milliseconds{1}));
  CAF_CHECK(s.asks_at(early));
  s.answered();
  CAF_CHECK(!s.it->is_quiet());
  s.reload(); // a question that is answered is not asked again
  CAF_CHECK(!s.asks_at(late - milliseconds{1}));
  CAF_CHECK(s.asks_at(late));
  s.answered();
  CAF_CHECK(s.it->is_quiet());
  s.reload();
  CAF_CHECK(s.it->is_quiet());
  check_sound(s);
}

CAF_TEST(a question about a failed attempt stands until it is answered and no longer than a day) {
  given_up_buyer s;
  const auto due = s.failed_at + s.rules.recheck_after[0];
  CAF_CHECK(s.asks_at(due));
  int asked = 1;
  auto longest = milliseconds{0};
  for (auto before = s.now; s.now < due + lapsed_memory; before = s.now) {
    CAF_REQUIRE(is_set(s.wake.at) && s.wake.at > s.now);
    asked += s.asks_at(s.wake.at);
    longest = std::max(longest, s.now - before);
  }
  CAF_CHECK(asked > 10 && asked < 40); // less and less often
  CAF_CHECK(longest > seconds{3600});
  s.reload(); // the owner was away: the second question is due
  s.pass(milliseconds{0});
  CAF_CHECK(s.asked(gateway_call_kind::verify));
  s.reload(); // before the answer
  s.pass(milliseconds{0});
  CAF_CHECK(s.asked(gateway_call_kind::verify));
  s.captured(s.paying); // paid after all
  CAF_CHECK(s.payment(s.paying).status != payment_status::failed);
  CAF_CHECK(!is_set(s.it->payments().next_recheck()));
  check_sound(s);
}

CAF_TEST(many failed attempts are asked about a few at a time) {
  const std::uint64_t fans = 3 * lapsed_per_run;
  sample_sale s{sample_event(), sample_types(fans)};
  s.join_all(1, fans);
  for (std::uint64_t n = 1; n <= fans; ++n) {
    while (s.entry(n).status == entry_status::waiting) s.pass(seconds{1});
    s.claim(n);
    const auto paying = s.pay(n).payment;
    s.initialized(paying);
    s.closed(paying);
  }
  const auto failed = s.ledger.payments.size();
  s.pass(s.rules.recheck_after[0]);
  std::size_t asked = 0;
  for (int i = 0; i < 60 && asked < failed; ++i) {
    std::size_t in_this_second = 0;
    for (int again = 0; again < 5; ++again) { // as other requests make it run
      in_this_second +=
        std::ranges::count(s.last.gateway_calls, gateway_call_kind::verify, &gateway_call::kind);
      s.pass(milliseconds{10});
    }
    CAF_CHECK(in_this_second <= lapsed_per_run);
    asked += in_this_second;
    s.pass(s.wake.at > s.now ? s.wake.at - s.now : milliseconds{0});
  }
  CAF_CHECK_EQUAL(asked, failed);
}

CAF_TEST(a capture in time moves payment claim stock and entry in one decision) {
  one_buyer s;
  CAF_CHECK(s.asked(gateway_call_kind::initialize));
  CAF_CHECK(s.payment(s.paying).reference == make_reference(s.paying));
  s.it->initialized(s.paying, "http://page", {}, s.now, s.last = {});
  s.ledger.apply(s.last.content);
  CAF_CHECK(s.payment(s.paying).status == payment_status::pending);
  CAF_CHECK(!s.captured(s.paying));
  CAF_CHECK(s.payment(s.paying).status == payment_status::confirmed);
  CAF_CHECK(s.claim_state() == claim_status::confirmed);
  CAF_CHECK(s.entry(1).status == entry_status::completed);
  CAF_CHECK_EQUAL(s.type().sold, 1);
  CAF_CHECK_EQUAL(s.type().held, 0);
  CAF_CHECK_EQUAL(s.it->stats(s.now).revenue, 699);
  check_sound(s);
}

CAF_TEST(one attempt is open at a time and after a decline comes another up to three) {
  one_buyer s;
  const auto same = s.pay(1);
  CAF_CHECK(!same.created && same.payment == s.paying);
  CAF_CHECK(s.asked(gateway_call_kind::initialize)); // its answer may be lost: polled by reference
  CAF_CHECK(s.release(1, s.claim_of(1).id).why == reason::payment_open);
  auto paying = s.paying;
  for (int attempt = 2; attempt <= 3; ++attempt) {
    s.declined(paying);
    CAF_CHECK(s.claim_state() == claim_status::claimed); // a declined attempt keeps the claim
    const auto next = s.pay(1);
    CAF_CHECK(next.created);
    paying = next.payment;
  }
  s.declined(paying);
  CAF_CHECK(s.pay(1).no.why == reason::attempts_exhausted);
  CAF_CHECK(!s.release(1, s.claim_of(1).id));
  CAF_CHECK(s.pay(1).no.why == reason::claim_not_payable);
  check_sound(s);
}

CAF_TEST(the same webhook twice has one effect another webhook of the same capture too) {
  one_buyer s;
  const auto f = s.fact(s.paying, verdict::paid);
  s.hear(f);
  const auto rows = s.ledger.receipts.size();
  CAF_CHECK(!s.hear(f));
  CAF_CHECK(s.last.content.empty());
  CAF_CHECK_EQUAL(s.ledger.receipts.size(), rows);
  s.captured(s.paying); // another webhook id, the same capture
  CAF_CHECK_EQUAL(s.type().sold, 1);
  CAF_CHECK_EQUAL(s.it->stats(s.now).revenue, 699);
  check_sound(s);
}

CAF_TEST(a duplicate failure releases nothing twice) {
  one_buyer s{2};
  s.join(2);
  s.claim(2);
  s.pass(seconds{20}); // both at their deadline: 1 EXPIRING, 2 released
  CAF_CHECK(s.claim_state() == claim_status::expiring);
  CAF_CHECK_EQUAL(s.type().held, 1);
  s.declined(s.paying);
  CAF_CHECK(s.claim_state() == claim_status::released);
  CAF_CHECK_EQUAL(s.type().held, 0);
  s.declined(s.paying);
  s.closed(s.paying);
  CAF_CHECK_EQUAL(s.type().held, 0);
  check_sound(s);
}

CAF_TEST(at the deadline an open attempt keeps the stock the gateway is asked grace ends it) {
  one_buyer s;
  s.initialized(s.paying);
  s.join(2);
  s.pass(seconds{20});
  CAF_CHECK(s.claim_state() == claim_status::expiring);
  CAF_CHECK(s.asked(gateway_call_kind::verify));
  CAF_CHECK_EQUAL(s.type().held, 1);
  CAF_CHECK_EQUAL(s.pay(1).payment, s.paying); // no new attempt
  int questions = 1;
  while (s.claim_state() == claim_status::expiring) {
    CAF_REQUIRE(is_set(s.wake.at) && s.wake.at > s.now);
    s.pass(s.wake.at - s.now);
    questions += s.asked(gateway_call_kind::verify);
  }
  CAF_CHECK(s.now == opening + seconds{20} + s.rules.verdict_grace);
  CAF_CHECK_EQUAL(questions, 4);
  CAF_CHECK(s.claim_state() == claim_status::released);
  CAF_CHECK(s.payment(s.paying).status == payment_status::failed);
  CAF_CHECK(s.entry(2).status == entry_status::admitted);
  check_sound(s);
}

CAF_TEST(a verdict may still come after a downtime longer than the grace) {
  for (const bool was_expiring : {false, true}) {
    one_buyer s;
    s.initialized(s.paying);
    s.join(2);
    if (was_expiring) s.pass(seconds{20});
    s.reload();
    s.pass(seconds{20} + 2 * s.rules.verdict_grace); // the gateway was unavailable all that time
    CAF_CHECK(s.claim_state() == claim_status::expiring);
    CAF_CHECK(s.asked(gateway_call_kind::verify));
    s.pass(s.rules.verdict_grace - milliseconds{1});
    CAF_CHECK(s.claim_state() == claim_status::expiring);
    s.pass(milliseconds{1});
    CAF_CHECK(s.claim_state() == claim_status::released);
    check_sound(s);
  }
}

CAF_TEST(the question is asked again after a crash) {
  one_buyer s;
  s.initialized(s.paying);
  s.pass(seconds{20});
  s.reload();
  s.pass(milliseconds{1});
  CAF_CHECK(s.asked(gateway_call_kind::verify));
}

CAF_TEST(an attempt whose page was never heard of is begun again while its claim lives and closed after it) {
  auto event = sample_event();
  event.queue.session_ttl = seconds{7200};
  event.claim_ttl = seconds{1200};
  sample_sale s{event};
  s.join(1);
  s.claim(1);
  s.pay(1);
  s.pass(s.rules.stale_after);
  CAF_CHECK(s.asked(gateway_call_kind::initialize)); // the same reference, so a repeat is harmless
  s.pass(s.rules.stale_after);
  CAF_CHECK(s.asked(gateway_call_kind::expire));
}

CAF_TEST(an unpaid attempt of an expiring claim is closed at the gateway then released) {
  one_buyer s;
  s.it->unpaid(s.paying, false, s.now, s.last = {});
  CAF_CHECK(!s.asked(gateway_call_kind::expire)); // still in time: the page stays open
  s.pass(seconds{20});
  s.it->unpaid(s.paying, false, s.now, s.last = {});
  CAF_CHECK(s.asked(gateway_call_kind::expire));
  s.closed(s.paying);
  CAF_CHECK(s.claim_state() == claim_status::released);
  check_sound(s);
}

CAF_TEST(paid within the grace is a ticket although the session is over) {
  one_buyer s;
  s.pass(seconds{20});
  s.pass(seconds{45}); // the session of 60 s is over
  CAF_CHECK(s.entry(1).status == entry_status::session_expired);
  s.captured(s.paying);
  CAF_CHECK(s.claim_state() == claim_status::confirmed);
  CAF_CHECK(s.entry(1).status == entry_status::session_expired);
  CAF_CHECK_EQUAL(s.type().sold, 1);
  check_sound(s);
}

CAF_TEST(late money is claimed again while stock is free) {
  one_buyer s;
  s.pass(seconds{20});
  s.closed(s.paying);
  CAF_CHECK_EQUAL(s.type().held, 0);
  const auto first = s.claim_of(1).id;
  s.now += seconds{1};
  s.captured(s.paying);
  CAF_CHECK(s.payment(s.paying).status == payment_status::confirmed);
  const auto& fresh = s.claim_of(1);
  CAF_CHECK(fresh.id != first && fresh.status == claim_status::confirmed);
  CAF_CHECK(s.payment(s.paying).claim == fresh.id);
  CAF_CHECK(s.it->claims().find(first)->status == claim_status::released);
  CAF_CHECK_EQUAL(s.type().sold, 1);
  check_sound(s);
}

CAF_TEST(late money goes back when the stock is gone) {
  one_buyer s;
  s.join(2);
  s.declined(s.paying);
  s.pass(seconds{20});
  s.leave(1);
  CAF_CHECK(!s.claim(2));
  s.captured(s.paying); // declined, then captured
  CAF_CHECK(s.payment(s.paying).status == payment_status::refund_pending);
  const auto refund = s.refund_asked();
  CAF_REQUIRE(refund.has_value());
  CAF_CHECK_EQUAL(s.it->payments().find_refund(*refund)->amount, 699);
  check_sound(s);
  s.refunded(*refund);
  s.refunded(*refund); // a repeat
  CAF_CHECK(s.payment(s.paying).status == payment_status::refunded);
  CAF_CHECK_EQUAL(s.payment(s.paying).refunded, 699);
  CAF_CHECK_EQUAL(s.type().held, 1); // of fan 2
  check_sound(s);
}

CAF_TEST(late money goes back when its customer has another ticket) {
  one_buyer s{5};
  s.declined(s.paying);
  s.pass(seconds{20});
  CAF_CHECK(!s.claim(1));
  const auto second = s.pay(1).payment;
  s.captured(second);
  s.captured(s.paying);
  CAF_CHECK(s.payment(s.paying).status == payment_status::refund_pending);
  check_sound(s);
}

CAF_TEST(a failed attempt that was captured later pays a live claim and the other attempt goes back) {
  one_buyer s;
  s.declined(s.paying);
  const auto second = s.pay(1).payment;
  s.captured(s.paying);
  CAF_CHECK(s.payment(s.paying).status == payment_status::confirmed);
  CAF_CHECK(s.claim_state() == claim_status::confirmed);
  s.it->unpaid(second, false, s.now, s.last = {});
  CAF_CHECK(s.asked(gateway_call_kind::expire)); // the page must close
  s.captured(second);
  CAF_CHECK(s.payment(second).status == payment_status::refund_pending);
  s.refunded(*s.refund_asked());
  CAF_CHECK(s.claim_state() == claim_status::confirmed); // the first capture still pays the ticket
  CAF_CHECK_EQUAL(s.type().sold, 1);
  check_sound(s);
}

CAF_TEST(another amount or currency is quarantined confirms nothing and keeps no stock for ever) {
  for (const bool amount : {true, false}) {
    one_buyer s;
    auto f = s.fact(s.paying, verdict::paid);
    if (amount)
      f.amount -= 1;
    else
      f.currency = "USD";
    s.hear(f);
    CAF_CHECK(s.payment(s.paying).status == payment_status::quarantined);
    CAF_CHECK_EQUAL(s.payment(s.paying).captured, f.amount);
    CAF_CHECK(s.claim_state() == claim_status::claimed);
    s.pass(seconds{20});
    CAF_CHECK(s.claim_state() == claim_status::released);
    CAF_CHECK_EQUAL(s.it->stats(s.now).revenue, 0);
    check_sound(s);
  }
}

CAF_TEST(facts of unknown references other gateways or other payments refunds do nothing) {
  one_buyer s;
  auto f = s.fact(s.paying, verdict::paid);
  f.gateway = "paystack";
  CAF_CHECK(s.hear(f).why == reason::not_found);
  f = s.fact(s.paying, verdict::paid);
  f.reference = make_reference(make_uuid(s.now, aggregate_id{17}, 4711)); // of another event
  CAF_CHECK(s.hear(f).why == reason::not_found);
  f.reference = make_reference(make_uuid(s.it->event().created_at - seconds{1}, sample_aggregate, 4711));
  CAF_CHECK(s.hear(f).why == reason::not_found); // older than the event: of another installation
  f.reference = make_reference(make_uuid(s.now, sample_aggregate, 4711));
  f.what = verdict::declined; // no money
  CAF_CHECK(s.hear(f).why == reason::not_found);
  f.what = verdict::paid;
  f.reference = "';--";
  CAF_CHECK(s.hear(f).why == reason::not_found);
  CAF_CHECK(s.last.content.empty());
  one_buyer two{2};
  two.join(2);
  two.claim(2);
  const auto other = two.pay(2).payment;
  two.captured(two.paying);
  two.captured(other);
  two.change_status(event_trigger::cancel);
  const auto refund = *two.refund_asked();
  const auto its_payment = two.it->payments().find_refund(refund)->payment;
  auto wrong = two.fact(its_payment == other ? two.paying : other, verdict::refund_processed);
  wrong.refund = to_string(refund);
  two.hear(wrong);
  CAF_CHECK(two.it->payments().find_refund(refund)->status == refund_status::requested);
}

CAF_TEST(money of another charge with the payments reference is quarantined and its end does nothing) {
  one_buyer s;
  s.initialized(s.paying);
  auto f = s.fact(s.paying, verdict::declined);
  f.gateway_id = "gw-2";
  s.hear(f);
  CAF_CHECK(s.payment(s.paying).status == payment_status::pending);
  f = s.fact(s.paying, verdict::paid);
  f.gateway_id = "gw-2";
  s.hear(f);
  CAF_CHECK(s.payment(s.paying).status == payment_status::quarantined);
}

CAF_TEST(a free claim completes without a gateway) {
  sample_sale s{sample_event(), sample_types(2, 0)};
  s.join(1);
  s.claim(1);
  const auto done = s.pay(1);
  CAF_CHECK(done.created);
  CAF_CHECK(s.last.gateway_calls.empty());
  CAF_CHECK(s.payment(done.payment).status == payment_status::confirmed);
  CAF_CHECK_EQUAL(s.payment(done.payment).gateway, "free");
  CAF_CHECK(s.claim_of(1).status == claim_status::confirmed);
  s.change_status(event_trigger::cancel);
  CAF_CHECK(!s.asked(gateway_call_kind::refund));
  CAF_CHECK(s.claim_of(1).status == claim_status::refunded);
  CAF_CHECK_EQUAL(s.type().sold, 0);
  check_sound(s);
}

CAF_TEST(stale attempts are asked about in a moving window) {
  auto event = sample_event();
  event.queue.session_ttl = seconds{7200};
  event.claim_ttl = seconds{3600};
  sample_sale s{event};
  s.join(1);
  s.claim(1);
  s.initialized(s.pay(1).payment);
  s.pass(s.rules.stale_after - milliseconds{1});
  CAF_CHECK(!s.asked(gateway_call_kind::verify));
  CAF_CHECK(s.wake.at == s.now + milliseconds{1});
  s.pass(milliseconds{1});
  CAF_CHECK(s.asked(gateway_call_kind::verify));
  s.pass(milliseconds{1});
  CAF_CHECK(!s.asked(gateway_call_kind::verify));
  CAF_CHECK(s.wake.at == s.now - milliseconds{1} + s.rules.stale_after);
}

CAF_TEST(a refused refund is retried with back-off then a dead letter and an outage uses up no attempt) {
  one_buyer s;
  s.captured(s.paying);
  s.change_status(event_trigger::cancel);
  const auto refund = *s.refund_asked();
  for (int i = 0; i < 20; ++i) { // no call is ever answered
    CAF_REQUIRE(is_set(s.wake.at));
    s.pass(s.wake.at - s.now);
    CAF_CHECK(s.refund_asked() == refund);
  }
  CAF_CHECK_EQUAL(s.it->payments().find_refund(refund)->attempts, 0u);
  auto refused = s.fact(s.paying, verdict::refund_failed);
  refused.refund = to_string(refund);
  for (std::uint32_t i = 1; i < s.rules.refund_retry.attempts; ++i) {
    refused.gateway_event = "no_" + std::to_string(i);
    s.hear(refused);
    CAF_CHECK_EQUAL(s.it->payments().find_refund(refund)->attempts, i);
    CAF_CHECK(s.wake.at > s.now && s.wake.at <= s.now + s.rules.refund_retry.cap + s.rules.refund_retry.base);
    s.pass(s.wake.at - s.now);
    CAF_CHECK(s.refund_asked() == refund);
  }
  refused.gateway_event = "no_more";
  s.hear(refused);
  CAF_CHECK(s.payment(s.paying).status == payment_status::refund_failed);
  CAF_CHECK(s.it->payments().find_refund(refund)->status == refund_status::failed);
  CAF_CHECK(!is_set(s.it->payments().next_refund_attempt()));
  check_sound(s);
}

CAF_TEST(a refund pending at the gateway is asked about without hurry) {
  one_buyer s;
  s.captured(s.paying);
  s.change_status(event_trigger::cancel);
  const auto refund = *s.refund_asked();
  s.it->refund_not_processed(refund, false, s.now, s.last = {});
  CAF_CHECK_EQUAL(s.it->payments().find_refund(refund)->attempts, 0u);
  CAF_CHECK(s.it->payments().next_refund_attempt() == s.now + s.rules.refund_retry.cap);
}

} // namespace sale_money_test
