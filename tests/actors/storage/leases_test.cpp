// SPDX-License-Identifier: Apache-2.0
// Two nodes on one ledger: ownership, refusals, takeover and its time.
#define CAF_SUITE leases
#include "tests/actors/base/nodes.hpp"

namespace leases_test {

using namespace fq;
using namespace fq::test;

namespace {

struct leases_fixture : nodes_fixture {
  std::shared_ptr<answer<entry_reply>> join_at(const event_handle& owner, std::uint64_t who) {
    auto a = ask<entry_reply>(owner, join{event.id, customer(who), 0});
    run();
    return a;
  }
  static bool elsewhere(const answer<event_handle>& a) { return !a.ok && is(a.error, errc::not_owner); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(leases_tests, leases_fixture)

CAF_TEST(the second node says who is not the owner) {
  auto& a = start("a");
  auto& b = start("b");
  CAF_CHECK(resolve(a)->ok);
  CAF_CHECK(elsewhere(*resolve(b)));
  CAF_CHECK(elsewhere(*resolve(b))); // without a request to the ledger
}

CAF_TEST(a lease is renewed as long as its node lives) {
  auto& a = start("a");
  auto& b = start("b");
  for (int i = 0; i < 10; ++i) {
    advance(1s);
    CAF_CHECK(resolve(a)->ok);
  }
  CAF_CHECK(elsewhere(*resolve(b)));
}

CAF_TEST(an event comes back at another node when its lease has ended) {
  auto& a = start("a");
  auto place = join_at(resolve(a)->value, 1);
  CAF_REQUIRE(place->ok);
  auto& b = start("b");
  kill(a.worker); // it stops renewing
  store.acquire(event.aggregate, {"a", lease_term, 1},
                never); // but keeps the lease: a frozen process releases nothing
  const auto epoch = store.head(event.aggregate)->epoch;
  advance(lease_term - 1s);
  CAF_CHECK(elsewhere(*resolve(b)));
  advance(2s); // b polls without a request
  const auto owned = ask<owned_aggregates>(b.root, list_owned{});
  run();
  CAF_REQUIRE(owned->ok);
  CAF_CHECK_EQUAL(owned->value.aggregates.size(), 1u);
  CAF_CHECK_EQUAL(store.head(event.aggregate)->epoch, epoch + 1);
  auto next = join_at(resolve(b)->value, 2);
  CAF_REQUIRE(next->ok);
  CAF_CHECK_EQUAL(value_of(next->value.entry.number), 2u);
}

CAF_TEST(an owner that lost its lease answers nothing and makes way) {
  auto& a = start("a");
  const auto owner = resolve(a)->value;
  store.acquire_unleased(event.aggregate, never); // a rival owner
  store.acquire(event.aggregate, {"b", 60s}, never);
  auto lost = join_at(owner, 1);
  CAF_CHECK(!lost->ok);
  CAF_CHECK(elsewhere(*resolve(a)));
  CAF_CHECK(store.committed(event.aggregate)->entries.empty());
}

CAF_TEST(an idle owner learns of the loss when the lease is renewed) {
  auto& a = start("a");
  CAF_CHECK(resolve(a)->ok);
  store.acquire_unleased(event.aggregate, never);
  store.acquire(event.aggregate, {"b", 60s}, never);
  advance(lease_term / 3);
  CAF_CHECK(elsewhere(*resolve(a)));
}

CAF_TEST(an owner that is cut off answers out of its memory no longer than its lease) {
  auto& a = start("a");
  const auto owner = resolve(a)->value;
  const auto find = [&] {
    auto place = ask<entry_reply>(owner, find_entry{event.id, customer(1)});
    run_without(a.worker); // it gets no ledger answers and renews nothing
    return place;
  };
  CAF_REQUIRE(join_at(owner, 1)->ok);
  sched.advance_time(lease_term - 1ms);
  CAF_CHECK(find()->ok);
  sched.advance_time(1ms);
  CAF_CHECK(find()->unavailable());
  run();
  CAF_CHECK(find()->ok); // no other node owned it meanwhile
}

CAF_TEST(a node that ends in order leaves its leases free) {
  auto& a = start("a");
  CAF_CHECK(resolve(a)->ok);
  stop(a);
  auto& b = start("b");
  CAF_CHECK(resolve(b)->ok); // at once
}

CAF_TEST(the same node takes its events again at once) {
  auto& a = start("a");
  CAF_CHECK(resolve(a)->ok);
  auto before = store.head(event.aggregate)->epoch;
  const auto later = store.enlist("a"); // a restarted process of the same name
  CAF_CHECK(std::holds_alternative<acquired>(store.acquire(event.aggregate, {"a", 60s, later}, never)));
  CAF_CHECK(store.head(event.aggregate)->epoch > before);
}

CAF_TEST(of two living processes of one name the later one serves and the earlier one never again) {
  auto& earlier = start("a");
  const auto old = resolve(earlier)->value;
  CAF_REQUIRE(join_at(old, 1)->ok);
  auto& later = start_twin("a");
  const auto found = resolve(later); // at once
  CAF_REQUIRE(found->ok);
  CAF_CHECK(join_at(found->value, 2)->ok);
  advance(lease_term);
  CAF_CHECK(!join_at(old, 3)->ok);
  for (int i = 0; i < 10; ++i) {
    advance(1s);
    CAF_CHECK(elsewhere(*resolve(earlier)));
    CAF_CHECK(resolve(later)->ok);
  }
  CAF_CHECK(join_at(found->value, 3)->ok); // under the same epoch
  CAF_CHECK(earlier.process->is_superseded());
  CAF_CHECK(!later.process->is_superseded());
  CAF_CHECK_EQUAL(earlier.alarms, 1u);
  stop(earlier); // it ends no lease of the later one
  auto& b = start("b");
  CAF_CHECK(elsewhere(*resolve(b)));
}

CAF_TEST(an earlier process answers out of its memory no longer than its lease) {
  auto& earlier = start("a");
  const auto old = resolve(earlier)->value;
  const auto find = [&] {
    auto place = ask<entry_reply>(old, find_entry{event.id, customer(1)});
    run_without(earlier.worker);
    return place;
  };
  CAF_REQUIRE(join_at(old, 1)->ok);
  sched.advance_time(1s);
  run_without(earlier.worker); // cut off from the ledger, or frozen
  auto& later = start_twin_without(earlier.worker, "a");
  CAF_CHECK(find()->ok);
  sched.advance_time(lease_term);
  CAF_CHECK(find()->unavailable());
  run(); // it reaches the ledger again
  advance(10s);
  CAF_CHECK(elsewhere(*resolve(earlier)));
  CAF_CHECK(resolve(later)->ok);
}

CAF_TEST(an earlier process learns of the later one at its next renewal and asks the ledger no more) {
  auto& earlier = start("a");
  advance(1s);
  start_twin("a");
  advance(lease_term / 3);
  CAF_CHECK(elsewhere(*resolve(earlier)));
  CAF_CHECK(earlier.process->is_superseded());
  const auto calls = store.head(event.aggregate)->epoch;
  advance(10s);
  CAF_CHECK(elsewhere(*resolve(earlier)));
  CAF_CHECK_EQUAL(store.head(event.aggregate)->epoch, calls);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace leases_test
