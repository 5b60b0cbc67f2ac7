// SPDX-License-Identifier: Apache-2.0
// The comparison of an event's memory with the ledger during a sale.
#define CAF_SUITE audit
#include "domain/seats/plan_text.hpp"
#include "tests/actors/base/fixture.hpp"

#include <algorithm>

namespace audit_test {

using namespace fq;
using namespace fq::test;

namespace {

struct audit_fixture : fixture {
  owner_services services;
  event_row event;
  event_handle owner;
  ledger_worker_handle reader =
    sys.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&env),
              ledger_worker_settings{.prune_interval = 24h});

  audit_fixture() {
    keep(reader);
    event = put_event(30, one_by_one());
    services.env = &env;
    services.sessions = &sessions;
    services.ledgers = ledger_workers{{worker}, {reader}};
    owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                           supervisor_handle{}));
    run();
  }
  ~audit_fixture() {
    services.ledgers.clear();
    kill(owner);
    owner = nullptr;
  }
  static queue_settings one_by_one() {
    queue_settings q;
    q.policy = admission_policy::capacity;
    q.concurrency = 2;
    return q;
  }
  auto join_as(std::uint64_t n) { return ask<entry_reply>(owner, join{event.id, customer(n), 0}); }
  auto leave_as(std::uint64_t n) { return ask<ack_reply>(owner, leave{event.id, customer(n)}); }
  auto verify() { return ask<ledger_report>(owner, verify_ledger{}); }
  /// Writes to the ledger directly, with the owner's epoch.
  void falsify(change what) {
    const auto head = store.peek(event.aggregate).head;
    batch b;
    b.aggregate = event.aggregate;
    b.epoch = head.epoch;
    b.from_seq = head.applied_seq;
    b.to_seq = head.applied_seq + 1;
    b.at = head.committed_at;
    b.content.push_back(std::move(what));
    CAF_REQUIRE(store.commit(std::span{&b, 1})[0] == commit_outcome::committed);
  }
  /// Starts the owner anew with a plan of as many seats as the event's units.
  seating give_plan() {
    kill(owner);
    plan_draft hall;
    hall.ticket_types = {"One"};
    auto& row = hall.sections.emplace_back().rows.emplace_back();
    row.label = "A";
    for (int i = 0; i < 30; ++i) {
      draft_seat seat;
      seat.label = std::to_string(i + 1);
      seat.at = {50 * i, 100};
      row.seats.push_back(std::move(seat));
    }
    seating seats{make_plan(hall).plan, {0}, {}, 1};
    falsify(event_plan_set{seats.row()});
    owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                           supervisor_handle{}));
    run();
    return seats;
  }
  seat_plan_reply find_plan(managed what, std::string known = {}) {
    auto found = ask<seat_plan_reply>(owner, find_seat_plan{std::move(what), std::move(known)});
    run();
    CAF_REQUIRE(found->ok && !found->value.no);
    return found->value;
  }
  /// Of one unit, by a program without event tickets.
  void put_purchase(std::uint64_t n) {
    claim_row claim;
    claim.id = make_uuid(env.wall_now(), event.aggregate, n);
    claim.customer = customer(n);
    claim.status = claim_status::confirmed;
    claim.items = {{.ticket_type = 0, .quantity = 1}};
    falsify(claim_opened{claim});
    falsify(stock_moved{0, 0, 1});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(audit_tests, audit_fixture)

CAF_TEST(memory and ledger of a quiet sale agree) {
  for (std::uint64_t n = 1; n <= 5; ++n) join_as(n);
  run();
  auto report = verify();
  run();
  CAF_REQUIRE(report->ok);
  CAF_CHECK(report->value.was_read);
  CAF_CHECK(report->value.differences.empty());
}

CAF_TEST(they agree although the sale goes on while the ledger is read) {
  for (std::uint64_t n = 1; n <= 5; ++n) join_as(n);
  run();
  auto report = verify();
  run_without(reader); // requested, not answered
  CAF_CHECK(report->open());
  for (std::uint64_t n = 6; n <= 9; ++n) {
    join_as(n);
    leave_as(n - 5);
    run_without(reader);
  }
  auto last = join_as(10);
  run_without(worker); // decided, but not in the ledger when it is read
  CAF_CHECK(last->open());
  CAF_CHECK(report->ok);
  CAF_CHECK(report->value.was_read);
  for (const auto& line : report->value.differences) CAF_MESSAGE(line);
  CAF_CHECK(report->value.differences.empty());
}

CAF_TEST(an audit begun in the middle of a batch waits for the next boundary) {
  join_as(1);
  run_without(worker);
  join_as(2); // waits for the batch in flight
  run_without(worker);
  auto report = verify();
  run_without(worker);
  CAF_CHECK(report->open());
  run();
  CAF_CHECK(report->ok && report->value.was_read && report->value.differences.empty());
}

CAF_TEST(what somebody else wrote into the ledger is found) {
  join_as(1);
  run();
  falsify(stock_moved{0, 1, 0});
  auto report = verify();
  run();
  CAF_REQUIRE(report->ok);
  CAF_REQUIRE_EQUAL(report->value.differences.size(), 2u);
  CAF_CHECK(report->value.differences[0].find("counts 1 held, its claims hold 0") != std::string::npos);
  CAF_CHECK(report->value.differences[1].find("memory: stock") == 0u);
}

CAF_TEST(a lock that only the ledger has is found) {
  auto place = join_as(1);
  run();
  falsify(lock_taken{{"A-1", place->value.entry.number, env.wall_now()}});
  auto report = verify();
  run();
  CAF_REQUIRE(report->ok);
  CAF_REQUIRE_EQUAL(report->value.differences.size(), 1u);
  CAF_CHECK_EQUAL(report->value.differences[0], "memory: the ledger has other locks of sessions");
}

CAF_TEST(a setting that differs in the ledger is found) {
  run();
  auto other = *store.peek(event.aggregate).image.event;
  other.message = "Doors open late.";
  other.queue.concurrency = 9;
  falsify(event_changed{other.status, other});
  auto report = verify();
  run();
  CAF_REQUIRE(report->ok);
  CAF_REQUIRE_EQUAL(report->value.differences.size(), 2u);
  CAF_CHECK_EQUAL(report->value.differences[0], "memory: the event has another message in the ledger");
  CAF_CHECK_EQUAL(report->value.differences[1], "memory: the event has another concurrency in the ledger");
}

CAF_TEST(purchases of an older program are no difference while they get their event tickets) {
  kill(owner);
  for (std::uint64_t n = 1; n <= 2; ++n) put_purchase(n);
  services.rules.bounds.rows_per_run = 1;
  owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                         supervisor_handle{}));
  run();
  const auto tickets = [&] { return store.peek(event.aggregate).image.event_tickets; };
  const auto differs = [&] {
    auto report = verify();
    run();
    CAF_REQUIRE(report->ok && report->value.was_read);
    return !report->value.differences.empty();
  };
  auto joined = join_as(9); // is not made to wait for it
  run();
  CAF_CHECK(joined->ok && tickets().empty() && !differs());
  advance(1ms);
  CAF_CHECK(tickets().size() == 1u && !differs());
  advance(1ms);
  CAF_REQUIRE(tickets().size() == 2u && !differs());
  auto lost = tickets()[0];
  lost.status = event_ticket_status::cancelled;
  falsify(event_ticket_moved{event_ticket_status::issued, lost});
  CAF_CHECK(differs());
}

CAF_TEST(while the ledger answers late no batch of event tickets grows) {
  kill(owner);
  for (std::uint64_t n = 1; n <= 20; ++n) put_purchase(n);
  services.rules.bounds.rows_per_run = 1;
  owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                         supervisor_handle{}));
  run();
  for (int i = 0; i < 40; ++i) {
    sched.advance_time(1ms);
    run_without(worker);
  }
  run(); // the batch in flight, and all that is pending
  const auto tickets = [&] { return store.peek(event.aggregate).image.event_tickets.size(); };
  CAF_CHECK(tickets() >= 1 && tickets() <= 3);
  for (int i = 0; i < 40; ++i) advance(100ms);
  CAF_CHECK_EQUAL(tickets(), 20u);
}

CAF_TEST(settings of seats are compared and a plan is sent to readers without it) {
  const auto seats = give_plan();
  const managed anybody{event.id, {}};
  const auto plan = find_plan(anybody);
  CAF_CHECK(plan.plan == *seats.text() && plan.digest.size() == 64);
  const auto again = find_plan(anybody, plan.digest);
  CAF_CHECK(again.plan.empty() && again.digest == plan.digest);
  CAF_CHECK(find_plan(anybody, "another").plan == plan.plan);
  auto before = verify();
  run();
  CAF_CHECK(before->value.was_read && before->value.differences.empty());
  falsify(seats_set{{{3, 0, true}}});
  auto after = verify();
  run();
  CAF_CHECK_EQUAL(
    std::ranges::count(after->value.differences, "memory: the ledger has other settings of seats"), 1);
}

CAF_TEST(only managers read the names of hidden ticket types in a plan) {
  const auto seats = give_plan();
  const managed anybody{event.id, {}};
  const auto manager = managed_by_organizer(event);
  auto event_shown = ask<event_reply>(owner, find_event{manager});
  run();
  CAF_REQUIRE(event_shown->ok);
  const auto type = event_shown->value.event.ticket_types.front().id;
  const auto hide = [&](bool is_hidden) {
    event_patch patch;
    ticket_type_patch t;
    t.values.id = type;
    t.set(&ticket_type_row::hidden, is_hidden);
    patch.ticket_types = {t};
    auto done = ask<event_reply>(owner, patch_event{manager, {}, patch});
    run();
    CAF_REQUIRE(done->ok && !done->value.no);
  };
  const auto shown = find_plan(anybody);
  CAF_CHECK(shown.plan == *seats.text());
  hide(true);
  const auto without = find_plan(anybody, shown.digest);
  const auto plan = plan_of_text(without.plan);
  CAF_REQUIRE(plan != nullptr);
  CAF_CHECK((plan->ticket_types() == std::vector{to_string(type)}));
  CAF_CHECK(std::ranges::equal(plan->seats(), seats.map().plan().seats()));
  CAF_CHECK(find_plan(manager, without.digest).plan == *seats.text());
  CAF_CHECK(find_plan(manager).digest == shown.digest);
  hide(false);
  CAF_CHECK(find_plan(anybody, without.digest).plan == *seats.text());
}

CAF_TEST(a commit that the ledger has lost is found) {
  store.sync();
  join_as(1);
  run();
  store.crash();
  auto report = verify();
  run();
  CAF_REQUIRE(report->ok);
  CAF_REQUIRE_EQUAL(report->value.differences.size(), 1u);
  CAF_CHECK_EQUAL(report->value.differences[0], "the ledger has lost commits that it had acknowledged");
}

CAF_TEST(who asks while an audit is under way gets its answer) {
  auto first = verify();
  auto second = verify();
  run();
  CAF_CHECK(first->ok && first->value.was_read);
  CAF_CHECK(second->ok && second->value.was_read);
}

CAF_TEST(an owner that ends leaves no audit open) {
  auto report = verify();
  run_without(reader);
  CAF_CHECK(report->open());
  kill(owner);
  CAF_CHECK(report->unavailable());
}

CAF_TEST(a public log that is not that of the line is found) {
  join_as(1);
  join_as(2);
  run();
  advance(3s);
  auto sound = verify();
  run();
  CAF_REQUIRE(sound->ok);
  CAF_CHECK(sound->value.differences.empty());
  auto kept = log_kept{*store.peek(event.aggregate).image.log, {}};
  kept.state.root.front() = static_cast<char>(kept.state.root.front() + 1);
  falsify(kept);
  auto report = verify();
  run();
  CAF_REQUIRE(report->ok);
  CAF_CHECK((report->value.differences
             == std::vector<std::string>{"the public log has another root than its records"}));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace audit_test
