// SPDX-License-Identifier: Apache-2.0
// Event tickets: issued with the purchase, named and cancelled by refunds, made later for older purchases.
#define CAF_SUITE domain_sale_tickets
#include "domain/delivery/outbox.hpp"
#include "domain/sale/attendees.hpp"
#include "tests/domain/sale/orders_fixture.hpp"

namespace sale_tickets_test {

using namespace fq;
using namespace fq::test;

namespace {

using ids = std::vector<event_ticket_id>;

struct tickets_fixture : orders_fixture {
  using orders_fixture::orders_fixture;

  ids of_type(std::uint32_t type) const {
    auto found = s.tickets_of(1);
    std::erase_if(found, [&](const event_ticket_id& id) { return row(id).ticket_type != type; });
    return found;
  }
  const event_ticket_row& row(const event_ticket_id& id) const { return s.ledger.event_tickets.at(id); }
  std::vector<event_ticket_view> shown() const {
    return s.it->views_of(s.it->event_tickets().of_claim(s.order_of(1).claim));
  }
  ids pending() const {
    ids found;
    for (const auto& t : shown())
      if (t.refund_pending) found.push_back(t.ticket.id);
    return found;
  }
  reason use_of(const event_ticket_id& id) const {
    return s.it->may_present(*s.it->event_tickets().find(id)).why;
  }
  /// As a scanner would do.
  void check_in(const event_ticket_id& id) {
    s.ledger.event_tickets.at(id).status = event_ticket_status::checked_in;
    s.reload();
  }
  /// As the sale will do.
  void transfer(const event_ticket_id& id, std::uint64_t receiver) {
    auto& ticket = s.ledger.event_tickets.at(id);
    ticket.status = event_ticket_status::transferred;
    ticket.holder = fan(receiver);
    ++ticket.generation;
    s.reload();
  }
  void give_back(std::vector<item_wish> items, ids tickets = {}) {
    CAF_REQUIRE(!s.refund_order(s.order_of(1).id, std::move(items), std::move(tickets)));
    s.refunded(*s.refund_asked());
    sound();
  }
  bool is_cancelled(const event_ticket_id& id) const {
    return row(id).status == event_ticket_status::cancelled;
  }
  /// Refuses the refund for good.
  void refuse(const refund_id& refund) {
    while (s.ledger.refunds.at(refund).status == refund_status::requested) {
      s.it->refund_not_processed(refund, true, s.now, s.last = {});
      s.settle();
    }
  }
};

} // namespace

CAF_TEST(each unit is an event ticket from the commit that confirms it) {
  tickets_fixture f;
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard(2), f.seat()})).id;
  CAF_CHECK(f.s.ledger.event_tickets.empty());
  f.s.initialized(payment);
  f.s.captured(payment);
  CAF_CHECK_EQUAL(f.of_type(0).size(), 2u);
  CAF_REQUIRE_EQUAL(f.of_type(1).size(), 1u);
  const auto& seat = f.row(f.of_type(1).front());
  CAF_CHECK(seat.holder == fan(1) && seat.claim == f.s.claim_of(1).id && seat.generation == 1);
  CAF_CHECK(seat.status == event_ticket_status::issued);
  CAF_REQUIRE_EQUAL(f.shown().size(), 3u);
  for (const auto& t : f.shown()) {
    CAF_CHECK(t.ticket_type == f.s.type(t.ticket.ticket_type).id && t.order == f.s.order_of(1).id);
    CAF_CHECK(!t.refund_pending);
  }
  f.sound();
}

CAF_TEST(each event ticket of an order has an attendee for ever) {
  tickets_fixture f;
  f.bought(1, {f.seat(), f.standard(3)});
  const auto numbers = [&f] {
    std::map<event_ticket_id, std::uint32_t> found;
    for (const auto& t : f.shown()) found[t.ticket.id] = t.attendee;
    return found;
  };
  const auto standard = f.of_type(0), seat = f.of_type(1);
  const auto at_first = numbers();
  CAF_CHECK(at_first
            == (std::map<event_ticket_id, std::uint32_t>{
              {seat[0], 1}, {standard[0], 2}, {standard[1], 3}, {standard[2], 4}}));
  f.give_back({}, {standard[0]});
  f.transfer(standard[1], 9);
  CAF_CHECK(numbers() == at_first);
  f.s.join(2);
  CAF_REQUIRE(!f.s.claim(2, {f.standard()})); // without an order, so without answers
  const auto payment = f.s.pay(2).payment;
  f.s.initialized(payment);
  f.s.captured(payment);
  const auto others = f.s.it->views_of(f.s.it->event_tickets().of_claim(f.s.claim_of(2).id));
  CAF_REQUIRE_EQUAL(others.size(), 1u);
  CAF_CHECK_EQUAL(others[0].attendee, 0u);
}

CAF_TEST(papers number attendees if the event asks them) {
  for (const bool of_attendee : {false, true}) {
    auto event = sample_event();
    event.questions = {question{1, question_kind::text, of_attendee, false, "Shirt", {}}};
    tickets_fixture f{event};
    const auto claim = f.bought(1, {f.seat(), f.standard()}).claim;
    const auto attendees = asked_attendees(*f.s.it, claim);
    CAF_CHECK_EQUAL(attendees.size(), of_attendee ? 2u : 0u);
    for (const auto& t : f.shown()) {
      const auto paper = f.s.it->paper_of(t.ticket, attendee_of(attendees, t.ticket.id));
      CAF_CHECK_EQUAL(paper.attendee, of_attendee ? t.attendee : 0u);
    }
    CAF_CHECK(asked_attendees(*f.s.it, claim_id{}).empty());
  }
}

CAF_TEST(a claim that costs nothing has its event tickets at once) {
  tickets_fixture f{sample_event(), sample_types(10, 0)};
  f.ordered(1, {f.standard(2)});
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 2u);
  f.sound();
}

CAF_TEST(late money that buys again gets event tickets) {
  tickets_fixture f;
  const auto payment = f.s.payment_of(f.ordered(1, {f.standard(2)})).id;
  f.s.initialized(payment);
  f.s.pass(seconds{300});
  f.s.closed(payment);
  f.s.pass(seconds{300});
  CAF_REQUIRE(f.s.claim_of(1).status == claim_status::released);
  CAF_CHECK(f.s.tickets_of(1).empty());
  f.s.captured(payment);
  CAF_CHECK(f.s.order_of(1).status == order_status::success);
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 2u);
  f.sound();
}

CAF_TEST(a refund by quantity takes the newest that were never checked in) {
  tickets_fixture f;
  f.bought(1, {f.standard(3)});
  const auto all = f.of_type(0);
  f.check_in(all[2]);
  f.give_back({f.standard()});
  CAF_CHECK(f.is_cancelled(all[1]));
  f.give_back({f.standard()});
  CAF_CHECK(f.is_cancelled(all[0]));
  f.give_back({f.standard()});
  CAF_CHECK(f.is_cancelled(all[2]));
  CAF_CHECK(f.s.claim_of(1).status == claim_status::refunded);
}

CAF_TEST(a refund takes the named event tickets) {
  tickets_fixture f;
  f.bought(1, {f.standard(3), f.seat()});
  const auto standard = f.of_type(0), seat = f.of_type(1);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {standard[0], seat[0]}));
  const auto refund = *f.s.refund_asked();
  CAF_CHECK_EQUAL(f.s.ledger.refunds.at(refund).amount, 3'500);
  CAF_CHECK(f.pending() == (ids{std::min(standard[0], seat[0]), std::max(standard[0], seat[0])}));
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 4u); // valid until the money is back
  f.s.reload();
  CAF_CHECK_EQUAL(f.pending().size(), 2u);
  f.s.refunded(refund);
  CAF_CHECK(f.is_cancelled(standard[0]) && f.is_cancelled(seat[0]));
  CAF_CHECK(f.s.tickets_of(1) == (ids{standard[1], standard[2]}));
  CAF_CHECK(f.pending().empty());
  f.sound();
  f.give_back({f.standard()}, {standard[1]}); // ids beside the quantity that they have
  CAF_CHECK(f.s.tickets_of(1) == ids{standard[2]});
}

CAF_TEST(event tickets that a refund cannot take are refused) {
  tickets_fixture f;
  f.bought(1, {f.standard(2), f.seat()});
  const auto standard = f.of_type(0), seat = f.of_type(1);
  const auto order = f.s.order_of(1).id;
  f.bought(2, {f.standard()});
  const auto others = f.s.tickets_of(2);
  const auto refused = [&](std::vector<item_wish> items, ids tickets) {
    return f.s.refund_order(order, std::move(items), std::move(tickets)).why == reason::invalid_field;
  };
  CAF_CHECK(refused({}, others));
  CAF_CHECK(refused({}, {standard[0], standard[0]}));
  CAF_CHECK(refused({}, {uuid{1, 1}}));
  CAF_CHECK(refused({f.standard(2)}, {standard[0]}));
  CAF_CHECK(refused({f.standard()}, {seat[0]}));
  CAF_CHECK(refused({f.standard(), f.seat()}, {standard[0]}));
  f.give_back({}, {standard[0]});
  CAF_CHECK(refused({}, {standard[0]})); // cancelled
  CAF_CHECK(f.s.ledger.refunds.size() == 1u);
}

CAF_TEST(a refund that fails takes none and its repetition takes the same) {
  tickets_fixture f;
  f.bought(1, {f.standard(3)});
  const auto all = f.of_type(0);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {all[0]}));
  f.refuse(*f.s.refund_asked());
  CAF_CHECK(f.s.tickets_of(1) == all);
  CAF_CHECK(f.pending().empty());
  f.sound();
  CAF_REQUIRE_EQUAL(f.s.ledger.dead_letters.size(), 1u);
  f.s.it->retry_dead_letter(f.s.ledger.dead_letters.begin()->first, f.s.now, f.s.last = {});
  f.s.settle();
  CAF_CHECK(f.pending() == ids{all[0]});
  f.s.refunded(*f.s.refund_asked());
  CAF_CHECK(f.is_cancelled(all[0]));
  f.sound();
}

CAF_TEST(a refund takes other tickets of its type if its own are gone) {
  tickets_fixture f;
  f.bought(1, {f.standard(3)});
  const auto all = f.of_type(0);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {all[0]}));
  const auto first = *f.s.refund_asked();
  f.refuse(first);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {all[0]}));
  const auto second = *f.s.refund_asked();
  f.s.refunded(second);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {all[1]}));
  f.refuse(*f.s.refund_asked());
  f.s.refunded(first); // after all: the money for one more ticket is gone
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 1u);
  f.sound();
}

CAF_TEST(a cancelled event and a block cancel all event tickets with the money) {
  for (const bool blocks : {true, false}) {
    tickets_fixture f;
    f.bought(1, {f.standard(2), f.seat()});
    blocks ? f.s.block({1}) : void(f.s.change_status(event_trigger::cancel));
    CAF_CHECK_EQUAL(f.pending().size(), 3u);
    CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 3u);
    CAF_REQUIRE_EQUAL(f.s.ledger.refunds.size(), 1u);
    f.s.refunded(f.s.ledger.refunds.begin()->first);
    CAF_CHECK(f.s.tickets_of(1).empty());
    f.sound();
  }
}

CAF_TEST(a refund goes to who paid and cancels the ticket whoever holds it) {
  tickets_fixture f;
  f.bought(1, {f.standard(2)});
  const auto payment = f.s.payment_of(f.s.order_of(1)).id;
  const auto received = f.of_type(0).front();
  f.transfer(received, 9);
  f.sound();
  CAF_CHECK(f.row(received).holder == fan(9));
  f.give_back({}, {received});
  CAF_CHECK(f.is_cancelled(received));
  CAF_CHECK_EQUAL(f.s.payment(payment).refunded, 1'000);
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 1u);
}

CAF_TEST(a second capture that goes back takes no event ticket) {
  tickets_fixture f;
  const auto first = f.s.payment_of(f.ordered(1, {f.standard()})).id;
  f.s.initialized(first);
  f.s.declined(first);
  const auto second = f.s.pay(1).payment;
  f.s.initialized(second);
  f.s.captured(second);
  f.s.captured(first);
  CAF_REQUIRE(f.s.payment(first).status == payment_status::refund_pending);
  CAF_CHECK(f.pending().empty());
  f.s.refunded(f.s.ledger.refunds.begin()->first);
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 1u);
  f.sound();
}

CAF_TEST(if both captures of a claim go back the last one takes its event tickets) {
  for (const bool late_first : {true, false}) {
    tickets_fixture f;
    const auto first = f.s.payment_of(f.ordered(1, {f.standard(2)})).id;
    f.s.initialized(first);
    f.s.declined(first);
    const auto second = f.s.pay(1).payment;
    f.s.initialized(second);
    f.s.captured(second);
    f.s.captured(first);
    CAF_CHECK(f.pending().empty());
    f.s.change_status(event_trigger::cancel);
    CAF_REQUIRE(f.s.payment(second).status == payment_status::refund_pending);
    CAF_CHECK_EQUAL(f.pending().size(), 2u);
    for (const auto& payment : {late_first ? first : second, late_first ? second : first}) {
      CAF_CHECK_EQUAL(f.pending().size(), 2u);
      f.s.refunded(f.s.it->payments().requested_of(payment).at(0));
      f.sound();
    }
    CAF_CHECK(f.s.tickets_of(1).empty() && f.pending().empty());
  }
}

CAF_TEST(an event ticket whose money goes back is of no use before it is cancelled) {
  tickets_fixture f;
  f.bought(1, {f.standard(2)});
  const auto all = f.of_type(0);
  CAF_CHECK(f.use_of(all[0]) == reason::none);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {all[0]}));
  CAF_CHECK(f.use_of(all[0]) == reason::refund_open);
  CAF_CHECK(f.use_of(all[1]) == reason::none);
  f.refuse(*f.s.refund_asked()); // the money stays, so does the ticket
  CAF_CHECK(f.use_of(all[0]) == reason::none);
  f.give_back({}, {all[0]});
  CAF_CHECK(f.use_of(all[0]) == reason::invalid_transition);
  f.s.change_status(event_trigger::cancel);
  CAF_CHECK(f.use_of(all[1]) == reason::invalid_transition);
  CAF_CHECK(is_valid(f.row(all[1]).status));
}

CAF_TEST(older purchases get their event tickets a bounded number per run) {
  tickets_fixture f{sample_event(), sample_types(10, 0)};
  f.s.rules.bounds.rows_per_run = 2;
  f.s.rules.bounds.refunds_per_run = 1;
  for (std::uint64_t n = 1; n <= 3; ++n) f.ordered(n, {f.standard(2)});
  f.s.ledger.event_tickets.clear();
  f.s.reload();
  CAF_CHECK(!f.s.it->is_quiet(f.s.now) && !f.s.it->has_settled_tickets());
  f.s.join(9); // no request pays for it
  CAF_CHECK(f.s.ledger.event_tickets.empty() && f.s.wake.again);
  f.s.pass(milliseconds{0});
  CAF_CHECK_EQUAL(f.s.ledger.event_tickets.size(), 2u);
  CAF_CHECK(f.s.wake.again);
  f.s.drain();
  CAF_CHECK_EQUAL(f.s.ledger.event_tickets.size(), 6u);
  CAF_CHECK(f.s.it->has_settled_tickets());
  f.sound();
  f.s.reload();
  f.s.pass(milliseconds{0});
  CAF_CHECK(f.s.last.content.empty());
}

CAF_TEST(event tickets of units that an older program refunded are cancelled) {
  tickets_fixture f;
  f.bought(1, {f.standard(3)});
  const auto before = f.s.ledger.event_tickets;
  f.give_back({f.standard()});
  f.s.ledger.event_tickets = before;
  f.s.reload();
  f.s.pass(milliseconds{0});
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 2u);
  f.sound();
  f.give_back({});
  f.s.ledger.event_tickets = before;
  f.s.reload();
  f.s.pass(milliseconds{0});
  CAF_CHECK(f.s.tickets_of(1).empty());
  f.sound();
}

CAF_TEST(of units that an older program refunded the named tickets are cancelled and told) {
  tickets_fixture f;
  f.bought(1, {f.standard(3), f.seat()});
  const auto all = f.of_type(0);
  const auto before = f.s.ledger.event_tickets;
  f.give_back({}, {all[0]});
  f.s.ledger.event_tickets = before;
  f.s.reload();
  f.s.pass(milliseconds{0});
  CAF_CHECK(f.of_type(0) == (ids{all[1], all[2]}));
  auto told = domain_events_of(f.s.last.content, sample_aggregate);
  CAF_REQUIRE_EQUAL(told.size(), 1u);
  const auto order = f.s.order_of(1);
  domain_event expected{topic::ticket_cancelled, order.claim, fan(1), order.id, 0, never};
  expected.event_tickets = {all[0]};
  expected.entry = make_entry_id(f.s.entry(1).joined_at, sample_aggregate, f.s.entry(1).number);
  CAF_CHECK(f.s.it->related(told[0]) == expected);
  f.sound();
}

CAF_TEST(an order is settled before a refund of it so that no more is given back than is left) {
  tickets_fixture f;
  f.bought(1, {f.standard(3)});
  const auto all = f.of_type(0);
  const auto before = f.s.ledger.event_tickets;
  f.give_back({f.standard()});
  f.s.ledger.event_tickets = before;
  f.s.reload();
  CAF_CHECK(f.s.refund_order(f.s.order_of(1).id, {}, all).why == reason::invalid_field);
  CAF_CHECK(f.s.tickets_of(1) == (ids{all[0], all[1]})); // also after the refusal
  f.sound();
  f.s.ledger.event_tickets.clear(); // bought from an older program
  f.s.reload();
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {f.standard()}));
  const auto refund = *f.s.refund_asked();
  CAF_CHECK_EQUAL(f.s.ledger.refunds.at(refund).tickets.size(), 1u);
  f.s.refunded(refund);
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 1u);
  f.sound();
}

CAF_TEST(a refund that succeeds before its purchase is settled cancels a ticket) {
  tickets_fixture f;
  f.bought(1, {f.standard(2)});
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {f.standard()}));
  const auto refund = *f.s.refund_asked();
  f.s.ledger.refunds.at(refund).tickets.clear();
  f.s.ledger.event_tickets.clear(); // all of an older program
  f.s.reload();
  f.s.refunded(refund);
  const auto told = domain_events_of(f.s.last.content, sample_aggregate);
  const auto cancelled = std::ranges::find(told, topic::ticket_cancelled, &domain_event::topic);
  CAF_REQUIRE(cancelled != told.end());
  CAF_CHECK_EQUAL(cancelled->event_tickets.size(), 1u);
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 1u);
  f.sound();
}

CAF_TEST(a refund that an older program began chooses its tickets when it succeeds) {
  tickets_fixture f;
  f.bought(1, {f.standard(2)});
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {f.standard()}));
  const auto refund = *f.s.refund_asked();
  f.s.ledger.refunds.at(refund).tickets.clear();
  f.s.reload();
  CAF_CHECK(f.pending() == ids{f.of_type(0).back()});
  f.s.refunded(refund);
  CAF_CHECK_EQUAL(f.s.tickets_of(1).size(), 1u);
  f.sound();
}

} // namespace sale_tickets_test
