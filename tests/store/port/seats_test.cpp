// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: seat plans, the plan of an event, its settings and the seats of claims.
#define CAF_SUITE store_seats
#include "tests/store/port/engines.hpp"

namespace seats_test {

using namespace fq;
using namespace fq::test;

namespace {

seat_plan_row sample_plan(std::uint64_t n, std::uint64_t organizer = 1, tenant_id tenant = default_tenant) {
  return {
    id_of(n, catalog_aggregate), tenant, id_of(organizer, accounts_aggregate), "Hall " + std::to_string(n),
    "p\tHall\t0\t0\n",           noon};
}

const event_plan_row hall{"p\tHall\t0\t0\nt\tOne\n", "0 1", 1, true, false};

change taken(const claim_row& claim, const std::vector<std::uint32_t>& seats) {
  seats_taken t;
  for (const auto n : seats) t.rows.push_back({claim.id, n, 1, true});
  return t;
}

/// With the plan and two claims.
struct seated {
  explicit seated(world& from) : w(from) {
    FQ_COMMITS(w.put({event_plan_set{hall}, claim_opened{ann}, claim_opened{bob}}));
  }
  world& w;
  claim_row ann = sample_claim(1, 1), bob = sample_claim(2, 2);
};

} // namespace

CAF_TEST(seat plans are stored listed and removed by tenant and organizer) {
  on_every_engine([](ledger& store) {
    owner me(store);
    me.take(catalog_aggregate);
    me.take(accounts_aggregate);
    const tenant_id other{2};
    FQ_COMMITS(me.put(accounts_aggregate, {tenant_stored{{other, "other", "{}", {}, noon}}}));
    auto first = sample_plan(1), second = sample_plan(2, 2), third = sample_plan(3);
    auto shared_one = sample_plan(6);
    shared_one.organizer = {}; // the tenant's
    const auto foreign = sample_plan(4, 1, other);
    FQ_COMMITS(
      me.put(catalog_aggregate, {seat_plan_stored{first}, seat_plan_stored{second}, seat_plan_stored{third},
                                 seat_plan_stored{shared_one}, seat_plan_stored{foreign}}));
    FQ_CONFLICTS(me.put(catalog_aggregate, {seat_plan_stored{sample_plan(5, 1, tenant_id{99})}}));
    first.name = "Another";
    first.content = "p\tAnother\t0\t0\n";
    FQ_COMMITS(me.put(catalog_aggregate, {seat_plan_stored{first}}));
    const auto one = store.list_seat_plans({.id = first.id});
    CAF_CHECK((one == std::vector{first}));
    CAF_CHECK(store.list_seat_plans({.tenant = other, .id = first.id}).empty());
    CAF_CHECK(store.list_seat_plans({.organizer = second.organizer, .id = first.id}).empty());
    CAF_CHECK((store.list_seat_plans({.organizer = second.organizer, .id = shared_one.id})
               == std::vector{shared_one}));
    for (auto* row : {&first, &second, &third, &shared_one}) row->content.clear();
    CAF_CHECK((store.list_seat_plans({}) == std::vector{first, second, third, shared_one}));
    CAF_CHECK(
      (store.list_seat_plans({.organizer = first.organizer}) == std::vector{first, third, shared_one}));
    CAF_CHECK((store.list_seat_plans({.organizer = organizer_id{}}) == std::vector{shared_one}));
    CAF_CHECK((store.list_seat_plans({.after = first.id, .limit = 1}) == std::vector{second}));
    FQ_COMMITS(me.put(catalog_aggregate, {seat_plan_removed{other, second.id}})); // not that tenant's
    FQ_COMMITS(me.put(catalog_aggregate, {seat_plan_removed{default_tenant, third.id}}));
    FQ_COMMITS(me.put(catalog_aggregate, {seat_plan_removed{default_tenant, third.id}}));
    CAF_CHECK((store.list_seat_plans({}) == std::vector{first, second, shared_one}));
  });
}

CAF_TEST(an event has one plan that leaves with its settings) {
  in_every_world([](world& w) {
    CAF_CHECK(!w.image().plan);
    FQ_CONFLICTS(w.put({seats_set{{{1, 0, true}}}})); // without a plan
    FQ_COMMITS(w.put({event_plan_removed{}})); // there is none
    FQ_COMMITS(w.put({event_plan_set{hall}, seats_set{{{3, 0, true}, {1, 1, false}}}}));
    CAF_CHECK(w.image().plan == hall);
    CAF_CHECK((w.image().seat_settings == std::vector<seat_setting_row>{{1, 1, false}, {3, 0, true}}));
    FQ_CONFLICTS(w.put({event_plan_set{hall}}));
    FQ_COMMITS(w.put({seats_set{{{3, 1, false}}}, seats_set{{{3, 1, true}, {4, 0, false}}}}));
    CAF_CHECK(
      (w.image().seat_settings == std::vector<seat_setting_row>{{1, 1, false}, {3, 1, true}, {4, 0, false}}));
    auto other = hall;
    other.singles = 3;
    FQ_CONFLICTS(w.put({event_plan_removed{}, event_plan_set{other}}));
    other.singles = 2;
    FQ_COMMITS(w.put({event_plan_removed{}, event_plan_set{other}}));
    CAF_CHECK(w.image().plan == other && w.image().seat_settings.empty());
    FQ_COMMITS(w.put({event_plan_removed{}}));
    CAF_CHECK(!w.image().plan);
  });
}

CAF_TEST(a seat has one live claim at every committed state) {
  in_every_world([](world& w) {
    const seated s(w);
    FQ_COMMITS(w.put({taken(s.ann, {7, 3})}));
    CAF_CHECK(
      (w.image().claim_seats == std::vector<claim_seat_row>{{s.ann.id, 3, 1, true}, {s.ann.id, 7, 1, true}}));
    FQ_CONFLICTS(w.put({taken(s.bob, {4, 7})}));
    FQ_CONFLICTS(w.put({taken(s.bob, {5, 5})}));
    FQ_CONFLICTS(w.put({taken(s.ann, {3})}));
    FQ_CONFLICTS(w.put({taken(sample_claim(9, 9), {1})})); // of no claim
    CAF_CHECK_EQUAL(w.image().claim_seats.size(), 2u);
    FQ_CONFLICTS(w.put({seats_ended{s.ann.id, {3, 4}}})); // it has no 4
    FQ_CONFLICTS(w.put({seats_ended{s.bob.id, {3}}}));
    FQ_COMMITS(w.put({seats_ended{s.ann.id, {7}}}));
    FQ_CONFLICTS(w.put({seats_ended{s.ann.id, {7}}}));
    FQ_CONFLICTS(w.put({taken(s.ann, {7})})); // a claim has a seat once
    FQ_COMMITS(w.put({taken(s.bob, {7})}));
    CAF_CHECK((w.image().claim_seats
               == std::vector<claim_seat_row>{
                 {s.ann.id, 3, 1, true}, {s.ann.id, 7, 1, false}, {s.bob.id, 7, 1, true}}));
    FQ_CONFLICTS(w.put({event_plan_removed{}}));
  });
}

CAF_TEST(the rules of a plan change while claims have its seats) {
  in_every_world([](world& w) {
    FQ_CONFLICTS(w.put({seat_rules_set{1, true, true}})); // without a plan
    const seated s(w);
    FQ_COMMITS(w.put({taken(s.ann, {3})}));
    FQ_COMMITS(w.put({seat_rules_set{1, true, true}, seat_rules_set{2, false, true}}));
    auto other = hall;
    other.singles = 2;
    other.may_split = false;
    other.accessible_for_all = true;
    CAF_CHECK(w.image().plan == other && w.image().claim_seats.size() == 1);
    FQ_CONFLICTS(w.put({seat_rules_set{3, false, false}}));
    CAF_CHECK(w.image().plan == other);
  });
}

CAF_TEST(a seat ends and is taken again within one batch in this order) {
  in_every_world([](world& w) {
    const seated s(w);
    const auto cay = sample_claim(3, 3);
    FQ_COMMITS(w.put({taken(s.ann, {1, 2})}));
    FQ_COMMITS(w.put({seats_ended{s.ann.id, {1}}, taken(s.bob, {1}), seats_ended{s.bob.id, {1}},
                      claim_opened{cay}, taken(cay, {1, 5})}));
    FQ_CONFLICTS(w.put({taken(s.bob, {2}), seats_ended{s.ann.id, {2}}})); // too early
    CAF_CHECK((w.image().claim_seats
               == std::vector<claim_seat_row>{{s.ann.id, 1, 1, false},
                                              {s.ann.id, 2, 1, true},
                                              {s.bob.id, 1, 1, false},
                                              {cay.id, 1, 1, true},
                                              {cay.id, 5, 1, true}}));
  });
}

CAF_TEST(seats need a plan and may be of several events) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    FQ_COMMITS(w.put({claim_opened{claim}}));
    FQ_CONFLICTS(w.put({taken(claim, {1})}));
    auto there = sample_claim(1, 1, {});
    FQ_COMMITS(w.me.put(catalog_aggregate, {event_created{sample_event(other_sale), {}}}));
    w.me.take(other_sale);
    FQ_COMMITS(w.put({event_plan_set{hall}, taken(claim, {1})}));
    FQ_COMMITS(w.me.put(other_sale, {event_plan_set{hall}, claim_opened{there}, taken(there, {1})}));
    CAF_CHECK_EQUAL(w.store.peek(other_sale).image.claim_seats.size(), 1u);
  });
}

CAF_TEST(an event ticket keeps its seat) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    auto ticket = sample_event_ticket(1, claim);
    ticket.seat = 100'000;
    FQ_COMMITS(w.put({claim_opened{claim}, event_ticket_issued{ticket}}));
    auto sent = ticket;
    sent.seat = 0;
    sent.status = event_ticket_status::cancelled;
    FQ_COMMITS(w.put({event_ticket_moved{event_ticket_status::issued, sent}}));
    CAF_CHECK_EQUAL(w.image().event_tickets.at(0).seat, 100'000u);
  });
}

} // namespace seats_test
