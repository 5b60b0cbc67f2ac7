// SPDX-License-Identifier: Apache-2.0
// The sessions of another node's event, as the cache has them: what is said of one is never older than the owner's word for it.
#define CAF_SUITE session_reader
#include "actors/cache_worker.hpp"
#include "actors/session_reader.hpp"
#include "fixture.hpp"
#include "store/memory_cache.hpp"

using namespace fq;
using namespace fq::test;

namespace {

struct reader_fixture : fixture {
  bool cache_is_down = false;
  memory_cache mirror{env, {.on_call = [this](cache_call, std::span<const mirror_step>) {
                              return cache_is_down ? cache_fault{cache_fault::kind::unavailable, 0} : cache_fault{};
                            }}};
  cache_metrics metrics;
  owner_services services;
  event_row event;
  event_handle owner;
  session_reader_handle reader;
  entry_id entry;

  /// A sale with one admitted place; its owner vouches every second.
  reader_fixture() {
    event = put_event(10, {});
    services.env = &env;
    services.sessions = &sessions;
    services.ledgers = ledgers;
    services.cache = keep(sys.spawn(cache_worker, static_cast<cache*>(&mirror), static_cast<environment*>(&env), &metrics));
    services.vouch_interval = seconds{1};
    owner = keep(sys.spawn(event_actor, event.aggregate, static_cast<const owner_services*>(&services), supervisor_handle{}));
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
  /// What the reader says, after a second look if it takes one.
  session_found look(const entry_id& which) {
    auto found = ask<session_found>(reader, find_session{which});
    run();
    if (found->open()) advance(second_look_after);
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
  CAF_CHECK(look(make_entry_id(env.wall_now(), event.aggregate, queue_number{77})).verdict == session_verdict::over);
}

CAF_TEST(an admission that is on its way to the cache is waited for) {
  auto place = ask<entry_reply>(owner, join{event.id, customer(2), 0});
  const auto cache_actor = services.cache;
  run_without(cache_actor);
  auto found = ask<session_found>(reader, find_session{place->value.entry.id});
  run_without(cache_actor);
  CAF_CHECK(found->open());
  run();
  advance(second_look_after);
  CAF_REQUIRE(found->ok);
  CAF_CHECK(found->value.verdict == session_verdict::in_force);
}

CAF_TEST(an owner that falls silent is not gone by for longer than the bound) {
  CAF_CHECK(look().verdict == session_verdict::in_force);
  kill(owner);
  owner = nullptr;
  advance(vouch_life + mirror_trust);
  CAF_CHECK(look().verdict == session_verdict::unknown);
}

CAF_TEST(a cache that is away knows nothing and comes back by itself) {
  cache_is_down = true;
  CAF_CHECK(look().verdict == session_verdict::unknown);
  cache_is_down = false;
  advance(seconds{10});
  CAF_CHECK(look().verdict == session_verdict::in_force);
}

CAF_TEST(a cache that has forgotten is no reason to send anybody away) {
  mirror.flush();
  CAF_CHECK(look().verdict != session_verdict::over);
  advance(seconds{1}); // the owner's next word finds nothing: the mirror is built anew
  advance(seconds{1});
  CAF_CHECK(look().verdict == session_verdict::in_force);
}

CAF_TEST(too many questions at once are answered at once) {
  std::vector<std::shared_ptr<answer<session_found>>> asked;
  for (std::size_t i = 0; i <= questions_waiting_max; ++i) asked.push_back(ask<session_found>(reader, find_session{entry}));
  run();
  for (const auto& one : asked) CAF_REQUIRE(one->ok);
}

CAF_TEST_FIXTURE_SCOPE_END()
