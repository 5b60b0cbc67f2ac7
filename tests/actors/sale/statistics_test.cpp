// SPDX-License-Identifier: Apache-2.0
// The event actor's rows of statistics: one a minute while something happens, across owners.
#define CAF_SUITE event_statistics
#include "tests/actors/sale/event_fixture.hpp"

namespace event_statistics_test {

using namespace fq;
using namespace fq::test;

namespace {

/// A line that admits only when called.
struct statistics_fixture : event_fixture {
  statistics_fixture() {
    services.statistics_step = 60s;
    queue_settings queue;
    queue.policy = admission_policy::operated;
    start(10, queue);
  }
  std::vector<statistics_row> rows() {
    return store.list_statistics({event.aggregate, from_unix_ms(0), timestamp::max(), 60s});
  }
  void join_now(std::uint64_t n) {
    join_as(n);
    run();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(event_statistics_tests, statistics_fixture)

CAF_TEST(a minute in which something happened gets one row and a quiet one none) {
  advance(2s); // the public log begins
  const auto before = commits;
  advance(10min);
  CAF_CHECK_EQUAL(commits, before);
  CAF_CHECK(rows().empty());
  join_now(1);
  join_now(2);
  CAF_CHECK(rows().empty()); // a join writes no statistics
  advance(60s);
  CAF_REQUIRE_EQUAL(rows().size(), 1u);
  const auto row = rows().front();
  CAF_CHECK_EQUAL(row.waiting, 2u);
  CAF_CHECK_EQUAL(row.waiting_peak, 2u);
  CAF_CHECK_EQUAL(row.arrivals, 2u);
  CAF_CHECK_EQUAL(row.available, 10);
  CAF_CHECK(unix_ms(row.at) % 60'000 == 0);
  const auto after = commits;
  advance(1h);
  CAF_CHECK_EQUAL(commits, after);
  join_now(3);
  advance(60s);
  CAF_REQUIRE_EQUAL(rows().size(), 2u);
  const auto next = rows().back();
  CAF_CHECK_EQUAL(next.arrivals, 1u);
  CAF_CHECK_EQUAL(next.arrivals_total, 3u);
}

CAF_TEST(what left within a minute still counts as its peak) {
  join_now(1);
  join_now(2);
  ask<ack_reply>(owner, leave{event.id, customer(1)});
  run();
  advance(60s);
  CAF_REQUIRE_EQUAL(rows().size(), 1u);
  const auto row = rows().front(); // a check must not refer to a row of a temporary list
  CAF_CHECK_EQUAL(row.waiting, 1u);
  CAF_CHECK_EQUAL(row.waiting_peak, 2u);
}

CAF_TEST(a successor writes what its predecessor did not and no minute twice) {
  join_now(1);
  advance(60s);
  join_now(2);
  advance(20s);
  store.acquire_unleased(event.aggregate, never); // the owner has a successor
  join_now(3);
  join_now(3); // reloaded
  advance(60s);
  const auto all = rows();
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  CAF_CHECK(all[0].at < all[1].at);
  CAF_CHECK_EQUAL(all[1].arrivals, 2u);
  CAF_CHECK_EQUAL(all[0].arrivals + all[1].arrivals, value_of(store.head(event.aggregate)->line.last_number));
}

CAF_TEST(an owner that loads an event without news writes nothing) {
  join_now(1);
  advance(60s);
  CAF_REQUIRE_EQUAL(rows().size(), 1u);
  kill(owner);
  own();
  const auto before = commits;
  advance(10min);
  CAF_CHECK_EQUAL(rows().size(), 1u);
  CAF_CHECK_EQUAL(commits, before);
}

CAF_TEST(an outage of the ledger delays a row and loses none) {
  join_now(1);
  commit_faults.assign(200, {.what = commit_fault::kind::unavailable});
  advance(60s);
  join_now(2);
  for (int i = 0; i < 200 && !commit_faults.empty(); ++i) advance(1s);
  commit_faults.clear();
  for (int i = 0; i < 20; ++i) advance(10s);
  const auto all = rows();
  CAF_REQUIRE(!all.empty());
  CAF_CHECK_EQUAL(all.back().arrivals_total, 2u);
  std::uint64_t sum = 0;
  for (const auto& r : all) sum += r.arrivals;
  CAF_CHECK_EQUAL(sum, 2u);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace event_statistics_test
