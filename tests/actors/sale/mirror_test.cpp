// SPDX-License-Identifier: Apache-2.0
// The mirror of an event in the cache: follows commits, never decides, and becomes complete again after any
// cache failure.
#define CAF_SUITE mirror
#include "actors/storage/cache_worker.hpp"
#include "store/memory/memory_cache.hpp"
#include "tests/actors/base/fixture.hpp"

namespace mirror_test {

using namespace fq;
using namespace fq::test;

namespace {

struct mirror_fixture : fixture {
  bool cache_is_down = false;
  std::optional<cache_fault> next_fault;
  memory_cache mirror{
    env, {.on_call = [this](cache_call call, std::span<const mirror_step>) { return fault_of(call); }}};
  cache_metrics metrics;
  owner_services services;
  event_row event;
  cache_worker_handle cache_actor;
  event_handle owner;

  cache_fault fault_of(cache_call call) {
    if (cache_is_down) return {cache_fault::kind::unavailable, 0};
    if (call != cache_call::apply || !next_fault) return {};
    return *std::exchange(next_fault, std::nullopt);
  }
  void start(queue_settings queue = {}) {
    event = put_event(10, queue);
    cache_actor =
      keep(sys.spawn(cache_worker, static_cast<cache*>(&mirror), static_cast<environment*>(&env), &metrics));
    services.env = &env;
    services.sessions = &sessions;
    services.ledgers = ledgers;
    services.cache = cache_actor;
    spawn_owner();
  }
  void spawn_owner() {
    owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                           supervisor_handle{}));
    run();
  }
  ~mirror_fixture() {
    services.ledgers.clear();
    services.cache = nullptr;
    cache_actor = nullptr;
    if (owner) kill(owner);
    owner = nullptr;
  }
  void join_as(std::uint64_t n) {
    auto place = ask<entry_reply>(owner, join{event.id, customer(n), 0});
    run();
    CAF_REQUIRE(place->ok);
  }
  mirror_report verify(bool rebuild = false) {
    auto report = ask<mirror_report>(owner, verify_mirror{rebuild});
    run();
    CAF_REQUIRE(report->ok);
    return report->value;
  }
  std::uint64_t generation() { return store.acquire_unleased(event.aggregate, never)->cache_generation; }
};

queue_settings operated() {
  queue_settings q;
  q.policy = admission_policy::operated; // no automatic admission
  return q;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(mirror_tests, mirror_fixture)

CAF_TEST(every commit is followed by its step) {
  start();
  for (std::uint64_t n = 1; n <= 20; ++n) join_as(n);
  auto report = verify();
  CAF_CHECK(report.state == mirror_state::equal);
  CAF_CHECK_EQUAL(report.generation, 1u);
  CAF_CHECK(metrics.steps > 1u);
}

CAF_TEST(nothing is mirrored before its commit) {
  start(operated());
  join_as(1);
  const auto steps = metrics.steps.load();
  auto place = ask<entry_reply>(owner, join{event.id, customer(2), 0});
  run_without(worker);
  CAF_CHECK(place->open());
  CAF_CHECK_EQUAL(metrics.steps.load(), steps);
  run();
  CAF_CHECK_EQUAL(metrics.steps.load(), steps + 1);
}

CAF_TEST(a flushed cache shows at the next step and is built anew under a new generation) {
  start(operated());
  join_as(1);
  mirror.flush();
  join_as(2);
  const auto report = verify();
  CAF_CHECK(report.state == mirror_state::equal);
  CAF_CHECK_EQUAL(report.generation, 2u);
  CAF_CHECK_EQUAL(metrics.lost.load(), 1u);
}

CAF_TEST(a flushed cache is found by the reconciliation when nothing happens) {
  start(operated());
  join_as(1);
  mirror.flush();
  advance(services.reconciliation_interval);
  const auto report = verify();
  CAF_CHECK(report.state == mirror_state::equal);
  CAF_CHECK_EQUAL(report.generation, 2u);
}

CAF_TEST(an old dump is noticed) {
  start(operated());
  join_as(1);
  mirror.save();
  join_as(2);
  mirror.restore();
  join_as(3);
  CAF_CHECK(verify().state == mirror_state::equal);
  CAF_CHECK_EQUAL(generation(), 2u);
}

CAF_TEST(a torn step is built anew) {
  start(operated());
  next_fault = cache_fault{cache_fault::kind::torn, 0};
  join_as(1);
  CAF_CHECK(metrics.is_away);
  advance(circuit_pause_min);
  CAF_CHECK(!metrics.is_away);
  CAF_CHECK(verify().state == mirror_state::equal);
}

CAF_TEST(a cache that is away costs the sale nothing and is whole when it is back) {
  start(operated());
  join_as(1);
  cache_is_down = true;
  for (std::uint64_t n = 2; n <= 6; ++n) join_as(n);
  CAF_CHECK(metrics.is_away);
  CAF_CHECK(verify().state == mirror_state::unavailable);
  CAF_CHECK(metrics.failures <= 2u); // the circuit is open: no calls
  advance(2 * circuit_pause_max);
  cache_is_down = false;
  advance(circuit_pause_max);
  const auto report = verify();
  CAF_CHECK(report.state == mirror_state::equal);
  CAF_CHECK_EQUAL(report.generation, 2u); // raised once, after the loss
}

CAF_TEST(every load begins a new generation) {
  start(operated());
  join_as(1);
  kill(owner);
  spawn_owner();
  const auto report = verify();
  CAF_CHECK(report.state == mirror_state::equal);
  CAF_CHECK_EQUAL(report.generation, 2u);
}

CAF_TEST(a cache that was away from the beginning is filled when it comes) {
  cache_is_down = true;
  start(operated());
  join_as(1);
  CAF_CHECK(metrics.is_away);
  cache_is_down = false;
  advance(circuit_pause_max);
  CAF_CHECK(verify().state == mirror_state::equal);
}

CAF_TEST(a late step of an earlier owner does not keep a later one from the cache) {
  start(operated());
  const auto earlier = owner;
  cache_is_down = true;
  spawn_owner();
  CAF_CHECK(metrics.is_away);
  auto step = std::make_shared<mirror_step>();
  step->aggregate = event.aggregate;
  caf::actor_cast<caf::abstract_actor*>(cache_actor)
    ->eq_impl(caf::make_message_id(), caf::actor_cast<caf::strong_actor_ptr>(earlier), nullptr,
              take_mirror_step{std::move(step)});
  run();
  kill(earlier);
  cache_is_down = false;
  advance(10s);
  CAF_CHECK(!metrics.is_away);
  CAF_CHECK(verify().state == mirror_state::equal);
}

CAF_TEST(a rebuild asked for by people gives a new generation) {
  start(operated());
  join_as(1);
  const auto report = verify(true);
  CAF_CHECK(report.state == mirror_state::equal);
  CAF_CHECK_EQUAL(report.generation, 2u);
}

CAF_TEST(a wrong content is found and healed) {
  start(operated());
  join_as(1);
  join_as(2);
  // A foreign write to the cache: the head continues, the content does not.
  mirror_step wrong;
  wrong.aggregate = event.aggregate;
  wrong.queue = event.id;
  wrong.generation = 1;
  wrong.number = 0;
  wrong.delta.joined = {queue_number{2}};
  wrong.delta.stock = {{store.committed(event.aggregate)->ticket_types[0].id, 10, 0, 0}};
  mirror.apply(std::span{&wrong, 1});
  for (std::uint64_t number = 1; number < 3; ++number) {
    mirror_step none = wrong;
    none.number = number;
    none.delta = {};
    mirror.apply(std::span{&none, 1});
  }
  const auto first = verify();
  CAF_CHECK(first.state == mirror_state::different);
  CAF_REQUIRE_EQUAL(first.differences.size(), 1u);
  CAF_CHECK_EQUAL(first.differences[0], "waiting 1 is missing");
  CAF_CHECK(verify().state == mirror_state::equal);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace mirror_test
