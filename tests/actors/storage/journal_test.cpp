// SPDX-License-Identifier: Apache-2.0
// The journal alone: one batch in flight, held answers, resubmission, divergence.
#define CAF_SUITE journal
#include "tests/actors/base/fixture.hpp"

#include "actors/storage/journal.hpp"

namespace journal_test {

using namespace fq;
using namespace fq::test;

namespace {

/// A journal with lists in place of its environment.
struct bench {
  std::vector<batch_ptr> submitted;
  std::vector<std::pair<milliseconds, std::uint64_t>> timers;
  milliseconds now{1'000'000};
  std::vector<int> shown;
  journal j{{[this](batch_ptr b) { submitted.push_back(std::move(b)); },
             [this](milliseconds delay, std::uint64_t number) { timers.emplace_back(delay, number); },
             [this] { return now; }}};

  bench() { load(7); }
  void load(std::uint64_t epoch) {
    acquired image;
    image.epoch = epoch;
    image.applied_seq = 10;
    j.start(first_event_aggregate, image);
  }
  std::uint64_t decide(bool reveals = false) {
    changes c;
    c.emplace_back(otp_removed{"x"});
    return j.append(std::move(c), from_unix_ms(1'000), reveals);
  }
  void fire() {
    const auto [span, number] = timers.back();
    now += span;
    j.timer_fired(number);
  }
  void show(std::uint64_t seq, int mark) {
    j.hold(seq, [this, mark] { shown.push_back(mark); });
  }
  bool settle(commit_outcome outcome, bool unavailable = false) {
    const auto b = submitted.back();
    return j.settled({b->aggregate, b->epoch, b->to_seq, unavailable, outcome});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(journal_tests, bench)

CAF_TEST(one batch is in flight and what comes meanwhile forms the next) {
  CAF_CHECK_EQUAL(decide(), 11u);
  CAF_REQUIRE_EQUAL(submitted.size(), 1u);
  CAF_CHECK_EQUAL(decide(), 12u);
  CAF_CHECK_EQUAL(decide(), 13u);
  CAF_CHECK_EQUAL(submitted.size(), 1u);
  CAF_CHECK(settle(commit_outcome::committed));
  CAF_REQUIRE_EQUAL(submitted.size(), 2u);
  CAF_CHECK_EQUAL(submitted[0]->from_seq, 10u);
  CAF_CHECK_EQUAL(submitted[0]->to_seq, 11u);
  CAF_CHECK_EQUAL(submitted[1]->from_seq, 11u);
  CAF_CHECK_EQUAL(submitted[1]->to_seq, 13u);
  CAF_CHECK_EQUAL(submitted[1]->epoch, 7u);
  CAF_CHECK_EQUAL(submitted[1]->content.size(), 2u);
}

CAF_TEST(a decision without changes takes no number and needs no commit) {
  CAF_CHECK_EQUAL(j.append({}, from_unix_ms(1), true), 10u);
  CAF_CHECK(submitted.empty());
  show(10, 1);
  CAF_CHECK_EQUAL(shown, std::vector<int>{1});
}

CAF_TEST(nothing is shown before its commit and everything in order after it) {
  const auto first = decide();
  show(first, 1);
  const auto second = decide(true);
  show(second, 2);
  show(first, 3);
  CAF_CHECK(shown.empty());
  CAF_CHECK_EQUAL(j.reveal_barrier(), second);
  CAF_CHECK(settle(commit_outcome::committed));
  CAF_CHECK_EQUAL(shown, (std::vector<int>{1, 3}));
  CAF_CHECK(!j.is_committed(second));
  CAF_CHECK(settle(commit_outcome::committed));
  CAF_CHECK_EQUAL(shown, (std::vector<int>{1, 3, 2}));
  CAF_CHECK(j.is_idle());
}

CAF_TEST(an unavailable ledger gets the same batch again after a growing pause) {
  show(decide(), 1);
  auto pause = 0ms;
  for (int i = 0; i < 8; ++i) {
    CAF_CHECK(settle({}, true));
    CAF_CHECK(timers.back().first >= pause);
    pause = timers.back().first;
    CAF_CHECK(pause <= journal_retry_max);
    fire();
    CAF_CHECK(submitted.back() == submitted.front());
  }
  CAF_CHECK(shown.empty());
  CAF_CHECK(settle(commit_outcome::already_applied)); // it had been committed before
  CAF_CHECK_EQUAL(shown, std::vector<int>{1});
}

CAF_TEST(a batch without an answer is submitted again by the watchdog) {
  decide();
  CAF_REQUIRE_EQUAL(timers.size(), 1u);
  CAF_CHECK_EQUAL(timers[0].first, journal_answer_timeout);
  fire();
  CAF_CHECK_EQUAL(submitted.size(), 2u);
  CAF_CHECK(submitted[1] == submitted[0]);
  CAF_CHECK(settle(commit_outcome::committed));
  fire(); // of a settled batch
  CAF_CHECK_EQUAL(submitted.size(), 2u);
  CAF_CHECK(settle(commit_outcome::already_applied)); // the second answer changes nothing
  CAF_CHECK(j.is_idle());
}

CAF_TEST(a later batch gets its own time with the same timer) {
  decide();
  now += journal_answer_timeout / 2;
  CAF_CHECK(settle(commit_outcome::committed));
  decide();
  CAF_REQUIRE_EQUAL(timers.size(), 1u);
  now += journal_answer_timeout / 2;
  j.timer_fired(timers[0].second);
  CAF_CHECK_EQUAL(submitted.size(), 2u);
  CAF_REQUIRE_EQUAL(timers.size(), 2u);
  CAF_CHECK_EQUAL(timers[1].first, journal_answer_timeout / 2);
  fire();
  CAF_CHECK_EQUAL(submitted.size(), 3u);
  CAF_CHECK(submitted[2] == submitted[1]);
}

CAF_TEST(a timer of before a reload gives the new batch its own time) {
  decide();
  now += journal_answer_timeout / 2;
  load(8);
  decide();
  CAF_REQUIRE_EQUAL(timers.size(), 1u);
  now += journal_answer_timeout / 2;
  j.timer_fired(timers[0].second);
  CAF_CHECK_EQUAL(submitted.size(), 2u);
  CAF_CHECK(!j.is_stalled());
  CAF_REQUIRE_EQUAL(timers.size(), 2u);
  CAF_CHECK_EQUAL(timers[1].first, journal_answer_timeout / 2);
  fire();
  CAF_REQUIRE_EQUAL(submitted.size(), 3u);
  CAF_CHECK(submitted[2] == submitted[1] && submitted[2]->epoch == 8);
  CAF_CHECK(j.is_stalled());
}

CAF_TEST(timers of before a reload do nothing while no batch is in flight) {
  decide();
  CAF_CHECK(settle({}, true)); // a second timer replaces the first
  CAF_REQUIRE_EQUAL(timers.size(), 2u);
  load(8);
  for (const auto& [span, number] : std::vector{timers[1], timers[0]}) j.timer_fired(number);
  CAF_CHECK_EQUAL(submitted.size(), 1u);
  CAF_CHECK(!j.is_stalled() && j.is_idle());
  decide();
  CAF_REQUIRE_EQUAL(timers.size(), 3u);
  CAF_CHECK_EQUAL(timers[2].first, journal_answer_timeout);
}

CAF_TEST(a refusal means that memory and ledger have diverged) {
  for (const auto outcome :
       {commit_outcome::fenced, commit_outcome::conflict, commit_outcome::out_of_order}) {
    bench b;
    b.show(b.decide(), 1);
    CAF_CHECK(!b.settle(outcome));
    b.j.fail();
    CAF_CHECK(b.shown.empty());
    CAF_CHECK(b.j.is_idle());
  }
}

CAF_TEST(answers of an earlier epoch are ignored after a reload) {
  show(decide(), 1);
  const auto old = submitted.back();
  load(8);
  show(decide(), 2);
  CAF_CHECK(j.settled({old->aggregate, old->epoch, old->to_seq, false, commit_outcome::fenced}));
  CAF_CHECK(shown.empty());
  CAF_CHECK(settle(commit_outcome::committed));
  CAF_CHECK_EQUAL(shown, std::vector<int>{2});
}

CAF_TEST(what is held is bounded) {
  const auto seq = decide();
  for (std::size_t i = 0; i < owner_bounds{}.held; ++i) {
    CAF_REQUIRE(!j.is_full());
    show(seq, 0);
  }
  CAF_CHECK(j.is_full());
  settle(commit_outcome::committed);
  CAF_CHECK(!j.is_full());
}

CAF_TEST_FIXTURE_SCOPE_END()

CAF_TEST_FIXTURE_SCOPE(journal_promise_tests, fixture)

CAF_TEST(failing answers every held promise) {
  // A host that holds every request in a journal that is never committed.
  auto host = sys.spawn([](caf::event_based_actor* self) -> caf::behavior {
    auto j = std::make_shared<journal>(
      journal::port{[](batch_ptr) {}, [](milliseconds, std::uint64_t) {}, [] { return milliseconds{0}; }});
    j->start(first_event_aggregate, acquired{});
    return {[=](find_event) -> caf::result<ack_reply> {
              changes c;
              c.emplace_back(otp_removed{});
              j->hold(j->append(std::move(c), never, true), self->make_response_promise(),
                      caf::make_message(ack_reply{}));
              return caf::delegated<ack_reply>{};
            },
            [=](subscribe) { j->fail(); }};
  });
  auto first = ask<ack_reply>(host, find_event{});
  auto second = ask<ack_reply>(host, find_event{});
  run();
  CAF_CHECK(first->open() && second->open());
  caf::anon_send(host, subscribe{});
  run();
  CAF_CHECK(first->unavailable() && second->unavailable());
  kill(host);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace journal_test
