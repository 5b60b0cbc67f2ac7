// SPDX-License-Identifier: Apache-2.0
// A fan's course through a sale: places, sessions, claims, and their special cases.
#define CAF_SUITE domain_sale_fan
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

namespace sale_fan_test {

using namespace fq;
using namespace fq::test;

namespace {

void check_sound(const sample_sale& s) {
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
  CAF_CHECK_EQUAL(how_a_reload_differs(s), "");
}

/// All fans may shop: batches of 50, more tickets than fans.
sample_sale with_shoppers(std::uint64_t fans) {
  sample_sale s{sample_event(), sample_types(1000)};
  s.join_all(1, fans);
  return s;
}

} // namespace

CAF_TEST(joining gives a place joining again the same one) {
  sample_sale s{sample_event(), sample_types(1)};
  CAF_CHECK(s.join(1).created);
  CAF_CHECK(s.entry(1).status == entry_status::admitted);
  const auto second = s.join(2, 77);
  CAF_CHECK(second.created && !second.replayed);
  CAF_CHECK_EQUAL(value_of(second.number), 2u);
  const auto again = s.join(2);
  CAF_CHECK(!again.created && again.number == second.number);
  const auto replay = s.join(2, 77);
  CAF_CHECK(replay.created && replay.replayed && replay.number == second.number);
  CAF_CHECK(s.last.content.empty());
  CAF_CHECK_EQUAL(s.it->view_of(*s.it->queue().find(fan(2)), s.now).position, 1u);
  check_sound(s);
}

CAF_TEST(the queues hours and the events state decide who may join) {
  auto event = sample_event();
  event.queue_opens_at = opening + seconds{10};
  event.sale_start = opening + seconds{20};
  sample_sale s{event};
  auto no = s.join(1).no;
  CAF_CHECK(no.why == reason::queue_not_open);
  CAF_CHECK(no.at == event.queue_opens_at);
  s.now = opening + seconds{10};
  CAF_CHECK(s.join(1).created);
  CAF_CHECK(!s.change_status(event_trigger::pause));
  CAF_CHECK(s.join(2).created); // pausing stops admission, not joining
  CAF_CHECK(s.entry(2).status == entry_status::waiting);
  CAF_CHECK(!s.change_status(event_trigger::resume));
  CAF_CHECK(s.entry(2).status == entry_status::waiting); // nothing is on sale yet
  s.pass(seconds{10});
  CAF_CHECK(s.entry(2).status == entry_status::admitted);
  CAF_CHECK(!s.change_status(event_trigger::end));
  CAF_CHECK(s.join(3).no.why == reason::event_ended);
  event.status = event_status::draft;
  CAF_CHECK((sample_sale{event}.join(1).no.why == reason::not_found));
  event.status = event_status::cancelled;
  CAF_CHECK((sample_sale{event}.join(1).no.why == reason::event_ended));
  event.status = event_status::active;
  sample_sale late{event};
  late.now = event.sale_end;
  CAF_CHECK(late.it->join(fan(1), 0, late.now, late.last).no.why == reason::event_ended);
}

CAF_TEST(nobody claims before the sale starts) {
  auto event = sample_event();
  event.sale_start = opening + seconds{5};
  sample_sale s{event};
  s.join(1);
  const auto no = s.claim(1);
  CAF_CHECK(no.why == reason::sale_not_started);
  CAF_CHECK(no.at == event.sale_start);
  s.pass(seconds{5});
  CAF_CHECK(!s.claim(1));
}

CAF_TEST(admission counts those already admitted and so no tick lets in more than stock) {
  sample_sale s{sample_event(), sample_types(3)};
  s.join_all(1, 10);
  for (int i = 0; i < 5; ++i) s.pass(seconds{1});
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 3u);
  CAF_CHECK(!s.claim(1)); // its unit is held: no room for another place
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 3u);
  check_sound(s);
}

CAF_TEST(while people wait for stock the sale sleeps until a deadline) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 2);
  CAF_CHECK(!s.wake.again);
  CAF_CHECK(s.wake.at == opening + seconds{10}); // the claim window of fan 1
  sample_sale crowd{sample_event(), sample_types(1000)};
  crowd.join_all(1, 60);
  CAF_CHECK_EQUAL(crowd.it->queue().counts().admitted, 50u);
  CAF_CHECK(crowd.wake.at == opening + seconds{5}); // the next batch
}

CAF_TEST(admitted without a claim by the claim window and so the next is let in) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 2);
  CAF_CHECK(s.it->view_of(*s.it->queue().find(fan(1)), s.now).claim_by == opening + seconds{10});
  s.pass(milliseconds{9999});
  CAF_CHECK(s.entry(1).status == entry_status::admitted);
  s.pass(milliseconds{1});
  CAF_CHECK(s.entry(1).status == entry_status::session_expired);
  CAF_CHECK(s.entry(2).status == entry_status::admitted);
  CAF_CHECK(s.claim(1).why == reason::not_admitted);
  CAF_CHECK_EQUAL(s.entry(2).admission_batch, 2u);
  check_sound(s);
}

CAF_TEST(a claim is never open past its session) {
  auto event = sample_event();
  event.queue.claim_window = seconds{40};
  sample_sale s{event};
  s.join(1);
  s.pass(seconds{30});
  CAF_CHECK(!s.claim(1));
  CAF_CHECK(s.claim_of(1).expires_at == s.now + seconds{20});
  s.release(1, s.claim_of(1).id);
  s.pass(seconds{25}); // 5 seconds of session are left
  CAF_CHECK(!s.claim(1));
  CAF_CHECK(s.claim_of(1).expires_at == opening + seconds{60});
  s.pass(seconds{5});
  CAF_CHECK(s.claim_of(1).status == claim_status::released);
  CAF_CHECK(s.entry(1).status == entry_status::session_expired);
  check_sound(s);
}

CAF_TEST(after a released claim the same session may claim again until it ends) {
  auto s = with_shoppers(1);
  s.claim(1);
  CAF_CHECK(s.claim(1).why == reason::already_claimed);
  const auto first = s.claim_of(1).id;
  CAF_CHECK(s.claim(1).id == first);
  CAF_CHECK(!s.release(1, first));
  CAF_CHECK(!s.release(1, first)); // repeated: no effect
  CAF_CHECK_EQUAL(s.type().held, 0);
  s.pass(seconds{30}); // the claim window no longer applies
  CAF_CHECK(s.entry(1).status == entry_status::admitted);
  CAF_CHECK(!s.claim(1));
  CAF_CHECK(s.release(2, s.claim_of(1).id).why == reason::not_found); // another fan's claim
  check_sound(s);
}

CAF_TEST(an expired claim gives its stock back once and the next waiter is admitted) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 2);
  s.claim(1);
  CAF_CHECK(s.wake.at == opening + seconds{20});
  s.pass(seconds{20});
  CAF_CHECK(s.claim_of(1).status == claim_status::released);
  CAF_CHECK_EQUAL(s.type().held, 0);
  CAF_CHECK(s.entry(2).status == entry_status::waiting); // fan 1 still shops: one unit, one shopper
  s.leave(1);
  CAF_CHECK(s.entry(2).status == entry_status::admitted);
  s.pass(seconds{1});
  CAF_CHECK_EQUAL(s.type().held, 0);
  check_sound(s);
}

CAF_TEST(only the admitted holder claims) {
  sample_sale s{sample_event(), sample_types(2)};
  s.join_all(1, 3);
  claim_id opened;
  decision d;
  const auto* of_1 = s.it->queue().find(fan(1));
  // another fan's token
  CAF_CHECK(s.it->open_claim(fan(2), of_1, {}, s.now, d, opened).why == reason::not_admitted);
  CAF_CHECK(s.it->open_claim(fan(1), nullptr, {}, s.now, d, opened).why == reason::not_admitted);
  CAF_CHECK(s.claim(3).why == reason::not_admitted); // still waiting
  CAF_CHECK(d.content.empty());
}

CAF_TEST(a claim without an order costs what the quote says) {
  sample_sale s{sample_event(), sample_types(9)};
  s.join_all(1, 1);
  order_wish wish;
  wish.items = {{sample_types(9)[0].id, 3}};
  quote_view quoted;
  CAF_CHECK(!s.it->quote(fan(1), wish, s.now, quoted));
  CAF_CHECK(!s.claim(1, wish.items));
  CAF_CHECK(quoted.price.platform_fee > 0 && quoted.price.processing_fee > 0);
  CAF_CHECK_EQUAL(s.claim_of(1).amount, quoted.price.total);
}

CAF_TEST(what is asked for must be on sale within the limit and free) {
  auto types = sample_types(3);
  types.push_back(
    {.ordinal = 1, .id = {0x77, 2}, .name = "Seat", .price = 900, .total = 2, .max_per_order = 2});
  types.push_back({.ordinal = 2, .id = {0x77, 3}, .name = "Box", .price = 900, .total = 2, .on_sale = false});
  sample_sale s{sample_event(), types};
  s.join_all(1, 4);
  const uuid standard = types[0].id, seat = types[1].id, box = types[2].id;
  CAF_CHECK(s.claim(1, {{box, 1}}).why == reason::invalid_field);
  CAF_CHECK(s.claim(1, {{{9, 9}, 1}}).why == reason::invalid_field);
  CAF_CHECK(s.claim(1, {{standard, 0}}).why == reason::invalid_field);
  CAF_CHECK(s.claim(1, {{standard, 1}, {standard, 1}}).why == reason::invalid_field);
  CAF_CHECK(s.claim(1, {{seat, 3}}).why == reason::limit_exceeded);
  CAF_CHECK(s.claim(1, {{standard, 4}}).why == reason::none_free);
  CAF_CHECK(!s.claim(1, {{standard, 2}, {seat, 2}}));
  CAF_CHECK_EQUAL(s.claim_of(1).amount, 2 * 500 + 2 * 900 + 4 * 150 + 99 + 30);
  CAF_CHECK(s.claim(2, {{seat, 1}}).why == reason::none_free);
  CAF_CHECK(!s.claim(2)); // one unit of the first type on sale
  CAF_CHECK_EQUAL(s.claim_of(2).amount, 500 + 150 + 19 + 30);
  check_sound(s);
}

CAF_TEST(none free but some held is not sold out and sold out reopens) {
  sample_sale s{[] {
                  auto e = sample_event();
                  e.queue.over_admission_percent = 300;
                  return e;
                }(),
                sample_types(1)};
  s.join_all(1, 3);
  CAF_CHECK_EQUAL(s.it->queue().counts().admitted, 3u);
  s.claim(1);
  CAF_CHECK(s.claim(2).why == reason::none_free);
  const auto payment = s.pay(1).payment;
  s.captured(payment);
  CAF_CHECK(s.told(socket_notice_kind::sold_out));
  CAF_CHECK(s.it->view().sold_out);
  CAF_CHECK(s.claim(2).why == reason::event_sold_out);
  CAF_CHECK(s.join(4).created); // waiting fans may stay, and new ones may join
  event_patch more;
  more.ticket_types.emplace_back();
  more.ticket_types[0].values.id = s.type().id;
  more.ticket_types[0].set(&ticket_type_row::total, 2);
  CAF_CHECK(!s.patch(more));
  CAF_CHECK(s.told(socket_notice_kind::back_on_sale));
  CAF_CHECK(!s.claim(2));
  check_sound(s);
}

CAF_TEST(leaving frees a slot and the end of a place is final and the next place is at the end) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 3);
  CAF_CHECK(s.leave(9).why == reason::not_in_queue);
  CAF_CHECK(!s.leave(2));
  CAF_CHECK(s.entry(2).status == entry_status::cancelled);
  CAF_CHECK(!s.leave(2)); // repeated: accepted
  CAF_CHECK_EQUAL(s.it->view_of(*s.it->queue().find(fan(3)), s.now).position, 1u);
  CAF_CHECK(!s.leave(1)); // admitted without a claim
  CAF_CHECK(s.entry(1).status == entry_status::completed);
  CAF_CHECK(s.entry(3).status == entry_status::admitted); // a fan that left used up no admission
  const auto again = s.join(2);
  CAF_CHECK(again.created);
  CAF_CHECK_EQUAL(value_of(again.number), 4u);
  s.claim(3);
  CAF_CHECK(s.leave(3).why == reason::claim_live);
  check_sound(s);
}

CAF_TEST(who has bought what the limit allows does not queue again) {
  auto event = sample_event();
  event.claims_per_customer = 2;
  sample_sale s{event};
  for (int i = 0; i < 2; ++i) {
    CAF_CHECK(s.join(1).created);
    CAF_CHECK(!s.claim(1));
    s.captured(s.pay(1).payment);
    CAF_CHECK(s.claim_of(1).status == claim_status::confirmed);
    CAF_CHECK(s.entry(1).status == entry_status::completed);
    s.pass(seconds{1});
  }
  CAF_CHECK_EQUAL(s.type().sold, 2);
  const auto no = s.join(1).no;
  CAF_CHECK(no.why == reason::already_claimed);
  CAF_CHECK(s.it->claims().find(no.id)->live_slot == 0);
  check_sound(s);
}

CAF_TEST(a place with a ticket_ttl expires and the deadline is announced) {
  auto event = sample_event();
  event.queue_opens_at = opening;
  event.queue.ticket_ttl = seconds{15};
  sample_sale s{event, sample_types(1)};
  s.join(1);
  s.claim(1);
  s.now += seconds{2};
  s.join_all(2, 3);
  CAF_CHECK(s.wake.at == opening + seconds{17});
  s.pass(seconds{15});
  CAF_CHECK(s.entry(2).status == entry_status::expired);
  CAF_CHECK(s.entry(3).status == entry_status::expired);
  check_sound(s);
}

CAF_TEST(without a ticket_ttl nobody deep in a long line expires) {
  sample_sale s{sample_event(), sample_types(1)};
  s.join_all(1, 300);
  s.claim(1);
  for (int i = 0; i < 35; ++i) s.pass(seconds{60});
  std::uint64_t gone = 0;
  for (const auto& [n, e] : s.ledger.entries) gone += e.status == entry_status::expired;
  CAF_CHECK_EQUAL(gone, 0u);
}

CAF_TEST(places keep their order although all joined in one millisecond) {
  sample_sale s{sample_event(), sample_types(120)};
  s.join_all(1, 120);
  for (int i = 0; i < 2; ++i) s.pass(seconds{5});
  for (std::uint64_t n = 1; n <= 120; ++n)
    CAF_CHECK_EQUAL(s.entry(n).admission_batch, n <= 50 ? n : n <= 100 ? 51u : 52u);
  check_sound(s);
}

CAF_TEST(polls come often near the front and seldom at the end) {
  sample_sale s{sample_event(), sample_types(50)};
  s.join_all(1, 3000);
  const auto view = [&](std::uint64_t n) { return s.it->view_of(*s.it->queue().find(fan(n)), s.now); };
  CAF_CHECK(view(51).poll_after_ms >= 500);
  CAF_CHECK(view(51).poll_after_ms <= view(3000).poll_after_ms);
  CAF_CHECK(view(3000).poll_after_ms <= 15'000);
  CAF_CHECK(view(3000).eta_low_seconds <= view(3000).eta_high_seconds);
  CAF_CHECK(view(51).eta_high_seconds <= view(3000).eta_high_seconds);
}

} // namespace sale_fan_test
