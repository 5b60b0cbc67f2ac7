// SPDX-License-Identifier: Apache-2.0
// A ledger that has lost commits, as after a failover to an asynchronous replica: the aggregate is stopped at
// every node that knows of them, until a person accepts the loss.
#define CAF_SUITE ledger_loss
#include "actors/cluster/cluster.hpp"

#include "tests/actors/base/nodes.hpp"

namespace loss_test {

using namespace fq;
using namespace fq::test;

namespace {

struct loss_fixture : nodes_fixture {
  std::shared_ptr<answer<entry_reply>> join_at(node& n, std::uint64_t who) {
    const auto owner = resolve(n);
    CAF_REQUIRE(owner->ok);
    auto joined = ask<entry_reply>(owner->value, join{event.id, customer(who), who});
    run();
    return joined;
  }
  bool is_lost_at(node& n) {
    const auto found = resolve(n);
    return !found->ok && is(found->error, errc::ledger_lost);
  }
  losses_accepted accept(node& n, aggregate_id aggregate = {}) {
    auto done = ask<losses_accepted>(n.worker, accept_losses{aggregate});
    run();
    CAF_REQUIRE(done->ok);
    return done->value;
  }
  /// One join that is kept and `lost` that are not.
  void lose(node& n, std::uint64_t lost) {
    CAF_REQUIRE(join_at(n, 1)->ok);
    store.sync();
    for (std::uint64_t who = 2; who < 2 + lost; ++who) CAF_REQUIRE(join_at(n, who)->ok);
    store.crash();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(loss_tests, loss_fixture)

CAF_TEST(nothing is acknowledged above lost commits until the loss is accepted) {
  auto& a = start("a");
  lose(a, 3);
  CAF_CHECK(join_at(a, 9)->unavailable()); // this one finds it
  CAF_CHECK(is_lost_at(a));
  CAF_CHECK_EQUAL(a.alarms, 1u);
  CAF_CHECK_EQUAL(a.memory->stopped().load(), 1u);
  advance(lost_cool_down * 3); // it asks again
  CAF_CHECK(is_lost_at(a));
  CAF_CHECK_EQUAL(a.alarms, 1u);
  CAF_CHECK(store.find_entry(event.aggregate, queue_number{2}) == nullptr);

  const auto done = accept(a, event.aggregate);
  CAF_REQUIRE_EQUAL(done.losses.size(), 1u);
  CAF_CHECK(done.losses[0].event == event.id && done.losses[0].decisions() >= 3);
  advance(lost_cool_down);
  const auto next = join_at(a, 9);
  CAF_REQUIRE(next->ok);
  CAF_CHECK_EQUAL(value_of(next->value.entry.number), 2u);
  CAF_CHECK_EQUAL(a.memory->stopped().load(), 0u);
  const auto rows = store.audit({.target = event.id});
  CAF_REQUIRE_EQUAL(rows.size(), 1u);
  CAF_CHECK_EQUAL(rows[0].action, "loss.accept");
  CAF_CHECK(accept(a).losses.empty());
}

CAF_TEST(a new process that remembers nothing does not serve it either) {
  auto& a = start("a");
  lose(a, 1);
  CAF_CHECK(join_at(a, 9)->unavailable());
  stop(a);
  auto& next = start_twin("a");
  CAF_CHECK(is_lost_at(next));
  CAF_CHECK_EQUAL(next.alarms, 1u);
}

CAF_TEST(a node that was told what another one saw does not serve it) {
  auto& a = start("a");
  auto& b = start("b");
  lose(a, 2);
  std::uint64_t version = 0;
  const auto news = a.memory->news(version, 100);
  CAF_REQUIRE(!news.empty());
  caf::anon_send(b.root, ledger_seen{news});
  stop(a);
  advance(lease_term);
  advance(lease_term);
  CAF_CHECK(is_lost_at(b));
  CAF_CHECK(a.memory->news(version, 100).empty());
}

CAF_TEST(an owner that loaded too little stops when it is told more) {
  auto& a = start("a");
  CAF_REQUIRE(join_at(a, 1)->ok);
  const auto head = *store.head(event.aggregate);
  a.memory->saw({event.aggregate, head.epoch + 1, head.applied_seq + 5, head.applied_seq + 5, 0});
  CAF_CHECK(join_at(a, 2)->unavailable());
  CAF_CHECK(is_lost_at(a));
}

CAF_TEST(a lost takeover is no loss of the next one) {
  auto& a = start("a");
  CAF_REQUIRE(join_at(a, 1)->ok);
  stop(a);
  auto& next = start_twin("a"); // raises the epoch
  CAF_REQUIRE(join_at(next, 1)->ok);
  CAF_CHECK_EQUAL(next.alarms, 0u);
}

CAF_TEST(two histories of one aggregate stop an owner that continues one of them) {
  auto& a = start("a");
  CAF_REQUIRE(join_at(a, 1)->ok);
  const auto head = *store.head(event.aggregate);
  // Another node's epoch before this one, which the ledger has lost: this owner has already gone further.
  CAF_REQUIRE(join_at(a, 2)->ok);
  CAF_REQUIRE(join_at(a, 3)->ok);
  caf::anon_send(a.root, ledger_seen{{{event.aggregate, head.epoch - 1, 0, head.applied_seq + 1, 7}}});
  run();
  CAF_CHECK(join_at(a, 4)->unavailable());
  CAF_CHECK(is_lost_at(a));
  CAF_CHECK_EQUAL(a.alarms, 1u);
}

CAF_TEST(what is remembered is bounded and told once) {
  const aggregate_id x{16}, y{17}, z{18};
  ledger_memory memory{2};
  memory.saw({x, 1, 0, 5, 9});
  memory.saw({y, 1, 0, 1, 9});
  memory.saw({x, 2, 5, 5, 9});
  std::uint64_t version = 0;
  auto news = memory.news(version, 1);
  CAF_REQUIRE_EQUAL(news.size(), 1u);
  CAF_CHECK(news[0].aggregate == y);
  news = memory.news(version, 9);
  CAF_REQUIRE_EQUAL(news.size(), 1u);
  CAF_CHECK(news[0].epoch == 2 && news[0].began == 5 && news[0].seq == 5);
  memory.saw({x, 2, 5, 5, 9});
  memory.saw({x, 1, 0, 5, 9});
  CAF_CHECK(memory.news(version, 9).empty());
  memory.saw({z, 1, 1, 1, 9});
  CAF_CHECK((memory.of(y) == ledger_mark{}));
  CAF_CHECK((memory.of(x) == ledger_mark{2, 5}));
}

CAF_TEST(sights that cannot both be true count as an epoch that no ledger has) {
  const auto after = [](const ledger_sight& first, const ledger_sight& second) {
    ledger_memory memory;
    memory.saw(first);
    memory.saw(second);
    return memory.of(first.aggregate);
  };
  const aggregate_id x{16};
  const ledger_sight early{x, 4, 80, 86, 1}, late{x, 5, 86, 90, 2};
  CAF_CHECK((after(early, late) == ledger_mark{5, 90}));
  CAF_CHECK((after(late, early) == ledger_mark{5, 90}));
  const ledger_sight too_early{x, 5, 85, 90, 2}; // began before the end of epoch 4
  CAF_CHECK((after(early, too_early) == ledger_mark{6, 90}));
  CAF_CHECK((after(too_early, early) == ledger_mark{6, 90}));
  const ledger_sight of_another{x, 4, 80, 81, 2}; // the same epoch
  CAF_CHECK((after(early, of_another) == ledger_mark{5, 86}));
  CAF_CHECK((after(of_another, early) == ledger_mark{5, 86}));
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace loss_test
