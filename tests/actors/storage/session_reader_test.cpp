// SPDX-License-Identifier: Apache-2.0
// Sessions of an event on another node, read from the cache: an answer is never older than the owner's vouch.
#define CAF_SUITE session_reader
#include "actors/storage/cache_worker.hpp"
#include "actors/storage/session_reader.hpp"
#include "store/memory/memory_cache.hpp"
#include "tests/actors/base/fixture.hpp"

namespace session_reader_test {

using namespace fq;
using namespace fq::test;

namespace {

struct reader_fixture : fixture {
  bool cache_is_down = false, fall_silent_for_steps = false;
  memory_cache mirror{
    env, {.on_call = [this](cache_call call, std::span<const mirror_step>) { return fault_of(call); }}};
  cache_metrics metrics;
  owner_services services;
  event_row event;
  event_handle owner;
  session_reader_handle reader;
  entry_id entry;

  cache_fault fault_of(cache_call call) const {
    const bool is_owners = call == cache_call::apply || call == cache_call::vouch || call == cache_call::ping;
    return cache_is_down || (fall_silent_for_steps && is_owners)
             ? cache_fault{cache_fault::kind::unavailable, 0}
             : cache_fault{};
  }
  /// A sale with one admitted place; its owner vouches every 500 ms.
  reader_fixture() {
    event = put_event(10, {});
    services.env = &env;
    services.sessions = &sessions;
    services.ledgers = ledgers;
    services.cache =
      keep(sys.spawn(cache_worker, static_cast<cache*>(&mirror), static_cast<environment*>(&env), &metrics));
    services.vouch_interval = milliseconds{500};
    owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services),
                           supervisor_handle{}));
    reader = keep(sys.spawn(session_reader, static_cast<cache*>(&mirror), static_cast<environment*>(&env)));
    run();
    auto place = ask<entry_reply>(owner, join{event.id, customer(1), 0});
    run();
    entry = place->value.entry.id;
    advance(seconds{1});
  }
  ~reader_fixture() {
    services.ledgers.clear();
    services.cache = nullptr;
    reader = nullptr;
    if (owner) kill(owner);
    owner = nullptr;
  }
  void pass(milliseconds d) {
    for (; d > milliseconds{0}; d -= session_retry_interval) advance(session_retry_interval);
  }
  /// The reader's answer, as soon as it arrives.
  session_found look(const entry_id& which) {
    auto found = ask<session_found>(reader, find_session{which});
    run();
    for (milliseconds waited{0}; found->open() && waited <= session_answer_max;
         waited += session_retry_interval)
      advance(session_retry_interval);
    CAF_REQUIRE(found->ok);
    return found->value;
  }
  session_found look() { return look(entry); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(session_reader_tests, reader_fixture)

CAF_TEST(a session in force is told with all that access needs) {
  const auto found = look();
  CAF_CHECK(found.verdict == session_verdict::in_force);
  CAF_CHECK_EQUAL(found.queue, event.id);
  CAF_CHECK_EQUAL(found.admission_no, 1u);
  CAF_CHECK(found.tenant == default_tenant);
  CAF_CHECK(found.expires_at > env.wall_now());
}

CAF_TEST(a session that ended is over and so is one that never was) {
  auto left = ask<ack_reply>(owner, leave{event.id, customer(1)});
  run();
  CAF_REQUIRE(left->ok);
  CAF_CHECK(look().verdict == session_verdict::over);
  auto again = ask<session_found>(reader, find_session{entry});
  run();
  CAF_CHECK(again->ok && again->value.verdict == session_verdict::over); // known now
  CAF_CHECK(look(make_entry_id(env.wall_now(), event.aggregate, queue_number{77})).verdict
            == session_verdict::over);
}

CAF_TEST(a session that was read long ago is unknown and an ended one stays over) {
  const auto found = look();
  const auto now = env.steady_now();
  CAF_CHECK(found.verdict_at(now) == session_verdict::in_force);
  CAF_CHECK(found.verdict_at(now + found_session_life + milliseconds{1}) == session_verdict::unknown);
  CAF_CHECK(
    look(make_entry_id(env.wall_now(), event.aggregate, queue_number{77})).verdict_at(now + seconds{9})
    == session_verdict::over);
}

CAF_TEST(an admission that is on its way to the cache is waited for) {
  auto place = ask<entry_reply>(owner, join{event.id, customer(2), 0});
  const auto cache_actor = services.cache;
  run_without(cache_actor);
  auto found = ask<session_found>(reader, find_session{place->value.entry.id});
  run_without(cache_actor);
  CAF_CHECK(found->open());
  run();
  advance(session_retry_interval);
  CAF_REQUIRE(found->ok);
  CAF_CHECK(found->value.verdict == session_verdict::in_force);
}

CAF_TEST(an owner that falls silent is not gone by for longer than the bound) {
  CAF_CHECK(look().verdict == session_verdict::in_force);
  kill(owner);
  owner = nullptr;
  pass(vouch_life);
  CAF_CHECK(look().verdict == session_verdict::unknown);
}

CAF_TEST(a cache that is away knows nothing and comes back by itself) {
  cache_is_down = true;
  CAF_CHECK(look().verdict == session_verdict::unknown);
  cache_is_down = false;
  pass(seconds{10});
  CAF_CHECK(look().verdict == session_verdict::in_force);
}

CAF_TEST(an admission whose step is lost is not over) {
  // the owner's steps no longer arrive; its earlier vouch stays valid for a while
  fall_silent_for_steps = true;
  auto place = ask<entry_reply>(owner, join{event.id, customer(2), 0});
  run();
  CAF_CHECK(look(place->value.entry.id).verdict == session_verdict::unknown);
  fall_silent_for_steps = false;
  pass(seconds{10});
  CAF_CHECK(look(place->value.entry.id).verdict == session_verdict::in_force);
}

CAF_TEST(word beside many steps is word) {
  const auto generation = store.head(event.aggregate)->cache_generation;
  for (std::uint64_t n = 2; n < 60; ++n) {
    auto place = ask<entry_reply>(owner, join{event.id, customer(n), 0});
    if (n % 3 == 0) advance(services.vouch_interval); // steps and vouches in one mailbox
  }
  run();
  CAF_CHECK_EQUAL(metrics.lost.load(), 0u);
  CAF_CHECK_EQUAL(store.head(event.aggregate)->cache_generation, generation);
  CAF_CHECK(look().verdict == session_verdict::in_force);
}

CAF_TEST(word that waited for too long is not passed on) {
  mirror.flush();
  const auto cache_actor = services.cache;
  run_without(cache_actor);
  sched.advance_time(services.vouch_interval);
  run_without(cache_actor); // the owner vouches, the cache actor is paused
  sched.advance_time(vouch_delay_max + milliseconds{1});
  const auto lost = metrics.lost.load();
  run();
  CAF_CHECK_EQUAL(metrics.lost.load(), lost + 1); // only the fresh session
}

CAF_TEST(a cache that has forgotten is no reason to send anybody away) {
  mirror.flush();
  CAF_CHECK(look().verdict != session_verdict::over);
  advance(seconds{1}); // the owner's next vouch finds nothing: the mirror is rebuilt
  advance(seconds{1});
  CAF_CHECK(look().verdict == session_verdict::in_force);
}

CAF_TEST(an ended session stays ended when the cache restarts with an old dump) {
  auto other = ask<entry_reply>(owner, join{event.id, customer(2), 0});
  run();
  mirror.save();
  auto left = ask<ack_reply>(owner, leave{event.id, customer(1)});
  run();
  CAF_REQUIRE(left->ok);
  pass(seconds{4});
  CAF_CHECK(look(other->value.entry.id).verdict == session_verdict::in_force); // the mirror is known now
  mirror.restore();
  CAF_CHECK(look().verdict != session_verdict::in_force);
}

CAF_TEST(too many questions at once are answered at once) {
  std::vector<std::shared_ptr<answer<session_found>>> asked;
  for (std::size_t i = 0; i <= session_questions_max; ++i)
    asked.push_back(ask<session_found>(reader, find_session{entry}));
  run();
  for (const auto& one : asked) CAF_REQUIRE(one->ok);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace session_reader_test
