// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: lease ownership and duration, rights of a former owner, and the nodes
// that dispatch each part of the outbox. Leases that must last are long; leases that must expire are short,
// and the test waits for it.
#define CAF_SUITE store_leases
#include "tests/store/port/engines.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

namespace leases_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr milliseconds long_term{60'000}, short_term{50};

const lease_terms ada{"ada", long_term}, ben{"ben", long_term};
const lease_terms hasty_ada{"ada", short_term};

using numbers = std::vector<aggregate_id>;
using partitions = std::vector<std::uint32_t>;

/// Polls until `condition` holds; false after ten seconds.
template <class Condition>
bool eventually(Condition condition) {
  const auto give_up = std::chrono::steady_clock::now() + seconds{10};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(milliseconds{2});
  }
  return true;
}

/// Acquires an aggregate; fails the test on refusal.
acquired taken(ledger& store, const lease_terms& lease, aggregate_id aggregate = sale) {
  auto result = store.acquire(aggregate, lease, never);
  auto* got = std::get_if<acquired>(&result);
  CAF_REQUIRE(got != nullptr);
  return std::move(*got);
}

/// The lease that prevents `lease.owner` from acquiring the sale, if any.
std::optional<lease_held> refusal_of(ledger& store, const lease_terms& lease) {
  auto result = store.acquire(sale, lease, never);
  if (auto* held = std::get_if<lease_held>(&result)) return std::move(*held);
  return std::nullopt;
}

commit_outcome join(ledger& store, const acquired& own, std::uint64_t number) {
  const batch b{
    sale, own.epoch, own.applied_seq, own.applied_seq + 1, noon, {entry_joined{sample_entry(number)}}};
  return store.commit({&b, 1}).at(0);
}

/// These aggregates under their present epochs.
std::vector<tenure> tenures_of(ledger& store, const numbers& aggregates) {
  std::vector<tenure> all;
  for (const auto a : aggregates) all.push_back({a, store.peek(a).head.epoch});
  return all;
}

numbers lost(ledger& store, const lease_terms& lease, const numbers& held) {
  return store.renew(lease, tenures_of(store, held)).lost;
}

void release(ledger& store, const std::string& owner, const numbers& held) {
  store.release(owner, tenures_of(store, held));
}

bool holds(ledger& store, const lease_terms& lease, const tenure& held) {
  return store.renew(lease, {&held, 1}).lost.empty();
}

/// The lease of a process that begins now.
lease_terms begun(ledger& store, const std::string& node) { return {node, long_term, store.enlist(node)}; }

/// Whether `call` is refused because a later process of the node has begun.
template <class Call>
bool is_superseded(Call call) {
  try {
    call();
    return false;
  } catch (const superseded&) { return true; }
}

/// Puts the sample sale on sale, so that an owner must run.
void activate(world& w) {
  auto event = sample_event();
  event.status = event_status::active;
  FQ_COMMITS(w.put({event_changed{event_status::draft, event}}));
}

bool wakes(ledger& store, const std::string& owner) {
  const auto woken = store.aggregates_to_wake(owner);
  return std::ranges::find(woken, sale) != woken.end();
}

partitions all_partitions() {
  partitions all(outbox_partitions);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

partitions leased(ledger& store, const lease_terms& lease, const partitions& wanted = all_partitions()) {
  auto held = store.lease_outbox(lease, wanted);
  std::ranges::sort(held);
  return held;
}

} // namespace

CAF_TEST(a second owner is refused while the lease lasts and told how long) {
  in_every_world([](world& w) {
    const auto own = taken(w.store, ada);
    for (int i = 0; i < 2; ++i) {
      const auto refusal = refusal_of(w.store, ben);
      CAF_REQUIRE(refusal.has_value());
      CAF_CHECK_EQUAL(refusal->owner, "ada");
      CAF_CHECK(refusal->left > milliseconds{0});
      CAF_CHECK(refusal->left <= long_term);
    }
    FQ_COMMITS(join(w.store, own, 1)); // the refused acquire did not raise the epoch
    CAF_CHECK(lost(w.store, ada, {sale}).empty());
  });
}

CAF_TEST(a lease lasts for its term by the clock of the ledger) {
  in_every_world([](world& w) {
    const auto before = std::chrono::steady_clock::now();
    taken(w.store, hasty_ada);
    CAF_CHECK(eventually([&] { return !refusal_of(w.store, ben); }));
    const auto elapsed = std::chrono::steady_clock::now() - before;
    CAF_CHECK(elapsed + milliseconds{2} >= short_term); // the ledger counts whole milliseconds
  });
}

CAF_TEST(after the lease a successor takes over and the former owner has lost it: I17) {
  in_every_world([](world& w) {
    const auto former = taken(w.store, hasty_ada);
    std::optional<acquired> successor;
    CAF_REQUIRE(eventually([&] {
      auto result = w.store.acquire(sale, ben, never);
      if (auto* got = std::get_if<acquired>(&result)) successor = std::move(*got);
      return successor.has_value();
    }));
    CAF_CHECK_EQUAL(successor->epoch, former.epoch + 1);
    CAF_CHECK(join(w.store, former, 1) == commit_outcome::fenced);
    CAF_CHECK((lost(w.store, ada, {sale}) == numbers{sale}));
    CAF_CHECK(refusal_of(w.store, ada).has_value()); // the failed renewal did not affect the successor
    CAF_CHECK(lost(w.store, ben, {sale}).empty());
    FQ_COMMITS(join(w.store, *successor, 1));
  });
}

CAF_TEST(the next owner learns how far the clock was behind) {
  in_every_world([](world& w) {
    const auto commit = [&](const acquired& own, milliseconds behind) {
      const batch b{sale,
                    own.epoch,
                    own.applied_seq,
                    own.applied_seq + 1,
                    own.now - behind,
                    {event_changed{event_status::draft, sample_event()}}};
      FQ_COMMITS(w.store.commit({&b, 1}).at(0));
    };
    const auto is_about = [](milliseconds lag, milliseconds expected) {
      return lag >= expected && lag < expected + seconds{5};
    };
    const lease_terms hasty_ben{"ben", short_term};
    commit(taken(w.store, hasty_ada), seconds{600});
    CAF_REQUIRE(eventually([&] { return !refusal_of(w.store, hasty_ben); }));
    const auto silent = taken(w.store, hasty_ben).clock_lag;
    CAF_CHECK(is_about(silent, seconds{600} + short_term));
    release(w.store, "ben", {sale});
    const auto released = taken(w.store, ada);
    CAF_CHECK(is_about(released.clock_lag, silent));
    commit(released, milliseconds{0});
    CAF_CHECK(is_about(taken(w.store, ada).clock_lag, milliseconds{0}));
  });
}

CAF_TEST(a peer ends the leases of a silent node and of no other) {
  in_every_world([](world& w) {
    const auto own = taken(w.store, ada);
    leased(w.store, ada);
    node_row row;
    row.id = "ada";
    row = w.store.beat(row, seconds{60}).front();
    auto earlier = row, other = row;
    earlier.seen_at = row.seen_at - milliseconds{1};
    other.incarnation = 7;
    CAF_CHECK_EQUAL(w.store.end_leases(earlier, true, long_term), 0u); // it has beaten since
    CAF_CHECK_EQUAL(w.store.end_leases(other, true, long_term), 0u);
    CAF_CHECK(refusal_of(w.store, ben).has_value());
    CAF_CHECK_EQUAL(w.store.end_leases(row, true, long_term), 1u);
    CAF_CHECK_EQUAL(w.store.end_leases(row, true, long_term), 0u);
    CAF_CHECK(join(w.store, own, 1) == commit_outcome::fenced);
    CAF_CHECK(!holds(w.store, ada, {sale, own.epoch}));
    CAF_CHECK_EQUAL(taken(w.store, ben).epoch, own.epoch + 2);
    CAF_CHECK((leased(w.store, ben) == all_partitions()));
  });
}

CAF_TEST(a renewed lease goes on) {
  in_every_world([](world& w) {
    const auto own = taken(w.store, hasty_ada);
    CAF_CHECK(lost(w.store, ada, {sale}).empty());
    const auto refusal = refusal_of(w.store, ben);
    CAF_REQUIRE(refusal.has_value());
    CAF_CHECK(refusal->left > short_term);
    FQ_COMMITS(join(w.store, own, 1)); // under the same epoch
  });
}

CAF_TEST(an owner who is late but was not replaced goes on) {
  in_every_world([](world& w) {
    activate(w);
    const auto own = taken(w.store, hasty_ada);
    CAF_REQUIRE(eventually([&] { return wakes(w.store, "ben"); })); // the lease is over
    CAF_CHECK(lost(w.store, ada, {sale}).empty());
    CAF_CHECK(refusal_of(w.store, ben).has_value());
    FQ_COMMITS(join(w.store, own, 1));
  });
}

CAF_TEST(a released aggregate is free at once) {
  in_every_world([](world& w) {
    const auto former = taken(w.store, ada);
    const numbers both{sale, aggregate_id{4'000'000'000}}; // the second does not exist
    release(w.store, "ben", both);
    CAF_CHECK(refusal_of(w.store, ben).has_value()); // only its owner can end a lease
    release(w.store, "ada", both);
    CAF_CHECK((lost(w.store, ada, {sale}) == numbers{sale}));
    CAF_CHECK_EQUAL(taken(w.store, ben).epoch, former.epoch + 1);
    release(w.store, "ada", both);
    CAF_CHECK(refusal_of(w.store, ada).has_value());
  });
}

CAF_TEST(the same owner takes it again at once under a higher epoch) {
  in_every_world([](world& w) {
    const auto before = taken(w.store, ada);
    FQ_COMMITS(join(w.store, before, 1));
    const auto again = taken(w.store, ada);
    CAF_CHECK_EQUAL(again.epoch, before.epoch + 1);
    CAF_CHECK_EQUAL(again.applied_seq, before.applied_seq + 1);
    CAF_CHECK_EQUAL(again.image.entries.size(), 1u);
    CAF_CHECK(join(w.store, before, 2) == commit_outcome::fenced);
    CAF_CHECK(refusal_of(w.store, ben).has_value());
  });
}

CAF_TEST(renewing names what is lost and keeps the rest) {
  in_every_world([](world& w) {
    taken(w.store, ada);
    taken(w.store, ben, accounts_aggregate);
    taken(w.store, ada, catalog_aggregate);
    const aggregate_id absent{4'000'000'000};
    auto gone = lost(w.store, ada, {sale, accounts_aggregate, catalog_aggregate, absent});
    std::ranges::sort(gone);
    CAF_CHECK((gone == numbers{accounts_aggregate, absent}));
    CAF_CHECK(lost(w.store, ada, {}).empty());
  });
}

CAF_TEST(an aggregate that does not exist cannot be leased) {
  on_every_engine([](ledger& store) {
    CAF_CHECK(std::holds_alternative<no_such_aggregate>(store.acquire(sale, ada, never)));
  });
}

CAF_TEST(an empty owner takes it whoever holds it and leaves no lease) {
  in_every_world([](world& w) {
    const auto former = taken(w.store, ada);
    const aggregate_id absent{4'000'000'000};
    CAF_CHECK(lost(w.store, {}, {sale, accounts_aggregate, absent}).empty()); // it has no lease
    const auto tool = w.store.acquire_unleased(sale, never);
    CAF_REQUIRE(tool.has_value());
    CAF_CHECK_EQUAL(tool->epoch, former.epoch + 1);
    CAF_CHECK((lost(w.store, ada, {sale}) == numbers{sale}));
    CAF_CHECK(lost(w.store, {}, {sale}).empty());
    FQ_COMMITS(join(w.store, *tool, 1));
    CAF_CHECK_EQUAL(taken(w.store, ben).epoch, former.epoch + 2);
    release(w.store, {}, {sale});
    CAF_CHECK(refusal_of(w.store, ada).has_value()); // it does not end another owner's lease
  });
}

CAF_TEST(nobody is told to wake what another owner runs) {
  in_every_world([](world& w) {
    activate(w);
    CAF_CHECK(wakes(w.store, "ada"));
    taken(w.store, ada);
    CAF_CHECK(wakes(w.store, "ada"));
    CAF_CHECK(!wakes(w.store, "ben"));
    CAF_CHECK(wakes(w.store, {})); // ignores leases
    release(w.store, "ada", {sale});
    CAF_CHECK(wakes(w.store, "ben"));
    taken(w.store, hasty_ada);
    CAF_CHECK(eventually([&] { return wakes(w.store, "ben"); }));
  });
}

CAF_TEST(two owners never hold the same partition) {
  on_every_engine([](ledger& store) {
    CAF_CHECK((leased(store, ada, {3, 0, 7}) == partitions{0, 3, 7}));
    const auto rest = leased(store, ben);
    CAF_CHECK((rest == partitions{1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15}));
    CAF_CHECK((leased(store, ada) == partitions{0, 3, 7}));
    CAF_CHECK(leased(store, ben) == rest);
    CAF_CHECK(leased(store, ben, {0, 3, 7}).empty());
    CAF_CHECK(leased(store, ben, {}).empty());
    CAF_CHECK((leased(store, ada, {1, 7}) == partitions{7}));
  });
}

CAF_TEST(a partition whose lease ended goes to who asks and is lost to its former holder) {
  on_every_engine([](ledger& store) {
    CAF_CHECK(leased(store, hasty_ada) == all_partitions());
    CAF_CHECK(leased(store, {"ada", long_term}, {5}) == partitions{5});
    const auto all_but_one = [] {
      auto all = all_partitions();
      std::erase(all, 5u);
      return all;
    }();
    CAF_CHECK(eventually([&] { return leased(store, ben) == all_but_one; }));
    CAF_CHECK((leased(store, ada) == partitions{5}));
  });
}

CAF_TEST(an empty owner gets every partition and keeps nobody out) {
  on_every_engine([](ledger& store) {
    CAF_CHECK((leased(store, ada, {1}) == partitions{1}));
    CAF_CHECK(leased(store, {}) == all_partitions());
    CAF_CHECK((leased(store, ben, {1, 2}) == partitions{2}));
  });
}

CAF_TEST(nodes see one another as long as they say that they live) {
  in_every_world([](world& w) {
    const node_row alice{"alice", "10.0.0.1:4700", 1, 3, true, false, never, true, "5ec2e7"},
      bob{"bob", "", 2, 0, false, true, never};
    w.store.beat(bob, long_term);
    auto seen = w.store.beat(alice, long_term);
    CAF_REQUIRE_EQUAL(seen.size(), 2u);
    CAF_CHECK(is_set(seen[0].seen_at));
    for (auto& node : seen) node.seen_at = never;
    CAF_CHECK((seen == std::vector{alice, bob}));
    auto busier = alice;
    busier.owners = 4;
    seen = w.store.beat(busier, long_term);
    CAF_CHECK_EQUAL(seen.at(0).owners, 4u);
    // bob's heartbeat is too old
    CAF_CHECK(eventually([&] { return w.store.beat(alice, short_term).size() == 1; }));
    CAF_CHECK_EQUAL(w.store.beat(alice, long_term).size(), 2u);
    w.store.leave("bob", 0);
    CAF_CHECK_EQUAL(w.store.beat(alice, long_term).size(), 1u);
  });
}

// -- two processes under one name ---------------------------------------------------------------------------

CAF_TEST(a tenure that its own owner has ended is neither renewed nor released) {
  in_every_world([](world& w) {
    const tenure before{sale, taken(w.store, ada).epoch};
    const tenure again{sale, taken(w.store, ada).epoch};
    CAF_CHECK(!holds(w.store, ada, before));
    CAF_CHECK(holds(w.store, ada, again));
    w.store.release("ada", {&before, 1});
    CAF_CHECK(refusal_of(w.store, ben).has_value());
    w.store.release("ada", {&again, 1});
    CAF_CHECK(!refusal_of(w.store, ben));
  });
}

CAF_TEST(a process that begins ends what earlier ones of its name may do) {
  in_every_world([](world& w) {
    const auto earlier = begun(w.store, "ada");
    const auto own = taken(w.store, earlier);
    const tenure held{sale, own.epoch};
    FQ_COMMITS(join(w.store, own, 1));
    const auto later = begun(w.store, "ada");
    CAF_CHECK(later.incarnation > earlier.incarnation);
    const auto at = w.store.peek(sale).head.applied_seq;
    auto stale = own;
    stale.applied_seq = at;
    CAF_CHECK(join(w.store, stale, 2) == commit_outcome::fenced);
    CAF_CHECK(!holds(w.store, earlier, held));
    CAF_CHECK(is_superseded([&] { taken(w.store, earlier); }));
    CAF_CHECK(is_superseded([&] { taken(w.store, earlier, catalog_aggregate); })); // without a lease
    CAF_CHECK_EQUAL(refusal_of(w.store, ben).value().owner, "ada"); // the later process needs not wait
    CAF_CHECK_EQUAL(taken(w.store, later).applied_seq, own.applied_seq + 1);
  });
}

CAF_TEST(an earlier process takes nothing back from a later one of its name) {
  in_every_world([](world& w) {
    const auto earlier = begun(w.store, "ada");
    const tenure held{sale, taken(w.store, earlier).epoch};
    const auto later = begun(w.store, "ada");
    const auto own = taken(w.store, later);
    CAF_CHECK(!holds(w.store, earlier, held));
    CAF_CHECK(is_superseded([&] { taken(w.store, earlier); }));
    w.store.release("ada", {&held, 1}); // its shutdown
    CAF_CHECK(refusal_of(w.store, ben).has_value());
    CAF_CHECK(holds(w.store, later, {sale, own.epoch}));
    FQ_COMMITS(join(w.store, own, 1));
  });
}

CAF_TEST(partitions go to the later process of a name at once) {
  on_every_engine([](ledger& store) {
    const auto earlier = begun(store, "ada");
    CAF_CHECK(leased(store, earlier) == all_partitions());
    const auto later = begun(store, "ada");
    CAF_CHECK(is_superseded([&] { leased(store, earlier); }));
    CAF_CHECK(leased(store, later) == all_partitions());
    CAF_CHECK(leased(store, ben).empty());
  });
}

CAF_TEST(an earlier process does not overwrite the heartbeat of a later one) {
  on_every_engine([](ledger& store) {
    node_row earlier{"alice", "10.0.0.1:4700", 1, 0, true, false, never}, later = earlier;
    earlier.incarnation = store.enlist("alice");
    store.beat(earlier, long_term);
    later.incarnation = store.enlist("alice");
    later.address = "10.0.0.2:4700";
    store.beat(later, long_term);
    CAF_CHECK(is_superseded([&] { store.beat(earlier, long_term); }));
    store.leave("alice", earlier.incarnation);
    const auto seen = store.beat({"bob", "", 1, 0, true, false, never}, long_term);
    CAF_REQUIRE_EQUAL(seen.size(), 2u);
    CAF_CHECK_EQUAL(seen[0].address, later.address);
    CAF_CHECK_EQUAL(seen[0].incarnation, later.incarnation);
    store.leave("alice", later.incarnation);
    CAF_CHECK_EQUAL(store.beat({"bob", "", 1, 0, true, false, never}, long_term).size(), 1u);
    CAF_CHECK(store.enlist("alice") > later.incarnation); // the count survives the row
  });
}

} // namespace leases_test
