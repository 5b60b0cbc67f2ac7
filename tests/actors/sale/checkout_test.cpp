// SPDX-License-Identifier: Apache-2.0
// The event actor's checkout in virtual time: answers after the commit, the same order for the same key,
// bounded waits, verification of reports with the gateway, domain events and mails of one decision.
#define CAF_SUITE checkout
#include "tests/actors/sale/checkout_fixture.hpp"

#include "actors/outbox/mail_consumer.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace checkout_test {

using namespace fq;
using namespace fq::test;

CAF_TEST_FIXTURE_SCOPE(checkout_tests, checkout_fixture)

CAF_TEST(a traced order has a span that ends with its commit and its gateway calls are part of it) {
  commit_faults.push_back({commit_fault::kind::busy});
  auto placed = check_out(1, {}, sample_trace);
  run();
  CAF_CHECK(spans.all.empty()); // not committed yet
  advance(5s);
  CAF_REQUIRE(placed->ok && !placed->value.no);
  const auto* work = spans.find("place_order");
  CAF_REQUIRE(work);
  CAF_CHECK_EQUAL(work->parent, sample_trace.span);
  CAF_CHECK(work->context.trace == sample_trace.trace);
  CAF_REQUIRE(!gateway->calls.empty());
  CAF_CHECK(gateway->calls[0].charge.trace == work->context);
}

CAF_TEST(an order without a trace has none) {
  auto placed = check_out(1);
  run();
  CAF_REQUIRE(placed->ok && !placed->value.no);
  CAF_CHECK(spans.all.empty());
  CAF_REQUIRE(!gateway->calls.empty());
  CAF_CHECK(!gateway->calls[0].charge.trace);
}

CAF_TEST(of many claims the traces of the latest are known) {
  trace_book book(2);
  const claim_id claims[] = {uuid{1, 1}, uuid{1, 2}, uuid{1, 3}};
  for (const auto& c : claims) book.note(c, sample_trace);
  book.note(claims[2], {});
  CAF_CHECK(!book.of(claims[0]));
  CAF_CHECK(book.of(claims[1]) == sample_trace);
  CAF_CHECK(book.of(claims[2]) == sample_trace);
  auto later = sample_trace;
  later.span = 7;
  book.note(claims[1], later);
  CAF_CHECK(book.of(claims[1]) == later);
}

CAF_TEST(an order is answered after its commit and then the gateway is called) {
  auto placed = check_out(1);
  run_without(worker);
  CAF_CHECK(placed->open());
  CAF_CHECK(gateway->calls.empty());
  run();
  CAF_REQUIRE(placed->ok);
  CAF_CHECK(placed->value.order.order.status == order_status::pending);
  CAF_REQUIRE_EQUAL(gateway->calls.size(), 1u);
  const auto& charge = gateway->calls[0].charge;
  CAF_CHECK_EQUAL(charge.money.amount, placed->value.order.order.total);
  std::int64_t sum = 0;
  for (const auto& line : charge.lines) sum += line.unit_amount * line.quantity;
  CAF_CHECK_EQUAL(sum, charge.money.amount);
  CAF_CHECK_EQUAL(charge.application_fee,
                  placed->value.order.order.platform_fee + placed->value.order.order.processing_fee);
  CAF_CHECK_EQUAL(charge.customer_email, "ada@example.org");
  CAF_CHECK_EQUAL(board.pending().count, 1u);
  page(placed->value.order);
  CAF_CHECK_EQUAL(board.pending().count, 0u);
}

CAF_TEST(the board shows the event for as long as its owner serves) {
  auto placed = check_out(1);
  run();
  CAF_REQUIRE(placed->ok);
  const auto shown = [&] {
    const auto all = board.read();
    CAF_REQUIRE_EQUAL(all.size(), 1u);
    CAF_CHECK(all[0].event == event.id);
    CAF_CHECK_EQUAL(all[0].currency, event.currency);
    return all[0].numbers;
  };
  CAF_CHECK(shown().held == 1 && shown().free == 9 && shown().sold == 0 && shown().admitted == 1
            && shown().revenue == 0);
  CAF_CHECK(shown().due > env.steady_now());
  page(placed->value.order);
  CAF_CHECK_EQUAL(board.orders_served.get(), 1u);
  CAF_CHECK_EQUAL(board.orders[order_status::awaiting_payment].get(), 1u);
  CAF_CHECK_EQUAL(board.entries[entry_status::admitted].get(), 1u);
  seize_and_reload(2);
  CAF_CHECK(shown().held == 1 && shown().free == 9);
  CAF_CHECK_EQUAL(board.orders[order_status::awaiting_payment].get(), 1u);
  kill(owner);
  CAF_CHECK(board.read().empty());
}

CAF_TEST(what was to happen by time and does not is overdue) {
  auto placed = check_out(1);
  run();
  CAF_REQUIRE(placed->ok);
  page(placed->value.order);
  const auto due = board.read().at(0).numbers.due;
  for (int i = 0; i < 100; ++i) commit_faults.push_back({commit_fault::kind::unavailable, 0});
  auto late = check_out(2); // its batch does not commit: the event's time stands still
  run();
  advance(due - env.steady_now() + 5s);
  CAF_CHECK(env.steady_now() - board.read().at(0).numbers.due >= 1s);
  commit_faults.clear();
  for (int i = 0; i < 100; ++i) advance(100ms);
  CAF_CHECK(board.read().at(0).numbers.due > env.steady_now());
  CAF_CHECK(late->ok);
}

CAF_TEST(the same key is the same order as it is now) {
  const idempotency_ref key{true, {1, 1}, {2, 2}};
  auto first = check_out(1, key);
  run();
  page(first->value.order);
  auto again = check_out(1, key);
  run();
  CAF_REQUIRE(again->ok);
  CAF_CHECK(again->value.replayed);
  CAF_CHECK(again->value.order.order.id == first->value.order.order.id);
  CAF_CHECK(again->value.order.order.status == order_status::awaiting_payment);
  auto other_body = check_out(1, {true, {1, 1}, {3, 3}});
  run();
  CAF_CHECK(other_body->value.no.why == reason::idempotency_key_reused);
}

CAF_TEST(a charge stays the same over a restart of its owner) {
  const auto order = ordered(1);
  const auto before = gateway->calls.at(0).charge;
  store.acquire_unleased(event.aggregate, never); // the next commit is refused: the owner reloads
  auto lost = check_out(2);
  run();
  CAF_CHECK(lost->unavailable());
  CAF_REQUIRE(gateway->calls.size() >= 2);
  const auto after = gateway->calls.back().charge;
  CAF_CHECK_EQUAL(after.reference, before.reference);
  CAF_CHECK(after.expires_at == before.expires_at);
  CAF_CHECK(after.lines == before.lines);
  CAF_CHECK(look(order).order.status == order_status::pending);
}

CAF_TEST(the account that the money goes on to is the one of the day when the payment was opened) {
  std::string account = "acct_then";
  services.destination_of = [&account](const std::string& of, tenant_id) { return of + ":" + account; };
  seize_and_reload(99); // the owner requests the account from now on
  const auto order = ordered(1);
  CAF_CHECK_EQUAL(gateway->calls.back().charge.destination, "sandbox:acct_then");
  account = "acct_now";
  seize_and_reload(98);
  CAF_CHECK_EQUAL(gateway->calls.back().charge.reference, make_reference(order.payment));
  CAF_CHECK_EQUAL(gateway->calls.back().charge.destination, "sandbox:acct_then");
  ordered(2);
  CAF_CHECK_EQUAL(gateway->calls.back().charge.destination, "sandbox:acct_now");
}

CAF_TEST(an owner loads when what it goes by is known) {
  bool is_known = false;
  services.may_load = [&is_known] { return is_known; };
  store.acquire_unleased(event.aggregate, never);
  check_out(1);
  run();
  const auto early = check_out(2);
  advance(1s);
  CAF_CHECK(early->unavailable());
  is_known = true;
  advance(1s);
  const auto later = check_out(2);
  run();
  CAF_CHECK(later->ok);
}

CAF_TEST(who waits for the page is answered when it is there or when the time is over) {
  const auto order = ordered(1);
  auto waiting = ask<order_reply>(owner, find_order{order.order.id, customer(1), {}, 3s});
  auto impatient = ask<order_reply>(owner, find_order{order.order.id, customer(1), {}, 1s});
  auto stranger = ask<order_reply>(owner, find_order{order.order.id, customer(2), {}, 1s});
  run();
  CAF_CHECK(waiting->open() && impatient->open());
  CAF_CHECK(stranger->ok && stranger->value.no.why == reason::not_found);
  advance(1s);
  CAF_REQUIRE(impatient->ok);
  CAF_CHECK(impatient->value.order.order.status == order_status::pending);
  CAF_CHECK(waiting->open());
  page(order);
  CAF_REQUIRE(waiting->ok);
  CAF_CHECK_EQUAL(waiting->value.order.payment_url, "https://pay");
}

CAF_TEST(who waits hears unavailable when the owner loads anew) {
  const auto order = ordered(1);
  auto waiting = ask<order_reply>(owner, find_order{order.order.id, customer(1), {}, 30s});
  run();
  store.acquire_unleased(event.aggregate, never);
  check_out(2);
  run();
  CAF_CHECK(waiting->unavailable());
}

CAF_TEST(a report is asked about and answered when what the gateway says is committed) {
  const auto order = ordered(1);
  page(order);
  gateway->calls.clear();
  auto reported = ask<ack_reply>(owner, apply_fact{paid(order), true});
  run();
  CAF_CHECK(reported->open());
  CAF_REQUIRE_EQUAL(gateway->calls.size(), 1u);
  CAF_CHECK(gateway->calls[0].kind == gateway_call_kind::verify);
  CAF_CHECK(look(order).order.status == order_status::awaiting_payment);
  tell({.kind = gateway_call_kind::verify,
        .result = gateway_result::paid,
        .gateway = "sandbox",
        .payment = order.payment,
        .reference = make_reference(order.payment),
        .amount = order.order.total,
        .currency = "NGN"});
  CAF_REQUIRE(reported->ok);
  CAF_CHECK(look(order).order.status == order_status::success);
  gateway->calls.clear();
  auto again = ask<ack_reply>(owner, apply_fact{paid(order), true});
  run();
  CAF_CHECK(again->ok); // known: no request to accounts
  CAF_CHECK(gateway->calls.empty());
}

CAF_TEST(a report that the gateway does not stand by changes nothing) {
  const auto order = ordered(1);
  page(order);
  auto reported = ask<ack_reply>(owner, apply_fact{paid(order), true});
  run();
  tell({.kind = gateway_call_kind::verify,
        .result = gateway_result::unpaid,
        .gateway = "sandbox",
        .payment = order.payment,
        .reference = make_reference(order.payment),
        .amount = order.order.total,
        .currency = "NGN"});
  CAF_CHECK(reported->unavailable()); // it may concern a state after that answer: it must be repeated
  CAF_CHECK(look(order).order.status == order_status::awaiting_payment);
  CAF_CHECK(store.committed(event.aggregate)->receipts.empty());
  auto later = ask<ack_reply>(owner, apply_fact{paid(order, "evt_2"), true});
  run();
  tell({.kind = gateway_call_kind::verify,
        .result = gateway_result::unavailable,
        .gateway = "sandbox",
        .payment = order.payment,
        .reference = make_reference(order.payment)});
  CAF_CHECK(later->unavailable()); // it must be repeated
}

CAF_TEST(what an order became is told once and its mails are part of the decision) {
  const auto order = ordered(1);
  page(order);
  auto applied = ask<ack_reply>(owner, apply_fact{paid(order)});
  run();
  CAF_REQUIRE(applied->ok);
  const auto completed = outbox(topic::order_completed);
  CAF_REQUIRE_EQUAL(completed.size(), 1u); // and no second one for the claim
  const auto told = boost::json::parse(completed[0].payload).as_object();
  CAF_CHECK(told.at("order_id").as_string() == to_string(order.order.id));
  CAF_CHECK(told.at("claim_id").as_string() == to_string(order.order.claim));
  const auto generated = outbox(topic::ticket_generated);
  CAF_REQUIRE_EQUAL(generated.size(), 1u);
  const auto tickets = boost::json::parse(generated[0].payload).as_object();
  CAF_CHECK(tickets.at("order_id").as_string() == to_string(order.order.id));
  const auto& item = tickets.at("items").as_array().at(0).as_object();
  CAF_CHECK(item.at("quantity").as_int64() == 1);
  CAF_CHECK(item.at("ticket_type_id").as_string().size() == 36);
  const auto found = look(order);
  CAF_REQUIRE_EQUAL(found.event_tickets.size(), 1u);
  const auto& id = found.event_tickets[0].ticket.id;
  auto polled = ask<order_reply>(owner, find_order{order.order.id, order.order.customer});
  run();
  CAF_CHECK(polled->ok && polled->value.order.event_tickets.empty()); // not asked for
  CAF_CHECK(tickets.at("event_ticket_ids").as_array().at(0).as_string() == to_string(id));
  CAF_CHECK(outbox(topic::loyalty_awarded).empty()); // they are disabled
  const auto mails = outbox(topic::mail_send);
  CAF_REQUIRE_EQUAL(mails.size(), 1u);
  const auto mail = boost::json::parse(mails[0].payload).as_object();
  CAF_CHECK(mail.at("template").as_string() == "order_receipt");
  CAF_CHECK(mail.at("data").as_object().at("total").as_int64() == order.order.total);
  CAF_CHECK(completed[0].payload.find("ada@") == std::string::npos); // only mails contain personal data
}

CAF_TEST(event tickets are shown to their holder and listed by state for the organizer) {
  const auto order = ordered(1);
  page(order);
  auto applied = ask<ack_reply>(owner, apply_fact{paid(order)});
  run();
  CAF_REQUIRE(applied->ok);
  const principal organizer{principal_kind::organizer, event.tenant, event.organizer};
  const auto list = [&](list_event_tickets wish) {
    wish.what = {event.id, organizer};
    auto listed = ask<event_tickets_reply>(owner, std::move(wish));
    run();
    CAF_REQUIRE(listed->ok);
    return listed->value;
  };
  const auto all = list({{}, {}, 10, {}});
  CAF_REQUIRE_EQUAL(all.tickets.size(), 1u);
  const auto id = all.tickets[0].ticket.id;
  CAF_CHECK(all.next.is_nil());
  CAF_CHECK(all.tickets[0].order == order.order.id);
  CAF_CHECK_EQUAL(list({{}, {}, 10, {true, event_ticket_status::issued}}).tickets.size(), 1u);
  CAF_CHECK(list({{}, {}, 10, {true, event_ticket_status::cancelled}}).tickets.empty());
  CAF_CHECK(list({{}, id, 10, {}}).tickets.empty());
  const auto found = [&](const customer_id& who, const principal& by) {
    auto one = ask<event_ticket_reply>(owner, find_event_ticket{id, who, by});
    run();
    return one->ok && !one->value.no && one->value.ticket.ticket.id == id;
  };
  CAF_CHECK(found(order.order.customer, {}));
  CAF_CHECK(found({}, organizer));
  CAF_CHECK(!found({9, 9}, {}));
  CAF_CHECK(!found({}, {principal_kind::organizer, event.tenant, {9, 9}}));
}

CAF_TEST(who was given a ticket sees neither order nor claim and the organizer does) {
  const auto order = ordered(1);
  page(order);
  auto applied = ask<ack_reply>(owner, apply_fact{paid(order)});
  run();
  const principal organizer{principal_kind::organizer, event.tenant, event.organizer};
  auto listed = ask<event_tickets_reply>(owner, list_event_tickets{{event.id, organizer}, {}, 10, {}});
  run();
  CAF_REQUIRE(listed->ok && listed->value.tickets.size() == 1);
  const auto id = listed->value.tickets[0].ticket.id;
  const auto found = [&](const customer_id& who, const principal& by) {
    auto one = ask<event_ticket_reply>(owner, find_event_ticket{id, who, by});
    run();
    CAF_REQUIRE(one->ok && !one->value.no);
    return one->value.ticket;
  };
  const auto bought = found(order.order.customer, {});
  CAF_CHECK(bought.order == order.order.id && bought.ticket.claim == order.order.claim);
  auto offered =
    ask<transfer_reply>(owner, offer_ticket{{id, order.order.customer, customer(2), "a@x.org", "b@x.org"}});
  run();
  CAF_REQUIRE(offered->ok && !offered->value.no);
  auto taken = ask<transfer_reply>(
    owner, end_transfer{offered->value.transfer.id, customer(2), transfer_trigger::accept});
  run();
  CAF_REQUIRE(taken->ok && !taken->value.no);
  const auto given = found(customer(2), {});
  CAF_CHECK(given.order.is_nil() && given.ticket.claim.is_nil());
  CAF_CHECK(found({}, organizer).order == order.order.id);
  const auto history = [&](const customer_id& who, const principal& by) {
    find_order wish{order.order.id, who, by};
    wish.with_tickets = true;
    auto read = ask<order_reply>(owner, wish);
    run();
    CAF_REQUIRE(read->ok && !read->value.no);
    return read->value.order.transfers;
  };
  CAF_CHECK(history(order.order.customer, {}).empty());
  CAF_REQUIRE_EQUAL(history({}, organizer).size(), 1u);
  CAF_CHECK(history({}, organizer)[0].receiver == customer(2));
}

CAF_TEST(a payment link says when it is of no use any more and a receipt does not) {
  const auto order = ordered(1);
  page(order);
  const principal organizer{principal_kind::organizer, event.tenant, event.organizer};
  auto sent = ask<ack_reply>(owner, resend_order{{order.order.id, organizer}, {}});
  run();
  CAF_REQUIRE(sent->ok && !sent->value.no);
  auto applied = ask<ack_reply>(owner, apply_fact{paid(order)});
  run();
  const auto mails = outbox(topic::mail_send);
  CAF_REQUIRE_EQUAL(mails.size(), 2u);
  const auto data = boost::json::parse(mails[0].payload).as_object().at("data").as_object();
  CAF_CHECK(end_of(mails[0]) == timestamp{milliseconds{data.at("expires_at").as_int64()}});
  CAF_CHECK(end_of(mails[0]) > env.wall_now());
  CAF_CHECK(!is_set(end_of(mails[1])));
}

CAF_TEST(only its organizer lists refunds and sends again) {
  const auto order = ordered(1);
  page(order);
  auto applied = ask<ack_reply>(owner, apply_fact{paid(order)});
  run();
  const principal organizer{principal_kind::organizer, event.tenant, event.organizer},
    other{principal_kind::organizer, event.tenant, {9, 9}},
    abroad{principal_kind::operate, tenant_id{7}, {1, 1}};
  for (const auto& by : {other, abroad, principal{}}) {
    auto listed = ask<orders_reply>(owner, list_event_orders{{event.id, by}, {}, 10});
    auto refunded = ask<order_reply>(owner, refund_tickets{{order.order.id, by}, {}, {}});
    auto sent = ask<ack_reply>(owner, resend_order{{order.order.id, by}, {}});
    auto seen = ask<order_reply>(owner, find_order{order.order.id, {}, by});
    run();
    CAF_CHECK(listed->value.no.why == reason::not_found);
    CAF_CHECK(refunded->value.no.why == reason::not_found);
    CAF_CHECK(sent->value.no.why == reason::not_found);
    CAF_CHECK(seen->value.no.why == reason::not_found);
  }
  auto listed = ask<orders_reply>(owner, list_event_orders{{event.id, organizer}, {}, 10});
  auto sent = ask<ack_reply>(owner, resend_order{{order.order.id, organizer}, {}});
  auto refunded = ask<order_reply>(owner, refund_tickets{{order.order.id, organizer}, {}, {}});
  run();
  CAF_REQUIRE_EQUAL(listed->value.orders.size(), 1u);
  CAF_CHECK(listed->value.orders[0].event_tickets.empty()); // for a list they would be built in vain
  CAF_CHECK(sent->ok && !sent->value.no);
  CAF_CHECK_EQUAL(outbox(topic::mail_send).size(), 2u);
  CAF_CHECK(refunded->ok && !refunded->value.no);
  CAF_CHECK(gateway->calls.back().kind == gateway_call_kind::refund);
}

CAF_TEST(an export of orders has the event tickets of attendees who gave answers) {
  const principal organizer{principal_kind::organizer, event.tenant, event.organizer};
  patch_event asks{{event.id, organizer}, {}, {}};
  asks.patch.set(&event_row::questions, std::vector{question{0, question_kind::text, true, false, "Meal?"}});
  auto asked = ask<event_reply>(owner, asks);
  run();
  CAF_REQUIRE(asked->ok && !asked->value.no);
  for (const bool has_answer : {true, false}) {
    answers.clear();
    if (has_answer) answers = {{asked->value.event.event.questions.at(0).id, 1, {}, "Yam"}};
    const auto order = ordered(has_answer ? 1 : 2);
    page(order);
    auto applied = ask<ack_reply>(owner, apply_fact{paid(order, has_answer ? "evt_1" : "evt_2")});
    run();
  }
  auto listed = ask<orders_reply>(owner, list_event_orders{{event.id, organizer}, {}, 10, true});
  run();
  CAF_REQUIRE_EQUAL(listed->value.orders.size(), 2u);
  for (const auto& order : listed->value.orders) {
    const bool has_answer = !order.order.contact.answers.empty();
    CAF_REQUIRE_EQUAL(order.event_tickets.size(), has_answer ? 1u : 0u);
    if (has_answer) CAF_CHECK_EQUAL(order.event_tickets[0].attendee, 1u);
  }
}

CAF_TEST(a repeated refund shows the event tickets as they are now) {
  const auto order = ordered(1);
  page(order);
  auto applied = ask<ack_reply>(owner, apply_fact{paid(order)});
  run();
  const principal organizer{principal_kind::organizer, event.tenant, event.organizer};
  refund_tickets wish{{order.order.id, organizer}, {}, {}};
  wish.idempotency = {true, {1, 2}, {3, 4}};
  const auto refund = [&] {
    auto asked = ask<order_reply>(owner, wish);
    run();
    CAF_REQUIRE(asked->ok && !asked->value.no);
    CAF_REQUIRE_EQUAL(asked->value.order.event_tickets.size(), 1u);
    return asked->value;
  };
  const auto first = refund();
  CAF_CHECK(!first.replayed && first.order.event_tickets[0].refund_pending);
  tell({.kind = gateway_call_kind::refund,
        .result = gateway_result::refunded,
        .gateway = "sandbox",
        .payment = order.payment,
        .reference = make_reference(order.payment),
        .refund = gateway->calls.back().refund,
        .amount = order.order.total,
        .currency = "NGN"});
  const auto again = refund();
  CAF_CHECK(again.replayed && again.order.order.status == order_status::refunded);
  CAF_CHECK(again.order.event_tickets[0].ticket.status == event_ticket_status::cancelled);
}

CAF_TEST(an event that nobody would take becomes a dead letter and can be sent again under its id) {
  const outbox_row lost{
    {5, 5}, std::string{topic::mail_send}, R"({"template":"order_receipt"})", env.wall_now()};
  auto reported = ask<ack_reply>(owner, report_undelivered{lost, "no such template"});
  run();
  CAF_REQUIRE(reported->ok);
  const auto letters = store.committed(event.aggregate)->dead_letters;
  CAF_REQUIRE_EQUAL(letters.size(), 1u);
  const principal organizer{principal_kind::organizer, event.tenant, event.organizer};
  auto retried = ask<ack_reply>(owner, settle_dead_letter{{letters[0].id, organizer}, {}, true});
  run();
  CAF_REQUIRE(retried->ok && !retried->value.no);
  const auto again = outbox(topic::mail_send);
  CAF_REQUIRE_EQUAL(again.size(), 1u);
  CAF_CHECK(again[0].id == lost.id && again[0].payload == lost.payload);
  CAF_CHECK(store.committed(event.aggregate)->dead_letters.empty());
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace checkout_test
