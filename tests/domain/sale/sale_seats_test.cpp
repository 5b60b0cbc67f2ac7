// SPDX-License-Identifier: Apache-2.0
// Reserved seats in a sale: claims that name seats or ask for the best ones; what ends and moves them.
#define CAF_SUITE domain_sale_seats
#include "domain/delivery/outbox.hpp"
#include "domain/sale/audit.hpp"
#include "tests/domain/sale/seats_fixture.hpp"

namespace sale_seats_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(a claim holds the seats that it names for the whole session) {
  seats_fixture f;
  CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-3", "A-4"})}));
  CAF_CHECK_EQUAL(f.seats_of(1), "A-3 A-4");
  CAF_CHECK(f.s.claim_of(1).expires_at == f.s.entry(1).session_expires_at);
  CAF_CHECK_EQUAL(f.s.type(0).held, 2);
  f.is_refused(f.s.claim(2, {f.named(0, {"A-4", "A-5"})}), reason::seat_taken, "A-4");
  CAF_CHECK(!f.s.claim(2, {f.units(2, 1)})); // without seats: the claim's own time
  CAF_CHECK(f.s.claim_of(2).expires_at == f.s.now + f.s.it->event().claim_ttl);
  f.buy(1);
  CAF_CHECK(f.state("A-3") == seat_state::sold);
  const auto shown = f.s.it->view_of(f.s.claim_of(1));
  CAF_CHECK(shown.seats == (std::vector<std::string>{"A-3", "A-4"}));
  CAF_CHECK(shown.places == (std::vector<seat_place>{{"", "A", "3"}, {"", "A", "4"}}));
  f.sound();
}

CAF_TEST(order and papers say that a seat has a restricted view) {
  seats_fixture f;
  CAF_CHECK(f.s.it->view().has_seats && !f.s.it->view().has_obstructed_seats);
  auto hall = small_hall();
  hall.sections[0].rows[0].seats[3].obstructed = true;
  f.s.give_plan(make_plan(hall).plan, {0, 1, 2}, {});
  CAF_CHECK(f.s.it->view().has_obstructed_seats);
  const auto& order = f.bought(1, {f.named(0, {"A-3", "A-4"})});
  const auto shown = f.s.it->view_of(f.s.claim_of(1));
  CAF_CHECK(shown.places == (std::vector<seat_place>{{"", "A", "3"}, {"", "A", "4", true}}));
  for (const auto* t : f.s.it->event_tickets().of_claim(order.claim))
    CAF_CHECK_EQUAL(f.s.it->paper_of(*t).seat.obstructed, f.s.it->seat_of(*t).name == "A-4");
}

CAF_TEST(papers and gates name the seat of a ticket) {
  seats_fixture f;
  const auto& order = f.bought(1, {f.named(0, {"A-3", "A-4"})});
  std::vector<std::string> names;
  for (const auto* t : f.s.it->event_tickets().of_claim(order.claim)) {
    const auto seat = f.s.it->seat_of(*t);
    names.push_back(seat.name);
    CAF_CHECK(seat.ticket == t->id && seat.place.row == "A" && "A-" + seat.place.seat == seat.name);
    CAF_CHECK(f.s.it->paper_of(*t).seat == seat.place);
    const auto seen = f.s.it->at_gate({&t, 1}).front();
    CAF_CHECK(seen.seat == seat.name && seen.place == seat.place);
  }
  std::ranges::sort(names);
  CAF_CHECK(names == (std::vector<std::string>{"A-3", "A-4"}));
}

CAF_TEST(named seats must be of the item and of the plan) {
  seats_fixture f;
  f.is_refused(f.s.claim(1, {f.named(0, {"A-7"})}), reason::invalid_field, "items.seats: no such seat: A-7");
  f.is_refused(f.s.claim(1, {f.named(0, {"C-1"})}), reason::invalid_field,
               "items.seats: C-1 is of another ticket type");
  f.is_refused(f.s.claim(1, {f.named(0, {"A-1", "A-1"})}), reason::invalid_field,
               "items.seats: A-1 is given twice");
  f.is_refused(f.s.claim(1, {f.named(2, {"A-1"})}), reason::invalid_field,
               "items.seats: the ticket type has no seats");
  auto three = f.named(0, {"A-1", "A-2"});
  three.quantity = 3;
  f.is_refused(f.s.claim(1, {three}), reason::invalid_field, "items.quantity: must be the number of seats");
  f.is_refused(f.s.claim(1, {f.named(0, {"A-2"})}), reason::seat_single, "A-1");
  CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-1", "A-2"}), f.named(1, {"C-1"})}));
  CAF_CHECK_EQUAL(f.seats_of(1), "A-1 A-2 C-1");
  f.sound();
}

CAF_TEST(an event without a plan has no seats) {
  sample_sale s;
  s.join(1);
  CAF_CHECK(s.claim(1, {{s.type().id, 1, 0, {"A-1"}}}).why == reason::invalid_field);
  CAF_CHECK(s.claim(1, {}, {.best = {.count = 2}}).why == reason::invalid_field);
  CAF_CHECK(s.set_seats({{"A-1"}}).why == reason::not_found);
  CAF_CHECK(!s.claim(1));
}

CAF_TEST(best seats stand side by side and have the items of their types) {
  seats_fixture f;
  CAF_CHECK(!f.s.claim(1, {}, {.best = {.count = 2}}));
  CAF_CHECK_EQUAL(f.seats_of(1), "A-3 A-4");
  CAF_REQUIRE_EQUAL(f.s.claim_of(1).items.size(), 1u);
  CAF_CHECK(f.s.claim_of(1).items[0].quantity == 2 && f.s.claim_of(1).items[0].unit_price == 1'000);
  f.is_refused(f.s.claim(2, {}, {.best = {.count = 3, .ticket_type = f.s.type(1).id}}),
               reason::no_best_seats); // C-4 would be alone
  CAF_CHECK(!f.s.claim(2, {}, {.best = {.count = 4, .ticket_type = f.s.type(1).id}}));
  CAF_CHECK_EQUAL(f.seats_of(2), "C-1 C-2 C-3 C-4");
  f.is_refused(f.s.claim(3, {}, {.best = {.count = 6}}), reason::limit_exceeded); // max_per_order
  f.is_refused(f.s.claim(3, {}, {.best = {.count = 2, .section = "X"}}), reason::invalid_field);
  f.is_refused(f.s.claim(3, {f.units(0, 1)}, {.best = {.count = 2}}), reason::invalid_field);
  f.is_refused(f.s.claim(3, {}, {.best = {.count = 1, .ticket_type = f.s.type(1).id}}),
               reason::none_free); // held by fan 2
  CAF_CHECK(!f.s.claim(3, {f.units(0, 4)})); // an item without names: the best ones
  CAF_CHECK_EQUAL(f.seats_of(3), "B-1 B-2 B-3 B-4");
  f.sound();
}

CAF_TEST(best seats are of a type that the customer may buy in this number) {
  auto types = three_types();
  types[1].max_per_order = 6;
  types[2].hidden = true;
  sample_sale s{sample_event(), types};
  auto draft = draft_of_rows({"ssssss", "SSSSSS"});
  draft.ticket_types.push_back("Hidden");
  draft.sections[0].rows.push_back(row_of("C", "ssssss", 50, 850)); // the best row
  for (auto& seat : draft.sections[0].rows.back().seats) seat.type = 2;
  s.give_plan(make_plan(draft).plan, {0, 1, 2});
  s.join_all(1, 9);
  CAF_CHECK(!s.invite({1}, {s.type(2).id, 1, never}));
  CAF_CHECK(!s.claim(1, {}, {.best = {.count = 6}})); // neither the hidden nor the first type
  CAF_CHECK_EQUAL(s.type(1).held, 6);
  CAF_CHECK_EQUAL(s.it->seats()->seats_of(s.claim_of(1).id).size(), 6u);
  CAF_CHECK(s.claim(2, {}, {.best = {.count = 6}}).why == reason::none_free); // held by fan 1
  CAF_CHECK(s.claim(2, {}, {.best = {.count = 7}}).why == reason::limit_exceeded);
  CAF_CHECK_EQUAL(what_is_wrong(s), "");
}

CAF_TEST(free seats of several types that do not stand together are no accessible group) {
  sample_sale s{sample_event(), three_types()};
  s.give_plan(make_plan(draft_of_rows({"a", "S"})).plan, {0, 1});
  s.join(1);
  CAF_CHECK(s.claim(1, {}, {.best = {.count = 2, .accessible = 1}}).why == reason::no_best_seats);
}

CAF_TEST(a claim names no more accessible seats than it asks for) {
  seats_fixture f;
  f.s.give_plan(make_plan(draft_of_rows({"acssca", "ssss"})).plan, {0, 0}, {.singles = single_rule::off});
  f.is_refused(f.s.claim(1, {f.named(0, {"A-1", "A-6"})}, {.asks_accessible = 1}),
               reason::seat_accessible_only, "A-1 A-6");
  CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-1", "A-2"})}, {.asks_accessible = 1}));
  f.sound();
}

CAF_TEST(a number of tickets has the accessible seats that it asks for if no other item has seats) {
  seats_fixture f;
  f.s.give_plan(make_plan(draft_of_rows({"acssca", "SSSS"})).plan, {0, 1}, {.singles = single_rule::off});
  CAF_CHECK(!f.s.claim(1, {f.units(0, 2)}, {.asks_accessible = 1}));
  CAF_CHECK(f.seats_of(1) == "A-1 A-2" || f.seats_of(1) == "A-5 A-6");
  f.is_refused(f.s.claim(3, {f.units(1, 1)}, {.asks_accessible = 1}), reason::no_best_seats);
}

CAF_TEST(a wish for accessible seats is not dropped if two items have seats) {
  seats_fixture f;
  f.s.give_plan(make_plan(draft_of_rows({"acssca", "SSSS"})).plan, {0, 1}, {.singles = single_rule::off});
  const seat_wish one{.asks_accessible = 1};
  f.is_refused(f.s.claim(1, {f.units(0, 1), f.units(1, 1)}, one), reason::seat_accessible_unclear);
  f.is_refused(f.s.claim(1, {f.named(0, {"A-3"}), f.units(1, 1)}, one), reason::seat_accessible_unclear);
  order_wish wish;
  wish.items = {f.units(0, 1), f.units(1, 1)};
  wish.seats = one;
  quote_view quoted;
  f.is_refused(f.s.it->quote(fan(1), wish, f.s.now, quoted), reason::seat_accessible_unclear);
  CAF_CHECK(!f.s.claim(1, {f.units(0, 1), f.units(1, 1)}));
  CAF_CHECK(!f.s.claim(2, {f.named(0, {"A-1"}), f.units(1, 1)}, one)); // the named one is it
  CAF_CHECK(!f.s.claim(3, {f.named(0, {"A-5", "A-6"}), f.named(1, {"B-1"})}, one));
  f.sound();
}

CAF_TEST(a claim without wishes has the best seat) {
  seats_fixture f;
  CAF_CHECK(!f.s.claim(1));
  CAF_CHECK_EQUAL(f.seats_of(1), "A-3");
  f.sound();
}

CAF_TEST(enough seats that do not stand together are no best seats) {
  seats_fixture f;
  CAF_CHECK(!f.s.set_seats({{"A-2", "A-4", "A-6", "B-1", "B-3", "B-5"}, {true, true}}));
  f.is_refused(f.s.claim(1, {f.units(0, 2)}), reason::no_best_seats);
  CAF_CHECK(!f.s.claim(1, {f.units(0, 1)}));
  f.sound();
}

CAF_TEST(seats come back with a release an expiry and a failed payment) {
  seats_fixture f;
  CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-1", "A-2"})}));
  CAF_CHECK(!f.s.release(1, f.s.claim_of(1).id));
  CAF_CHECK(f.state("A-1") == seat_state::free);
  f.sound();
  CAF_CHECK(!f.s.claim(2, {f.named(0, {"A-1", "A-2"})}));
  f.s.pass(f.s.it->event().queue.session_ttl);
  CAF_CHECK(f.state("A-1") == seat_state::free);
  f.sound();
  f.s.join(3);
  CAF_REQUIRE(!f.s.order(3, {f.named(0, {"A-1", "A-2"})}).no);
  CAF_CHECK(!f.s.cancel_order(3, f.s.order_of(3).id));
  f.s.closed(f.s.payment_of(f.s.order_of(3)).id);
  CAF_CHECK(f.state("A-1") == seat_state::free);
  f.sound();
}

CAF_TEST(event tickets carry the seats and a refund names them) {
  seats_fixture f;
  const auto order = f.bought(1, {f.named(0, {"A-3", "A-4", "A-5", "A-6"})});
  std::set<std::string> seats;
  for (const auto& t : f.s.it->views_of(f.s.it->event_tickets().of_claim(order.claim))) seats.insert(t.seat);
  CAF_CHECK(seats == (std::set<std::string>{"A-3", "A-4", "A-5", "A-6"}));
  f.is_refused(f.s.refund_order(order.id, {f.named(0, {"B-1"})}), reason::invalid_field,
               "items.seats: not a seat of this order: B-1");
  CAF_CHECK(!f.s.refund_order(order.id, {f.named(0, {"A-3"})}));
  CAF_CHECK(f.state("A-3") == seat_state::sold); // until the gateway has made it
  f.s.refunded(*f.s.refund_asked());
  const auto told = domain_events_of(f.s.last.content, sample_aggregate);
  CAF_CHECK_EQUAL(std::ranges::count(told, topic::ticket_cancelled, &domain_event::topic), 1);
  CAF_CHECK(f.state("A-3") == seat_state::free);
  CAF_CHECK_EQUAL(f.seats_of(1), "A-4 A-5 A-6");
  f.sound();
  CAF_CHECK(!f.s.refund_order(order.id, {f.units(0, 1)})); // by quantity: the last
  f.s.refunded(*f.s.refund_asked());
  CAF_CHECK_EQUAL(f.seats_of(1), "A-4 A-5");
  CAF_CHECK(!f.s.refund_order(order.id));
  f.s.refunded(*f.s.refund_asked());
  CAF_CHECK(f.s.claim_of(1).status == claim_status::refunded);
  CAF_CHECK(f.state("A-4") == seat_state::free);
  f.sound();
  CAF_CHECK(!f.s.claim(2, {f.named(0, {"A-3", "A-4"})}));
  f.sound();
}

CAF_TEST(late money takes the same seats if all are free) {
  for (const bool is_gone : {false, true}) {
    seats_fixture f{{.singles = single_rule::off}};
    CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-3", "A-4"})}));
    const auto payment = f.s.pay(1).payment;
    f.s.initialized(payment);
    f.s.pass(f.s.it->event().queue.session_ttl);
    f.s.closed(payment); // the gateway says so, and was wrong
    CAF_CHECK(f.state("A-3") == seat_state::free);
    f.s.join(11);
    if (is_gone) CAF_CHECK(!f.s.claim(11, {f.named(0, {"A-4"})}));
    CAF_CHECK(!f.s.captured(payment));
    CAF_CHECK_EQUAL(f.s.payment(payment).status == payment_status::confirmed, !is_gone);
    CAF_CHECK(f.state("A-3") == (is_gone ? seat_state::free : seat_state::sold));
    if (!is_gone) CAF_CHECK_EQUAL(f.seats_of(1), "A-3 A-4");
    if (is_gone) CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
    f.sound();
  }
}

CAF_TEST(late money does not buy seats that became another ticket type) {
  seats_fixture f;
  CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-1", "A-2"})}));
  const auto payment = f.s.pay(1).payment;
  f.s.initialized(payment);
  f.s.pass(f.s.it->event().queue.session_ttl);
  f.s.closed(payment);
  CAF_CHECK(!f.s.set_seats({{"A-1"}, {}, f.s.type(1).id}));
  CAF_CHECK(!f.s.captured(payment));
  CAF_CHECK(f.s.payment(payment).status == payment_status::refund_pending);
  f.sound();
}

CAF_TEST(the organizer blocks releases and moves seats while the event sells) {
  seats_fixture f;
  CAF_CHECK_EQUAL(f.s.type(0).total, 12);
  CAF_CHECK_EQUAL(f.s.type(2).total, 5);
  CAF_CHECK(!f.s.set_seats({{"A-1", "A-2"}, {true, true}}));
  CAF_CHECK_EQUAL(f.s.type(0).total, 10);
  f.is_refused(f.s.claim(1, {f.named(0, {"A-1", "A-2"})}), reason::seat_taken, "A-1 A-2");
  CAF_CHECK(!f.s.set_seats({{"A-1", "A-2", "A-3"}, {}, f.s.type(1).id})); // two of them are blocked
  CAF_CHECK_EQUAL(f.s.type(0).total, 9);
  CAF_CHECK_EQUAL(f.s.type(1).total, 5);
  f.sound();
  CAF_CHECK(!f.s.set_seats({{"A-1", "A-2"}, {true, false}}));
  CAF_CHECK_EQUAL(f.s.type(1).total, 7);
  CAF_CHECK(!f.s.claim(1, {f.named(1, {"A-1", "A-2", "A-3"})}));
  f.is_refused(f.s.set_seats({{"A-3", "A-4"}, {true, true}}), reason::seat_taken, "A-3");
  f.is_refused(f.s.set_seats({{"A-3", "A-4"}, {}, f.s.type(0).id}), reason::seat_taken, "A-3");
  f.is_refused(f.s.set_seats({{"A-4"}, {}, f.s.type(2).id}), reason::invalid_field); // standing places
  f.is_refused(f.s.set_seats({{"A-9"}, {true, true}}), reason::invalid_field, "seats: no such seat: A-9");
  f.is_refused(f.s.set_seats({{}, {true, true}}), reason::invalid_field);
  f.is_refused(f.s.set_seats({{"A-1"}}), reason::invalid_field); // nothing to change
  f.is_refused(f.s.set_seats({{"A-4", "A-4"}, {true, true}}), reason::invalid_field);
  event_patch total;
  ticket_type_patch t;
  t.values.id = f.s.type(0).id;
  t.set(&ticket_type_row::total, std::int64_t{99});
  total.ticket_types.push_back(t);
  f.is_refused(f.s.patch(total), reason::invalid_field, "ticket_types.total: follows the seat plan");
}

CAF_TEST(the organizer changes the rules of choices while the event sells) {
  seats_fixture f;
  CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-3", "A-4"})}));
  const auto relaxed = [&](std::uint64_t n) { return f.s.claim(n, {f.named(1, {"C-1", "C-2", "C-3"})}); };
  f.is_refused(relaxed(2), reason::seat_single, "C-4");
  const auto plan = f.s.it->seats()->map().shared_plan();
  const auto shown = f.s.it->seats()->map().version();
  CAF_CHECK(!f.s.set_seats({.singles = {true, 2}}));
  CAF_CHECK(f.s.it->seats()->map().shared_plan() == plan && f.s.it->seats()->map().version() > shown);
  CAF_CHECK_EQUAL(f.seats_of(1), "A-3 A-4");
  f.sound();
  CAF_CHECK(!relaxed(2));
  CAF_CHECK(!f.s.set_seats({.seats = {"A-1"}, .is_blocked = {true, true}, .may_split = {true, true}}));
  CAF_CHECK(f.state("A-1") == seat_state::blocked && f.s.ledger.plan->may_split);
  CAF_CHECK_EQUAL(f.s.ledger.plan->singles, 2); // those that are not named stay
  f.is_refused(f.s.set_seats({.singles = {true, 3}}), reason::invalid_field, "singles: no such rule");
  f.is_refused(f.s.set_seats({.is_blocked = {true, true}, .may_split = {true, true}}), reason::invalid_field);
  f.is_refused(f.s.set_seats({.seats = {"A-1"}, .may_split = {true, true}}), reason::invalid_field);
  f.sound();
}

CAF_TEST(wheelchair places become free for all while the event sells) {
  seats_fixture f;
  f.s.give_plan(make_plan(draft_of_rows({"acssca", "SSSS"})).plan, {0, 1}, {.singles = single_rule::off});
  f.is_refused(f.s.claim(1, {f.named(0, {"A-1", "A-2"})}), reason::seat_accessible_only);
  CAF_CHECK(!f.s.set_seats({.accessible_for_all = {true, true}}));
  CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-1", "A-2"})}));
  f.sound();
  CAF_CHECK(!f.s.set_seats({.accessible_for_all = {true, false}}));
  f.is_refused(f.s.claim(2, {f.named(0, {"A-5", "A-6"})}), reason::seat_accessible_only);
}

CAF_TEST(an event whose seats are all blocked can still be changed) {
  seats_fixture f;
  CAF_CHECK(!f.s.set_seats({{"C-1", "C-2", "C-3", "C-4"}, {true, true}}));
  CAF_CHECK_EQUAL(f.s.type(1).total, 0);
  event_patch p;
  p.set(&event_row::name, std::string{"Another name"});
  CAF_CHECK(!f.s.patch(p));
  f.is_refused(f.s.claim(1, {f.units(1, 1)}), reason::none_free);
}

CAF_TEST(a draft gets a plan another one and none) {
  auto event = sample_event();
  event.status = event_status::draft;
  sample_sale s{event, three_types()};
  const auto set = [&](std::shared_ptr<const seat_plan> plan, const std::vector<std::size_t>& types) {
    std::vector<ticket_type_id> ids;
    for (const auto i : types) ids.push_back(s.type(i).id);
    s.last = {};
    auto no = s.it->set_plan(std::move(plan), ids, {}, s.now, s.last);
    s.settle();
    CAF_CHECK_EQUAL(what_is_wrong(s), "");
    return no;
  };
  const auto plan = make_plan(small_hall()).plan;
  CAF_CHECK(set(plan, {0, 1}).why == reason::invalid_field);
  CAF_CHECK(set(plan, {0, 1, 0}).why == reason::invalid_field); // seats and standing places
  CAF_CHECK(!set(plan, {0, 0, 1}));
  CAF_CHECK_EQUAL(s.type(0).total, 16);
  CAF_CHECK_EQUAL(s.type(1).total, 5);
  CAF_CHECK(!s.set_seats({{"A-1"}, {true, true}}));
  CAF_CHECK(!set(plan, {1, 0, 2}));
  CAF_CHECK_EQUAL(s.type(1).total, 12);
  CAF_CHECK(s.ledger.seat_settings.empty());
  CAF_CHECK(!set(nullptr, {}));
  CAF_CHECK(s.it->seats() == nullptr && !s.ledger.plan);
  const auto shown = [&] { return s.it->seats()->map().version(); };
  CAF_CHECK(!set(plan, {0, 1, 2}));
  CAF_CHECK(!s.set_seats({{"C-1", "C-2", "C-3", "C-4"}, {true, true}}));
  const auto earlier = shown();
  CAF_CHECK(!set(nullptr, {}));
  CAF_CHECK_EQUAL(s.type(1).total, 1); // not 0, which an event without a plan cannot have
  const auto one_type = make_plan(draft_of_rows({"ss"})).plan; // the second one has no seat
  CAF_CHECK(set(one_type, {0, 1}).why == reason::invalid_field);
  CAF_CHECK(!set(one_type, {0, 0}));
  CAF_CHECK(shown() > earlier); // a reader of the earlier plan takes the whole map
  CAF_CHECK(!set(plan, {0, 1, 2}));
  CAF_CHECK(!s.change_status(event_trigger::activate));
  CAF_CHECK(set(nullptr, {}).why == reason::invalid_transition);
}

CAF_TEST(a decision whose seats are not free fails) {
  seating seats{make_plan(small_hall()).plan, {0, 1, 2}, {}, 1};
  const claim_id ann{1, 1}, bob{1, 2};
  const std::vector<seat_number> two{0, 1}, other{4};
  changes out;
  seats.hold(ann, two, out);
  const auto fails = [](auto decide) {
    try {
      decide();
      return false;
    } catch (const std::logic_error&) { return true; }
  };
  const auto told = out.size();
  CAF_CHECK(fails([&] { seats.hold(bob, two, out); }));
  CAF_CHECK(fails([&] { seats.sell_again(ann, bob, out); }));
  CAF_CHECK(fails([&] { seats.take_back(ann, two, out); })); // held, not sold
  CAF_CHECK(fails([&] { seats.take_back(ann, other, out); }));
  CAF_CHECK_EQUAL(out.size(), told);
}

CAF_TEST(seats of claims that an older program ended are free) {
  seats_fixture f;
  CAF_CHECK(!f.s.claim(1, {f.named(0, {"A-1", "A-2"})}));
  CAF_CHECK(!f.s.release(1, f.s.claim_of(1).id));
  for (auto& [key, row] : f.s.ledger.claim_seats) row.is_live = true; // it does not know them
  f.s.reload();
  CAF_CHECK(f.state("A-1") == seat_state::free);
  f.s.pass(milliseconds{0});
  for (const auto& [key, row] : f.s.ledger.claim_seats) CAF_CHECK(!row.is_live);
  f.sound();
  CAF_CHECK(!f.s.claim(2, {f.named(0, {"A-1", "A-2"})}));
  f.sound();
}

CAF_TEST(a plan that cannot be read loads no sale) {
  seats_fixture f;
  f.s.ledger.plan->content += "x\n";
  try {
    f.s.reload();
    CAF_ERROR("it was loaded");
  } catch (const std::runtime_error& e) { CAF_CHECK_EQUAL(std::string{e.what()}.find("the seat plan"), 0u); }
}

CAF_TEST(an audit takes the plan of the owner unless the ledger has another one) {
  seats_fixture f;
  const auto& owned = *f.s.it->seats();
  auto row = owned.row();
  const seating same{row, 0, &owned};
  CAF_CHECK(same.map().shared_plan() == owned.map().shared_plan());
  row.content.replace(row.content.find("Balkon"), 6, "Galery");
  const seating other{row, 0, &owned};
  CAF_CHECK_EQUAL(other.map().plan().ticket_types()[1], "Galery");
}

CAF_TEST(the audit of seats finds what a ledger could have wrong) {
  seats_fixture f;
  f.bought(1, {f.named(0, {"A-1", "A-2"})});
  f.s.claim(2, {f.named(0, {"A-3", "A-4"})});
  const auto found = [&](auto falsify) {
    const auto sound = f.s.ledger;
    falsify(f.s.ledger);
    const auto line = audit_says(f.s);
    f.s.ledger = sound;
    return line.find("I1: ") != std::string::npos;
  };
  CAF_CHECK(found([](naive_ledger& l) { l.claim_seats.begin()->second.is_live = false; }));
  CAF_CHECK(found([](naive_ledger& l) { l.claim_seats.begin()->second.ticket_type = 1; }));
  CAF_CHECK(found([](naive_ledger& l) {
    auto& last = l.claim_seats.rbegin()->second; // two claims have one seat
    last.seat = l.claim_seats.begin()->second.seat;
  }));
  CAF_CHECK(found([](naive_ledger& l) { l.seat_settings[11] = {11, 0, true}; }));
  CAF_CHECK(found([](naive_ledger& l) { l.event_tickets.begin()->second.seat = 0; }));
  CAF_CHECK(found([](naive_ledger& l) { l.event_tickets.begin()->second.seat = 3; }));
  CAF_CHECK(found([](naive_ledger& l) { l.plan->types = "0 1"; }));
  CAF_CHECK(found([](naive_ledger& l) { // a seat more, of a type that the claim does not have
    const auto claim = l.claim_seats.begin()->first.first;
    l.claim_seats[{claim, 14}] = {claim, 14, 1, true};
  }));
  CAF_CHECK(found([](naive_ledger& l) {
    const auto claim = l.claim_seats.begin()->first.first;
    l.claim_seats[{claim, 99}] = {claim, 99, 0, false};
  }));
  f.sound();
}

CAF_TEST(the audit compares settings of seats with the owners) {
  seats_fixture f;
  const auto& memory = *f.s.it;
  std::vector<seat_setting_row> stored;
  const auto differ = [&](const changes& later = {}) {
    audited_memory known{memory.event(), memory.stock().types()};
    known.apply(later);
    const auto& l = f.s.ledger;
    return !differences(known, {l.event,
                                l.types,
                                {},
                                {},
                                {},
                                {},
                                {},
                                {},
                                {},
                                true,
                                {},
                                &*l.plan,
                                stored,
                                {},
                                {},
                                memory.seats()})
              .empty();
  };
  CAF_CHECK(!differ());
  stored = {{3, 0, false}}; // as in the plan: it was blocked for a while
  CAF_CHECK(!differ());
  stored = {{3, 0, true}};
  CAF_CHECK(differ());
  const changes blocked{change{std::in_place_type<seats_set>, seats_set{stored}}};
  CAF_CHECK(is_audited(blocked.front()) && !differ(blocked));
  stored = {{3, 1, true}};
  CAF_CHECK(differ(blocked));
  stored.clear();
  CAF_CHECK(differ(blocked));
}

} // namespace sale_seats_test
