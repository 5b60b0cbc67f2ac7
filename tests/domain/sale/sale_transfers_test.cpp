// SPDX-License-Identifier: Apache-2.0
// Offers of event tickets: who may make and end them, what the receiver gets, what stays the buyer's.
#define CAF_SUITE domain_sale_transfers
#include "domain/delivery/outbox.hpp"
#include "domain/sale/limits.hpp"
#include "tests/domain/sale/orders_fixture.hpp"

#include <map>

namespace sale_transfers_test {

using namespace fq;
using namespace fq::test;

namespace {

struct transfers_fixture : orders_fixture {
  transfers_fixture() {
    bought(1, {standard(2)});
    ticket = s.tickets_of(1).front();
  }
  const event_ticket_row& row() const { return s.ledger.event_tickets.at(ticket); }
  const transfer_row& offer_row() const { return s.ledger.transfers.at(offer); }
  void offered_to(std::uint64_t n) {
    CAF_REQUIRE(!s.offer(ticket, n, &offer));
    sound();
  }
  void given_to(std::uint64_t n) {
    offered_to(n);
    CAF_REQUIRE(!s.end_transfer(offer, n, transfer_trigger::accept));
    sound();
  }
  reason refused_offer(std::uint64_t n) { return s.offer(ticket, n).why; }
  void set_transfers_max(std::uint32_t most) {
    event_patch p;
    p.set(&event_ticket_settings::transfers_max, most);
    CAF_REQUIRE(!s.patch(p));
  }
  void check_in() {
    s.ledger.event_tickets.at(ticket).status = event_ticket_status::checked_in; // as a scanner would do
    s.reload();
  }

  event_ticket_id ticket;
  transfer_id offer;
};

} // namespace

CAF_TEST(an accepted offer changes the holder and voids the codes in one commit) {
  transfers_fixture f;
  f.offered_to(2);
  CAF_CHECK(f.row().holder == fan(1) && f.row().generation == 1);
  CAF_CHECK(f.offer_row().giver_email == "giver@example.org");
  CAF_CHECK(!f.s.end_transfer(f.offer, 2, transfer_trigger::accept));
  CAF_CHECK(f.row().holder == fan(2) && f.row().generation == 2);
  CAF_CHECK(f.row().status == event_ticket_status::transferred);
  CAF_CHECK(f.offer_row().status == transfer_status::accepted && f.offer_row().ended_at == f.s.now);
  CAF_CHECK(f.offer_row().giver_email.empty() && f.offer_row().receiver_email.empty());
  f.sound();
  f.s.reload();
  CAF_CHECK(f.s.it->event_tickets().find(f.ticket)->holder == fan(2));
}

CAF_TEST(an accepted offer publishes an event that names both holders) {
  transfers_fixture f;
  f.offered_to(2);
  CAF_CHECK(domain_events_of(f.s.last.content, sample_aggregate).empty());
  CAF_REQUIRE_EQUAL(f.s.last.transfers.size(), 1u); // for the mail
  CAF_CHECK_EQUAL(f.s.last.transfers[0].receiver_email, "receiver@example.org");
  CAF_REQUIRE(!f.s.end_transfer(f.offer, 2, transfer_trigger::accept));
  const auto told = domain_events_of(f.s.last.content, sample_aggregate);
  CAF_REQUIRE_EQUAL(told.size(), 1u);
  CAF_CHECK_EQUAL(told[0].topic, topic::ticket_transferred);
  CAF_CHECK(told[0].subject == f.s.claim_of(1).id && told[0].customer == fan(2) && told[0].giver == fan(1));
  CAF_CHECK(told[0].event_tickets == std::vector{f.ticket});
  CAF_CHECK(f.s.it->related(told[0]).customer == fan(2));
  CAF_CHECK_EQUAL(f.s.last.transfers.at(0).giver_email, "giver@example.org");
}

CAF_TEST(only the holder offers and only the receiver accepts) {
  transfers_fixture f;
  decision d;
  transfer_id id;
  CAF_CHECK(f.s.it->offer_ticket({f.ticket, fan(3), fan(2), "", ""}, f.s.now, d, id).why
            == reason::not_found);
  CAF_CHECK(f.s.it->offer_ticket({{1, 2}, fan(1), fan(2), "", ""}, f.s.now, d, id).why == reason::not_found);
  CAF_CHECK(f.refused_offer(1) == reason::invalid_field); // to herself
  f.offered_to(2);
  using enum transfer_trigger;
  CAF_CHECK(f.s.end_transfer(f.offer, 3, accept).why == reason::not_found);
  CAF_CHECK(f.s.end_transfer(f.offer, 1, accept).why == reason::not_found);
  CAF_CHECK(f.s.end_transfer(f.offer, 1, decline).why == reason::not_found);
  CAF_CHECK(f.s.end_transfer(f.offer, 2, withdraw).why == reason::not_found);
  CAF_CHECK(f.row().holder == fan(1));
}

CAF_TEST(a second try changes nothing) {
  transfers_fixture f;
  f.offered_to(2);
  transfer_id again;
  CAF_CHECK(!f.s.offer(f.ticket, 2, &again) && again == f.offer);
  const auto no = f.s.offer(f.ticket, 3);
  CAF_CHECK(no.why == reason::transfer_open && no.id == f.offer);
  CAF_CHECK(!f.s.end_transfer(f.offer, 2, transfer_trigger::accept));
  CAF_CHECK(!f.s.end_transfer(f.offer, 2, transfer_trigger::accept));
  CAF_CHECK_EQUAL(f.row().generation, 2u);
  CAF_CHECK(f.s.end_transfer(f.offer, 2, transfer_trigger::decline).why == reason::invalid_transition);
  CAF_CHECK(f.s.end_transfer(f.offer, 1, transfer_trigger::withdraw).why == reason::invalid_transition);
}

CAF_TEST(a withdrawn or declined offer leaves the ticket) {
  for (const auto how : {transfer_trigger::withdraw, transfer_trigger::decline}) {
    transfers_fixture f;
    f.offered_to(2);
    CAF_CHECK(!f.s.end_transfer(f.offer, how == transfer_trigger::withdraw ? 1 : 2, how));
    CAF_CHECK(f.s.end_transfer(f.offer, 2, transfer_trigger::accept).why == reason::invalid_transition);
    CAF_CHECK(f.row().holder == fan(1) && f.row().generation == 1);
    f.given_to(3); // may be offered again
  }
}

CAF_TEST(an offer ends with its time) {
  transfers_fixture f;
  f.offered_to(2);
  f.s.pass(transfer_life - milliseconds{1});
  CAF_CHECK(f.offer_row().status == transfer_status::offered);
  f.s.reload();
  f.s.pass(milliseconds{1});
  CAF_CHECK(f.offer_row().status == transfer_status::expired && f.offer_row().receiver_email.empty());
  CAF_CHECK(f.s.end_transfer(f.offer, 2, transfer_trigger::accept).why == reason::invalid_transition);
  f.sound();
}

CAF_TEST(the organizer limits how often a ticket changes hands) {
  transfers_fixture f;
  f.given_to(2); // at most once, by default
  CAF_CHECK(f.refused_offer(3) == reason::transfer_limit);
  f.s.reload();
  CAF_CHECK(f.refused_offer(3) == reason::transfer_limit);
  f.set_transfers_max(2);
  f.offered_to(3);
  f.set_transfers_max(1);
  CAF_CHECK(f.s.end_transfer(f.offer, 3, transfer_trigger::accept).why == reason::transfer_limit);
  f.set_transfers_max(0);
  CAF_CHECK(f.s.end_transfer(f.offer, 3, transfer_trigger::accept).why == reason::transfers_off);
  CAF_CHECK(f.row().holder == fan(2));
}

CAF_TEST(the settings of tickets can change after the sale) {
  transfers_fixture f;
  CAF_REQUIRE(!f.s.change_status(event_trigger::end));
  f.set_transfers_max(3);
  f.given_to(2);
  f.s.last = {};
  f.s.it->renew_ticket_keys(f.s.now, f.s.last);
  f.s.settle();
  CAF_CHECK_EQUAL(f.s.ledger.event.event_tickets.key_number, 1u);
}

CAF_TEST(a ticket that was let in or is being refunded stays) {
  transfers_fixture f;
  f.offered_to(2);
  f.check_in();
  auto no = f.s.end_transfer(f.offer, 2, transfer_trigger::accept);
  CAF_CHECK(no.why == reason::not_transferable && no.detail == "CHECKED_IN");
  transfers_fixture g;
  g.offered_to(2);
  CAF_REQUIRE(!g.s.refund_order(g.s.order_of(1).id, {}, {g.ticket}));
  const auto refund = *g.s.refund_asked();
  no = g.s.end_transfer(g.offer, 2, transfer_trigger::accept);
  CAF_CHECK(no.why == reason::not_transferable && no.detail == "REFUND_PENDING");
  g.s.refunded(refund);
  no = g.s.end_transfer(g.offer, 2, transfer_trigger::accept);
  CAF_CHECK(no.why == reason::not_transferable && no.detail == "CANCELLED");
  g.sound();
}

CAF_TEST(an offer ends in the decision that cancels its ticket) {
  transfers_fixture f;
  f.offered_to(2);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {f.ticket}));
  CAF_CHECK(f.offer_row().status == transfer_status::offered); // the refund may fail
  CAF_REQUIRE(!f.s.refunded(*f.s.refund_asked()));
  CAF_CHECK(f.row().status == event_ticket_status::cancelled);
  CAF_CHECK(f.offer_row().status == transfer_status::withdrawn && f.offer_row().ended_at == f.s.now);
  CAF_CHECK(f.offer_row().receiver_email.empty());
  CAF_REQUIRE_EQUAL(f.s.last.transfers.size(), 1u); // for the mail
  CAF_CHECK(f.s.last.transfers[0].status == transfer_status::withdrawn);
  CAF_CHECK_EQUAL(f.s.last.transfers[0].receiver_email, "receiver@example.org");
  const auto told = domain_events_of(f.s.last.content, sample_aggregate);
  CAF_CHECK_EQUAL(std::ranges::count(told, topic::ticket_cancelled, &domain_event::topic), 1);
  CAF_CHECK(f.s.end_transfer(f.offer, 2, transfer_trigger::decline).why == reason::invalid_transition);
  f.sound();
}

CAF_TEST(offers end with the event that is cancelled before the money is back) {
  transfers_fixture f;
  f.offered_to(2);
  CAF_REQUIRE(!f.s.change_status(event_trigger::cancel));
  f.s.drain();
  CAF_CHECK(is_valid(f.row().status));
  CAF_CHECK(f.offer_row().status == transfer_status::withdrawn && f.offer_row().receiver_email.empty());
  f.sound();
}

CAF_TEST(a cancelled event tells each holder of a gift once in bounded runs also over crashes) {
  transfers_fixture f;
  f.given_to(20);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {f.ticket}));
  CAF_REQUIRE(!f.s.refunded(*f.s.refund_asked()));
  f.s.pass(seconds{1}); // fan 20 lost the gift before
  f.bought(2, {f.standard(4)});
  f.bought(3, {f.standard(2)});
  const auto gifts = f.s.tickets_of(2), others = f.s.tickets_of(3);
  const auto give = [&f](const event_ticket_id& ticket, std::uint64_t n) {
    f.ticket = ticket;
    f.given_to(n);
  };
  for (std::uint64_t n = 0; n < 4; ++n) give(gifts[n], 11 + n);
  give(others[0], 11); // has two
  give(others[1], 2); // hears of it by the order
  f.s.rules.bounds.rows_per_run = 2;
  f.s.rules.bounds.refunds_per_run = 1;
  f.s.reload();
  std::map<customer_id, int> told;
  const auto note = [&] {
    CAF_CHECK(f.s.last.told_holders.size() <= 2);
    for (const auto& holder : f.s.last.told_holders) ++told[holder];
    f.sound();
  };
  CAF_REQUIRE(!f.s.change_status(event_trigger::cancel));
  note();
  CAF_CHECK(f.s.wake.again && told.size() == 1); // and fan 2 by the order
  CAF_CHECK(f.s.last.gateway_calls.empty()); // refunds wait: they would change what a load finds
  bool is_refunding = false;
  for (int run = 0; run < 9; ++run) {
    f.s.reload();
    f.s.pass(milliseconds{0});
    note();
    is_refunding = is_refunding || !f.s.last.gateway_calls.empty();
  }
  CAF_CHECK(is_refunding);
  CAF_CHECK((told == std::map<customer_id, int>{{fan(11), 1}, {fan(12), 1}, {fan(13), 1}, {fan(14), 1}}));
}

CAF_TEST(an event that was changed after its cancellation tells no holder twice) {
  transfers_fixture f;
  f.bought(3, {f.standard(2)});
  const auto gifts = f.s.tickets_of(3);
  f.ticket = gifts[0];
  f.given_to(11);
  f.ticket = gifts[1];
  f.given_to(1); // hears of it by the order
  f.s.rules.pace->room(f.s.now);
  f.s.rules.pace->note_begun(refund_pace::per_slot - 1);
  CAF_REQUIRE(!f.s.change_status(event_trigger::cancel));
  CAF_CHECK((f.s.last.told_holders == std::vector{fan(11)}));
  CAF_REQUIRE(!f.s.refunded(*f.s.refund_asked()));
  CAF_REQUIRE(f.s.order_of(1).status == order_status::refunded);
  f.s.pass(milliseconds{1});
  event_patch p;
  p.set(&event_facts::picture, std::string{});
  CAF_REQUIRE(!f.s.patch(p)); // changed later than the order of fan 1
  f.s.reload();
  CAF_REQUIRE(is_refundable(f.s.payment_of(f.s.order_of(3)).status)); // the load looks for holders
  f.s.pass(milliseconds{0});
  CAF_CHECK(f.s.last.told_holders.empty());
  CAF_CHECK_EQUAL(f.row().generation, 3u);
  f.sound();
}

CAF_TEST(a refund goes to the buyer also if another customer holds the ticket) {
  transfers_fixture f;
  f.given_to(2);
  CAF_REQUIRE(!f.s.refund_order(f.s.order_of(1).id, {}, {f.ticket}));
  const auto refund = *f.s.refund_asked();
  CAF_CHECK(f.s.payment(f.s.ledger.refunds.at(refund).payment).customer == fan(1));
  f.s.refunded(refund);
  CAF_CHECK(f.row().status == event_ticket_status::cancelled && f.row().holder == fan(2));
  f.sound();
}

CAF_TEST(the paper of a given ticket says nothing of the purchase and that of a returned one does) {
  transfers_fixture f;
  const auto paper = [&f] { return f.s.it->paper_of(f.row(), 2); };
  const auto order = f.s.order_of(1).id;
  CAF_CHECK(paper().order == order && paper().price >= 0 && paper().attendee == 2);
  f.set_transfers_max(2);
  f.given_to(2);
  CAF_CHECK(!f.s.it->is_with_buyer(f.row()));
  CAF_CHECK(paper().order.is_nil() && paper().price == price_hidden && paper().attendee == 0);
  f.given_to(1);
  CAF_CHECK(paper().order == order && paper().price >= 0 && paper().attendee == 2);
}

CAF_TEST(the history of a ticket keeps all accepted offers and the newest others without addresses) {
  transfers_fixture f;
  f.set_transfers_max(2);
  f.given_to(2);
  for (std::size_t n = 0; n <= refused_offers_shown_max; ++n) {
    f.s.pass(seconds{1});
    f.offered_to(3);
    CAF_REQUIRE(!f.s.end_transfer(f.offer, 3, transfer_trigger::decline));
  }
  f.s.pass(seconds{1});
  f.offered_to(4);
  f.s.reload();
  const auto history = f.s.it->history_of(f.s.it->event_tickets().of_claim(f.row().claim));
  CAF_REQUIRE_EQUAL(history.size(), 1 + refused_offers_shown_max);
  CAF_CHECK(history[0].status == transfer_status::accepted);
  CAF_CHECK(history[0].giver == fan(1) && history[0].receiver == fan(2));
  CAF_CHECK(history[1].status == transfer_status::declined && history[1].receiver == fan(3));
  CAF_CHECK(history.back().id == f.offer && history.back().receiver_email.empty());
}

CAF_TEST(a gift frees no purchase of the buyer) {
  transfers_fixture f;
  f.given_to(2);
  f.s.join(1);
  CAF_CHECK(f.s.order(1, {f.standard()}).no.why == reason::already_claimed);
  CAF_CHECK(!f.s.it->queue().find(fan(1)) || f.s.claim_of(1).live_slot == 0);
}

CAF_TEST(a blocked receiver takes nothing) {
  transfers_fixture f;
  f.offered_to(2);
  f.s.block({2});
  CAF_CHECK(f.s.end_transfer(f.offer, 2, transfer_trigger::accept).why == reason::customer_blocked);
  CAF_CHECK(f.offer_row().status == transfer_status::offered);
  f.s.block({});
  CAF_CHECK(!f.s.end_transfer(f.offer, 2, transfer_trigger::accept));
}

CAF_TEST(a block leaves a received ticket valid and ends one that the customer gave away) {
  transfers_fixture f;
  f.given_to(2);
  f.s.block({2});
  f.s.drain();
  CAF_CHECK(!f.s.it->may_present(f.row()));
  f.s.block({1});
  CAF_REQUIRE(f.s.refund_asked());
  CAF_REQUIRE(!f.s.refunded(*f.s.refund_asked()));
  CAF_CHECK(f.row().status == event_ticket_status::cancelled && f.row().holder == fan(2));
  f.sound();
}

CAF_TEST(the address of an erased customer is forgotten) {
  transfers_fixture f;
  f.offered_to(2);
  f.s.it->forget_contacts(std::vector{fan(2)});
  const auto& row = *f.s.it->transfers().find(f.offer);
  CAF_CHECK(row.receiver_email.empty() && row.giver_email == "giver@example.org");
}

} // namespace sale_transfers_test
