// SPDX-License-Identifier: Apache-2.0
// The domain events of a decision: each topic only where it belongs, tickets by type and number.
#define CAF_SUITE domain_outbox
#include "domain/delivery/outbox.hpp"
#include "tests/domain/sale/sale_checks.hpp"

#include "caf/test/unit_test.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace outbox_test {

using namespace fq;
using namespace fq::test;

namespace {

/// 10 Standard at 10.00, 5 Seats at 25.00.
struct fixture {
  fixture() : s(sample_event(), two_types()) {}

  static std::vector<ticket_type_row> two_types() {
    auto types = sample_types(10, 1'000);
    types.front().max_per_order = 4;
    types.push_back(
      {.ordinal = 1, .id = {0x77, 2}, .name = "Seat", .price = 2'500, .total = 5, .max_per_order = 4});
    return types;
  }
  item_wish standard(std::uint32_t quantity) const { return {s.type(0).id, quantity, 0}; }
  item_wish seat(std::uint32_t quantity) const { return {s.type(1).id, quantity, 0}; }

  const order_row& bought(std::uint64_t n, std::vector<item_wish> items) {
    s.join(n);
    CAF_CHECK(!s.order(n, std::move(items)).no);
    const auto payment = s.payment_of(s.order_of(n)).id;
    s.initialized(payment);
    CAF_CHECK(!s.captured(payment));
    return s.order_of(n);
  }
  /// Events of the last decision with this topic.
  std::vector<domain_event> told(std::string_view topic) const {
    auto all = domain_events_of(s.last.content, sample_aggregate);
    std::erase_if(all, [&](const domain_event& e) { return e.topic != topic; });
    return all;
  }
  void given_back(const order_id& id, std::vector<item_wish> items) {
    CAF_CHECK(!s.refund_order(id, std::move(items)));
    const auto refund = s.refund_asked();
    CAF_REQUIRE(refund.has_value());
    CAF_CHECK(!s.refunded(*refund));
  }
  sample_sale s;
};

using counts = std::vector<ticket_count>;

} // namespace

CAF_TEST(a paid order tells its tickets by type and then that it is complete) {
  fixture f;
  const auto order = f.bought(1, {f.standard(2), f.seat(1)});
  const auto generated = f.told(topic::ticket_generated);
  CAF_REQUIRE_EQUAL(generated.size(), 1u);
  domain_event expected{topic::ticket_generated, order.claim, fan(1), order.id, 0, never,
                        counts{{0, 2}, {1, 1}}};
  expected.event_tickets = generated[0].event_tickets;
  CAF_CHECK(generated[0] == expected);
  auto ids = generated[0].event_tickets; // in the order of the types
  CAF_REQUIRE_EQUAL(ids.size(), 3u);
  CAF_CHECK_EQUAL(f.s.ledger.event_tickets.at(ids[2]).ticket_type, 1u);
  std::ranges::sort(ids);
  CAF_CHECK(ids == f.s.tickets_of(1));
  const auto completed = f.told(topic::order_completed);
  CAF_REQUIRE_EQUAL(completed.size(), 1u);
  CAF_CHECK(completed[0].items.empty());
  CAF_CHECK(f.told(topic::ticket_cancelled).empty());
}

CAF_TEST(a claim without an order tells the same) {
  sample_sale s;
  s.join(1);
  s.claim(1);
  CAF_CHECK(!s.captured(s.pay(1).payment));
  const auto all = domain_events_of(s.last.content, sample_aggregate);
  const auto generated = std::ranges::find(all, topic::ticket_generated, &domain_event::topic);
  CAF_REQUIRE(generated != all.end());
  CAF_CHECK_EQUAL(generated->items.at(0).quantity, 1u);
  CAF_CHECK(generated->order.is_nil());
  CAF_CHECK(generated->event_tickets == s.tickets_of(1));
  CAF_CHECK(std::ranges::find(all, topic::order_completed, &domain_event::topic) != all.end());
}

CAF_TEST(each refund tells the tickets that it takes back and no others) {
  fixture f;
  const auto order = f.bought(1, {f.standard(3), f.seat(1)});
  auto left = f.s.tickets_of(1);
  f.given_back(order.id, {f.standard(1)});
  const auto expected = [&](counts items) {
    domain_event e{topic::ticket_cancelled, order.claim, fan(1), order.id, 0, never, std::move(items)};
    const auto before = std::exchange(left, f.s.tickets_of(1));
    std::ranges::set_difference(before, left, std::back_inserter(e.event_tickets));
    return e;
  };
  auto cancelled = f.told(topic::ticket_cancelled);
  CAF_REQUIRE_EQUAL(cancelled.size(), 1u);
  CAF_CHECK(cancelled[0] == expected({{0, 1}}));
  CAF_CHECK(f.told(topic::ticket_generated).empty());
  f.given_back(order.id, {f.standard(1)});
  cancelled = f.told(topic::ticket_cancelled);
  CAF_REQUIRE_EQUAL(cancelled.size(), 1u);
  CAF_CHECK(cancelled[0] == expected({{0, 1}}));
  f.given_back(order.id, {}); // all remaining tickets
  cancelled = f.told(topic::ticket_cancelled);
  CAF_REQUIRE_EQUAL(cancelled.size(), 1u);
  std::ranges::sort(cancelled[0].event_tickets);
  CAF_CHECK(cancelled[0] == expected({{0, 1}, {1, 1}}));
  CAF_CHECK_EQUAL(f.told(topic::payment_refunded).size(), 1u);
}

CAF_TEST(a ticket that was let in is told once for each entry with its holder) {
  event_ticket_row row;
  row.id = {2, 1};
  row.claim = {1, 1};
  row.ticket_type = 3;
  row.holder = fan(9);
  const auto moved = [&](event_ticket_status from, event_ticket_status to) {
    row.status = to;
    return event_ticket_moved{from, row};
  };
  using enum event_ticket_status;
  const auto all = domain_events_of(
    {moved(issued, checked_in), moved(checked_in, checked_out), moved(checked_out, checked_in)},
    sample_aggregate);
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  for (const auto& told : all) {
    CAF_CHECK(told.topic == topic::ticket_checked_in && told.subject == row.claim && told.customer == fan(9));
    CAF_CHECK(told.items == (counts{{3, 1}}) && told.event_tickets == std::vector{row.id});
  }
}

CAF_TEST(two claims of one decision are told apart) {
  changes content;
  claim_row first, second;
  first.id = {1, 1};
  first.status = claim_status::refunded;
  second.id = {1, 2};
  second.status = claim_status::confirmed;
  const auto ticket_of = [](const claim_row& claim, std::uint64_t n) {
    event_ticket_row row;
    row.id = {2, n};
    row.claim = claim.id;
    row.status = event_ticket_status::cancelled;
    return event_ticket_moved{event_ticket_status::issued, row};
  };
  content.emplace_back(ticket_of(second, 9)); // of a unit that an older program refunded
  content.emplace_back(stock_moved{0, 0, -2});
  content.emplace_back(ticket_of(first, 1));
  content.emplace_back(claim_moved{claim_status::confirmed, first});
  content.emplace_back(stock_moved{1, 0, -1});
  content.emplace_back(claim_moved{claim_status::confirmed, second});
  // none of its tickets came back in this decision
  content.emplace_back(claim_moved{claim_status::confirmed, second});
  const auto all = domain_events_of(content, sample_aggregate);
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  for (const auto& told : all) CAF_CHECK_EQUAL(told.topic, topic::ticket_cancelled);
  CAF_CHECK(all[0].subject == second.id && all[0].items.empty() // the refund told them
            && all[0].event_tickets == (std::vector{uuid{2, 9}}));
  CAF_CHECK(all[1].subject == first.id && all[1].items == (counts{{0, 2}})
            && all[1].event_tickets == (std::vector{uuid{2, 1}}));
  CAF_CHECK(all[2].subject == second.id && all[2].items == (counts{{1, 1}}) && all[2].event_tickets.empty());
}

CAF_TEST(a claim that was never sold cancels no ticket) {
  sample_sale s;
  s.join(1);
  s.claim(1);
  CAF_CHECK(!s.release(1, s.claim_of(1).id));
  for (const auto& e : domain_events_of(s.last.content, sample_aggregate))
    CAF_CHECK(!e.topic.starts_with("ticket."));
}

CAF_TEST(a turn says by when it must be used) {
  auto event = sample_event();
  event.queue.claim_window = milliseconds{300'000};
  event.queue.session_ttl = milliseconds{1'200'000};
  sample_sale s(event);
  s.join(1);
  s.pass(milliseconds{60'000});
  const auto row = s.it->queue().find(fan(1))->row();
  CAF_REQUIRE(row.status == entry_status::admitted);
  const auto told = domain_events_of({entry_moved{entry_status::waiting, row}}, sample_aggregate);
  CAF_REQUIRE_EQUAL(told.size(), 1u);
  CAF_CHECK(told[0].claim_by == row.admitted_at + milliseconds{300'000});
  CAF_CHECK(told[0].until == row.admitted_at + milliseconds{1'200'000});
}

CAF_TEST(what is told of a payment or a claim names its order and the place that it came from) {
  fixture f;
  const auto order = f.bought(1, {f.standard(1)});
  const auto place = f.s.it->queue().find(fan(1))->row();
  const auto entry = make_entry_id(place.joined_at, sample_aggregate, place.number);
  const auto payment = f.s.payment_of(order).id;
  const auto of_payment = f.s.it->related([&] {
    domain_event e{topic::payment_failed, payment, fan(1), {}, 5, never};
    e.claim = order.claim;
    return e;
  }());
  CAF_CHECK(of_payment.order == order.id && of_payment.entry == entry && of_payment.claim == order.claim);
  const auto of_claim = f.s.it->related({topic::claim_expired, order.claim, fan(1), {}, 5, never});
  CAF_CHECK(of_claim.order == order.id && of_claim.entry == entry && of_claim.claim.is_nil());
  const auto of_event = f.s.it->related({topic::event_cancelled, f.s.it->event().id, {}, {}, 0, never});
  CAF_CHECK(of_event.order.is_nil() && of_event.entry.is_nil());
  f.given_back(order.id, {});
  CAF_REQUIRE_EQUAL(f.told(topic::payment_refunded).size(), 1u);
  CAF_CHECK(f.told(topic::payment_refunded)[0].claim == order.claim);
}

CAF_TEST(points are given for whole units of what was paid) {
  const domain_event paid{topic::order_completed, {1, 1}, {2, 2}, {3, 3}, 12'399, never};
  const auto award = loyalty_of(paid, "EUR", 5);
  CAF_REQUIRE(award.has_value());
  CAF_CHECK(award->topic == topic::loyalty_awarded);
  CAF_CHECK_EQUAL(award->points, 123 * 5);
  CAF_CHECK_EQUAL(award->amount, paid.amount);
  CAF_CHECK(award->subject == paid.subject && award->customer == paid.customer && award->order == paid.order);
  const auto points = [&](std::string_view currency) { return loyalty_of(paid, currency, 1)->points; };
  CAF_CHECK_EQUAL(points("JPY"), 12'399);
  CAF_CHECK_EQUAL(points("KWD"), 12);
  CAF_CHECK(!loyalty_of(paid, "EUR", 0));
  auto little = paid;
  little.amount = 99;
  CAF_CHECK(!loyalty_of(little, "EUR", 5));
  auto other = paid;
  other.topic = topic::order_failed;
  CAF_CHECK(!loyalty_of(other, "EUR", 5));
  auto huge = paid;
  huge.amount = std::numeric_limits<money>::max();
  const auto most = loyalty_of(huge, "JPY", 1'000'000);
  CAF_CHECK(most && most->points > 0); // limited to the range of the number
}

} // namespace outbox_test
