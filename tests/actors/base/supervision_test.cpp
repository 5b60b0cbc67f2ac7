// SPDX-License-Identifier: Apache-2.0
// Region, supervisor and owner together: first use, restarts, budget, escalation, passivation, waking.
#define CAF_SUITE supervision
#include "tests/actors/base/fixture.hpp"

#include "actors/base/limits.hpp"

namespace supervision_test {

using namespace fq;
using namespace fq::test;

namespace {

struct region_fixture : fixture {
  owner_services services;
  event_row event;
  region_handle root;

  void start(restart_budget budget = {}) {
    event = put_event(10);
    services.env = &env;
    services.sessions = &sessions;
    services.ledgers = ledgers;
    root = keep(sys.spawn(region, static_cast<const owner_services*>(&services), budget));
    run();
  }
  ~region_fixture() {
    if (root) caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
    run();
    root = nullptr;
    services.ledgers.clear();
  }
  /// An ended event with a purchase of two, which an older program or a killed node has left with `tickets`.
  void put_bought(aggregate_id aggregate, std::uint64_t tickets) {
    auto ended = put_event(10, {}, aggregate);
    ended.status = event_status::ended;
    claim_row claim;
    claim.id = make_uuid(env.wall_now(), aggregate, 1);
    claim.customer = customer(1);
    claim.status = claim_status::confirmed;
    claim.items = {{.ticket_type = 0, .quantity = 2}};
    const auto own = store.acquire_unleased(aggregate, never);
    batch b{aggregate, own->epoch, own->applied_seq, own->applied_seq + 1, env.wall_now(), {}};
    b.content.emplace_back(event_changed{event_status::active, ended});
    b.content.emplace_back(claim_opened{claim});
    b.content.emplace_back(stock_moved{0, 0, 2});
    for (std::uint64_t n = 0; n < tickets; ++n) {
      event_ticket_row ticket;
      ticket.id = make_uuid(env.wall_now(), aggregate, 2 + n);
      ticket.claim = claim.id;
      ticket.holder = claim.customer;
      b.content.emplace_back(event_ticket_issued{ticket});
    }
    CAF_REQUIRE(store.commit({&b, 1}).at(0) == commit_outcome::committed);
  }
  auto resolve(aggregate_id aggregate = first_event_aggregate) {
    auto a = ask<event_handle>(root, resolve_event{aggregate});
    run();
    return a;
  }
  supervisor_handle parent() { return state_of<region_handle, region_state>(root).find(event.aggregate); }
  void crash_owner() { kill(state_of<supervisor_handle, supervisor_state>(parent()).owner()); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(supervision_tests, region_fixture)

CAF_TEST(an active event is woken at the start and the same owner serves everybody) {
  start();
  CAF_CHECK(parent());
  auto a = resolve();
  auto b = resolve();
  CAF_REQUIRE(a->ok && b->ok);
  CAF_CHECK(a->value == b->value);
}

CAF_TEST(the region settles a few ended events at a time and each once) {
  const auto tickets = [&] {
    std::size_t count = 0;
    for (const auto a : store.aggregates()) count += store.peek(a).image.event_tickets.size();
    return count;
  };
  const std::uint32_t first = number_of(first_event_aggregate) + 1;
  const std::uint32_t count = 2 * events_settled_at_once + 1;
  for (std::uint32_t n = first; n < first + count; ++n) put_bought(aggregate_id{n}, n == first ? 1 : 0);
  CAF_REQUIRE_EQUAL(tickets(), 1u); // of the first event, when its node was killed
  start();
  const auto& owners = state_of<region_handle, region_state>(root);
  const auto running = [&] {
    std::size_t some = 0;
    for (std::uint32_t n = first; n < first + count; ++n) some += owners.find(aggregate_id{n}) ? 1 : 0;
    return some;
  };
  for (const std::size_t expected :
       {events_settled_at_once, 2 * events_settled_at_once, std::size_t{count}}) {
    CAF_CHECK_EQUAL(running(), expected);
    advance(services.takeover_interval);
  }
  CAF_CHECK_EQUAL(tickets(), 2u * count);
  put_bought(aggregate_id{first + count}, 0);
  advance(services.takeover_interval);
  CAF_CHECK(!owners.find(aggregate_id{first + count}));
}

CAF_TEST(a new block reaches owners that run) {
  std::shared_ptr<const blocked_customers::list> blocked;
  services.blocked_at = [&](tenant_id, const organizer_id&) { return blocked_customers{blocked, nullptr}; };
  start();
  auto joined = ask<entry_reply>(resolve()->value, join{event.id, customer(1)});
  run();
  CAF_REQUIRE(joined->ok && joined->value.created);
  blocked = std::make_shared<blocked_customers::list>(blocked_customers::list{{customer(1), false}});
  caf::anon_send(root, blocks_changed{});
  run();
  CAF_CHECK(!is_live(store.committed(event.aggregate)->entries.at(0).status));
}

CAF_TEST(what does not exist is absent) {
  start();
  CAF_CHECK(is(resolve(aggregate_id{4711})->error, errc::absent));
  CAF_CHECK(is(resolve(accounts_aggregate)->error, errc::absent));
  CAF_CHECK(resolve()->ok);
}

CAF_TEST(who asks while a supervisor stops is not turned away) {
  start();
  const aggregate_id nobody{4711};
  auto first = ask<event_handle>(root, resolve_event{nobody});
  run_without(worker);
  auto second = ask<event_handle>(root, resolve_event{nobody});
  run_without(root); // the supervisor ends after the second request, before the region has read it
  CAF_CHECK(second->open());
  run();
  CAF_CHECK(is(first->error, errc::absent));
  CAF_CHECK(is(second->error, errc::absent));
}

CAF_TEST(who asks for an owner that never gets ready is told so) {
  acquire_failures = 1'000'000;
  start();
  auto waiting = ask<event_handle>(root, resolve_event{event.aggregate});
  run();
  CAF_CHECK(waiting->open());
  advance(61s);
  CAF_CHECK(waiting->unavailable());
}

CAF_TEST(a crashed owner is restarted behind the same supervisor after a pause) {
  start();
  const auto before = resolve()->value;
  const auto stable = parent();
  crash_owner();
  auto waiting = ask<event_handle>(root, resolve_event{event.aggregate});
  run();
  CAF_CHECK(waiting->open());
  advance(50ms);
  CAF_REQUIRE(waiting->ok);
  CAF_CHECK(waiting->value != before);
  CAF_CHECK(parent() == stable);
}

CAF_TEST(an owner that has handed over is not started again) {
  start();
  const auto moved = resolve()->value;
  caf::actor_cast<caf::abstract_actor*>(moved)->eq_impl(
    caf::make_message_id(), caf::actor_cast<caf::strong_actor_ptr>(root), nullptr, hand_over{"b", true});
  run();
  kill(moved);
  advance(60ms);
  CAF_CHECK(!parent());
}

CAF_TEST(the pause doubles while the owner never serves) {
  start({100, 60s, 50ms, 5s});
  crash_owner();
  acquire_failures = 1'000'000; // the supervisor does not become ready
  for (auto pause = 50ms; pause <= 400ms; pause *= 2) {
    CAF_CHECK(!state_of<supervisor_handle, supervisor_state>(parent()).owner());
    advance(pause - 1ms);
    CAF_CHECK(!state_of<supervisor_handle, supervisor_state>(parent()).owner());
    advance(1ms);
    CAF_REQUIRE(state_of<supervisor_handle, supervisor_state>(parent()).owner());
    crash_owner();
  }
}

CAF_TEST(a spent budget answers 503 and is tried again after the cool down) {
  start({2, 60s, 1ms, 1ms});
  for (int i = 0; i < 2; ++i) {
    crash_owner();
    advance(1ms);
  }
  auto waiting = ask<event_handle>(root, resolve_event{event.aggregate});
  crash_owner();
  CAF_CHECK(!parent());
  CAF_CHECK(resolve()->unavailable());
  advance(cool_down - 1ms);
  CAF_CHECK(resolve()->unavailable());
  advance(1ms); // deadlines continue: it restarts without a request
  CAF_CHECK(parent());
  CAF_CHECK(resolve()->ok);
}

CAF_TEST(restarts outside the window do not count) {
  start({1, 10s, 1ms, 1ms});
  for (int i = 0; i < 5; ++i) {
    crash_owner();
    advance(11s);
    CAF_CHECK(resolve()->ok);
  }
}

CAF_TEST(an owner does not outlive its supervisor) {
  start();
  const auto orphan = resolve()->value;
  kill(parent());
  CAF_CHECK(caf::actor_cast<caf::abstract_actor*>(orphan)->getf(caf::abstract_actor::is_terminated_flag));
  advance(500ms); // woken again
  auto next = resolve();
  CAF_REQUIRE(next->ok);
  CAF_CHECK(next->value != orphan);
}

CAF_TEST(requests that wait for an owner are answered when the supervisor gives up) {
  acquire_failures = 1'000'000;
  start({0, 60s, 1ms, 1ms});
  auto waiting = ask<event_handle>(root, resolve_event{event.aggregate});
  run();
  CAF_CHECK(waiting->open());
  crash_owner();
  CAF_CHECK(waiting->unavailable());
}

CAF_TEST(an owner is passivated when nothing lives there and comes back on use) {
  services.idle_after = 60s;
  start();
  auto ended =
    ask<event_reply>(resolve()->value, turn_event{managed_by_organizer(event), {}, event_trigger::end});
  run();
  CAF_REQUIRE(ended->ok);
  advance(59s);
  CAF_CHECK(parent());
  advance(1s);
  advance(60s);
  advance(moved_linger);
  CAF_CHECK(!parent());
  auto back = resolve();
  CAF_REQUIRE(back->ok);
  auto found = ask<event_reply>(back->value, find_event{managed_by_organizer(event)});
  run();
  CAF_CHECK(found->ok && found->value.event.event.status == event_status::ended);
}

CAF_TEST(an owner that is about to go takes nothing on) {
  services.idle_after = 60s;
  start();
  const auto owner = resolve()->value;
  auto ended = ask<event_reply>(owner, turn_event{managed_by_organizer(event), {}, event_trigger::end});
  run();
  CAF_REQUIRE(ended->ok);
  const set_priorities wish{managed_by_organizer(event), {}, {customer(1)}, {true, priority_vip}};
  advance(2s); // the public log takes in the end
  advance(58s);
  auto late = ask<count_reply>(owner, wish); // sent before its sender knew
  run();
  CAF_CHECK(is(late->error, errc::moved));
  const auto successor = resolve()->value;
  CAF_CHECK(successor != owner);
  auto again = ask<count_reply>(successor, wish);
  run();
  CAF_CHECK(again->ok);
  advance(moved_linger);
  CAF_CHECK_EQUAL(store.committed(event.aggregate)->priorities.size(), 1u);
  CAF_CHECK(resolve()->value == successor);
}

CAF_TEST(an owner with a sale going on is never passivated) {
  services.idle_after = 60s;
  start();
  for (int i = 0; i < 5; ++i) advance(60s);
  CAF_CHECK(parent());
}

CAF_TEST(a region that ends takes everybody with it) {
  start();
  const auto owner = resolve()->value;
  caf::anon_send_exit(root, caf::exit_reason::user_shutdown);
  run();
  CAF_CHECK(caf::actor_cast<caf::abstract_actor*>(owner)->getf(caf::abstract_actor::is_terminated_flag));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace supervision_test
