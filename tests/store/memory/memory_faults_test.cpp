// SPDX-License-Identifier: Apache-2.0
// The memory ledger's injected faults: to an owner, each must look like the real fault.
#define CAF_SUITE store_memory_faults
#include "tests/store/port/engines.hpp"

#include <utility>

namespace memory_faults_test {

using namespace fq;
using namespace fq::test;

namespace {

using kind = commit_fault::kind;

/// A world whose next commit has the configured fault.
struct faulty_world {
  faulty_world() : store(options()), w(store) {}

  memory_ledger_options options() {
    memory_ledger_options o;
    o.faults.on_commit = [this](std::span<const batch>) { return std::exchange(next, {}); };
    o.faults.acquire_fails = [this](aggregate_id) { return std::exchange(acquire_fails, false); };
    o.on_applied = [this](const batch&) { ++applied; };
    o.now = [this] { return now; };
    return o;
  }

  batch join(std::uint64_t number) const { return w.me.next(sale, {entry_joined{sample_entry(number)}}); }
  commit_outcome commit(const batch& b) { return store.commit({&b, 1}).at(0); }
  std::size_t entries() const { return store.committed(sale)->entries.size(); }
  void touch_something_else() { store.acquire_unleased(accounts_aggregate, never); }

  commit_fault next;
  bool acquire_fails = false;
  int applied = 0;
  timestamp now = noon;
  memory_ledger store;
  world w;
};

bool throws_unknown(faulty_world& f, const batch& b) {
  try {
    f.commit(b);
  } catch (const commit_unknown&) { return true; }
  return false;
}

} // namespace

CAF_TEST(a store that is away applies nothing and takes the batch later) {
  faulty_world f;
  f.next = {kind::unavailable};
  const auto b = f.join(1);
  bool thrown = false;
  try {
    f.commit(b);
  } catch (const ledger_unavailable&) { thrown = true; }
  CAF_CHECK(thrown);
  CAF_CHECK_EQUAL(f.entries(), 0u);
  FQ_COMMITS(f.commit(b));
}

CAF_TEST(an unknown commit that applied is recognised when it is submitted again) {
  faulty_world f;
  f.next = {kind::unknown_applied};
  const auto b = f.join(1);
  CAF_CHECK(throws_unknown(f, b));
  CAF_CHECK_EQUAL(f.entries(), 1u);
  CAF_CHECK(f.commit(b) == commit_outcome::already_applied);
}

CAF_TEST(an unknown commit that was lost is applied when it is submitted again) {
  faulty_world f;
  f.next = {kind::unknown_lost};
  const auto b = f.join(1);
  CAF_CHECK(throws_unknown(f, b));
  CAF_CHECK_EQUAL(f.entries(), 0u);
  FQ_COMMITS(f.commit(b));
}

CAF_TEST(a late commit lands after its calls) {
  faulty_world f;
  f.next = {kind::unknown_late, 2};
  CAF_CHECK(throws_unknown(f, f.join(1)));
  f.touch_something_else();
  f.touch_something_else();
  CAF_CHECK_EQUAL(f.entries(), 0u);
  CAF_CHECK_EQUAL(f.store.in_air(), 1u);
  f.touch_something_else();
  CAF_CHECK_EQUAL(f.entries(), 1u);
  CAF_CHECK_EQUAL(f.store.in_air(), 0u);
}

CAF_TEST(a late commit is decided before its resubmission and before a successor) {
  faulty_world f;
  f.next = {kind::unknown_late, 100};
  const auto b = f.join(1);
  CAF_CHECK(throws_unknown(f, b));
  CAF_CHECK(f.commit(b) == commit_outcome::already_applied);

  faulty_world g;
  g.next = {kind::unknown_late, 100};
  CAF_CHECK(throws_unknown(g, g.join(1)));
  const auto successor = g.store.acquire_unleased(sale, never);
  CAF_CHECK_EQUAL(successor->applied_seq, 1u);
  CAF_CHECK_EQUAL(successor->image.entries.size(), 1u);
}

CAF_TEST(a late creation is decided before its event is asked for) {
  faulty_world f;
  f.next = {kind::unknown_late, 100};
  const auto b = f.w.me.next(catalog_aggregate, {event_created{sample_event(other_sale), {}}});
  CAF_CHECK(throws_unknown(f, b));
  CAF_CHECK(f.store.acquire_unleased(other_sale, never).has_value());
}

CAF_TEST(a late commit is decided before its lease is renewed or released) {
  const tenure held[] = {{sale, 1}};
  faulty_world f;
  f.next = {kind::unknown_late, 100};
  CAF_CHECK(throws_unknown(f, f.join(1)));
  f.store.renew({"ada", milliseconds{1'000}}, held);
  CAF_CHECK_EQUAL(f.entries(), 1u);

  faulty_world g;
  g.next = {kind::unknown_late, 100};
  CAF_CHECK(throws_unknown(g, g.join(1)));
  g.store.release("ada", held);
  CAF_CHECK_EQUAL(g.entries(), 1u);
}

CAF_TEST(calls about leases and the outbox pass the time of a late commit) {
  const tenure others[] = {{accounts_aggregate, 1}};
  const std::uint32_t partition[] = {0};
  const lease_terms lease{"ada", milliseconds{1'000}};
  faulty_world f;
  f.next = {kind::unknown_late, 4};
  CAF_CHECK(throws_unknown(f, f.w.me.next(sale, {outbox_appended{{id_of(1), "topic", "{}", noon}}})));
  f.store.renew(lease, others);
  f.store.release(lease.owner, others);
  f.store.lease_outbox(lease, partition);
  f.store.mark_delivered(lane::mail, {}, noon);
  // a read sees only committed rows and advances no time
  CAF_CHECK(f.store.undelivered(lane::mail, partition, 1, {}).empty());
  CAF_CHECK_EQUAL(f.store.in_air(), 1u);
  f.store.lease_outbox(lease, partition);
  CAF_CHECK_EQUAL(f.store.undelivered(lane::mail, partition, 1, {}).size(), 1u);
}

CAF_TEST(leases end at their millisecond by the clock that was given) {
  faulty_world f;
  const lease_terms ada{"ada", milliseconds{100}}, ben{"ben", milliseconds{100}};
  const std::uint32_t partition[] = {0};
  CAF_CHECK(std::holds_alternative<acquired>(f.store.acquire(sale, ada, never)));
  CAF_CHECK_EQUAL(f.store.lease_outbox(ada, partition).size(), 1u);
  f.now += milliseconds{99};
  const auto refusal = f.store.acquire(sale, ben, never);
  CAF_REQUIRE(std::holds_alternative<lease_held>(refusal));
  CAF_CHECK(std::get<lease_held>(refusal).left == milliseconds{1});
  CAF_CHECK(f.store.lease_outbox(ben, partition).empty());
  f.now += milliseconds{1};
  CAF_CHECK(std::holds_alternative<acquired>(f.store.acquire(sale, ben, never)));
  CAF_CHECK_EQUAL(f.store.lease_outbox(ben, partition).size(), 1u);
}

CAF_TEST(a delayed request that a successor overtook is fenced when it arrives) {
  faulty_world f;
  f.next = {kind::unknown_delayed, 1};
  CAF_CHECK(throws_unknown(f, f.join(1)));
  CAF_CHECK(f.store.acquire_unleased(sale, never)->applied_seq == 0u);
  f.touch_something_else();
  CAF_CHECK_EQUAL(f.store.in_air(), 0u);
  CAF_CHECK_EQUAL(f.entries(), 0u);
}

CAF_TEST(a delayed request that its resubmission overtook has no second effect) {
  faulty_world f;
  f.next = {kind::unknown_delayed, 1};
  const auto b = f.join(1);
  CAF_CHECK(throws_unknown(f, b));
  FQ_COMMITS(f.commit(b));
  f.store.settle();
  CAF_CHECK_EQUAL(f.store.in_air(), 0u);
  CAF_CHECK_EQUAL(f.entries(), 1u);
  CAF_CHECK_EQUAL(f.store.head(sale)->applied_seq, 1u);
}

CAF_TEST(a failed acquire leaves the epoch alone) {
  faulty_world f;
  const auto before = *f.store.head(sale);
  f.acquire_fails = true;
  bool thrown = false;
  try {
    f.store.acquire_unleased(sale, never);
  } catch (const ledger_unavailable&) { thrown = true; }
  CAF_CHECK(thrown);
  CAF_CHECK(*f.store.head(sale) == before);
  FQ_COMMITS(f.commit(f.join(1)));
}

CAF_TEST(a busy store says so and applies nothing and takes the batch later) {
  faulty_world f;
  f.next = {kind::busy};
  const auto b = f.join(1);
  CAF_CHECK(f.commit(b) == commit_outcome::busy);
  CAF_CHECK_EQUAL(f.entries(), 0u);
  FQ_COMMITS(f.commit(b));
  CAF_CHECK_EQUAL(f.entries(), 1u);
}

CAF_TEST(a crash drops what is in the air and keeps what was acknowledged) {
  faulty_world f;
  FQ_COMMITS(f.commit(f.join(1)));
  f.w.me.take(sale);
  f.next = {kind::unknown_late, 100};
  CAF_CHECK(throws_unknown(f, f.join(2)));
  f.store.crash();
  CAF_CHECK_EQUAL(f.store.in_air(), 0u);
  CAF_CHECK_EQUAL(f.entries(), 1u);
}

CAF_TEST(without a sync a crash loses acknowledged commits) {
  memory_ledger store({.sync_each_commit = false, .now = wall_now});
  world w(store);
  FQ_COMMITS(w.put({entry_joined{sample_entry(1)}}));
  store.sync();
  FQ_COMMITS(w.put({entry_joined{sample_entry(2)}}));
  CAF_CHECK_EQUAL(store.committed(sale)->entries.size(), 2u);
  store.crash();
  CAF_CHECK_EQUAL(store.committed(sale)->entries.size(), 1u);
  CAF_CHECK_EQUAL(store.head(sale)->applied_seq, 1u);
}

CAF_TEST(the planted bug lets a former owner commit) {
  memory_ledger store({.skip_epoch_guard = true, .now = wall_now});
  world w(store);
  const auto stale = w.me.next(sale, {entry_joined{sample_entry(1)}});
  w.me.take(sale);
  FQ_COMMITS(store.commit({&stale, 1}).at(0));
}

CAF_TEST(rows are found by key without a copy and batches are told as they apply) {
  faulty_world f;
  const auto claim = sample_claim(1, 1);
  const auto payment = sample_payment(1, claim);
  const int before = f.applied;
  FQ_COMMITS(f.w.put({entry_joined{sample_entry(7)}, claim_opened{claim}, payment_opened{payment},
                      refund_opened{sample_refund(1, payment)}}));
  FQ_CONFLICTS(f.w.put({stock_moved{0, -1, 0}}));
  CAF_CHECK_EQUAL(f.applied, before + 1);
  CAF_REQUIRE(f.store.find_entry(sale, queue_number{7}));
  CAF_CHECK(f.store.find_entry(sale, queue_number{7}) == &f.store.committed(sale)->entries[0]);
  CAF_CHECK(!f.store.find_entry(sale, queue_number{8}));
  CAF_CHECK(!f.store.find_entry(other_sale, queue_number{7}));
  CAF_CHECK(*f.store.find_claim(sale, claim.id) == claim);
  CAF_CHECK(*f.store.find_payment(sale, payment.id) == payment);
  CAF_CHECK(f.store.find_refund(sale, sample_refund(1, payment).id));
  CAF_CHECK_EQUAL(f.store.find_ticket_type(sale, 1)->total, 5);
  CAF_CHECK_EQUAL(f.store.aggregates().size(), 3u);
  CAF_CHECK_EQUAL(f.store.committed_history(sale)->size(), 4u);
}

} // namespace memory_faults_test
