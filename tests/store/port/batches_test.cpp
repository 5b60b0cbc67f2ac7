// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: exactly-once commits, fencing, isolation of batches.
#define CAF_SUITE store_batches
#include "tests/store/port/engines.hpp"

namespace batches_test {

using namespace fq;
using namespace fq::test;

namespace {

batch join_batch(const owner& me, aggregate_id aggregate, std::uint64_t number) {
  return me.next(aggregate, {entry_joined{sample_entry(number)}});
}

std::size_t entries_of(ledger& store, aggregate_id aggregate) {
  return store.peek(aggregate).image.entries.size();
}

/// Creates and acquires `count` events in addition to the sample event.
std::vector<aggregate_id> more_sales(world& w, std::uint32_t count) {
  std::vector<aggregate_id> result;
  for (std::uint32_t i = 0; i < count; ++i) {
    const aggregate_id number{number_of(other_sale) + i};
    const event_created creation{sample_event(number), {sample_type(0, 1, number)}};
    FQ_COMMITS(w.me.put(catalog_aggregate, {creation}));
    w.me.take(number);
    result.push_back(number);
  }
  return result;
}

} // namespace

CAF_TEST(a batch submitted again is recognised and has no second effect) {
  in_every_world([](world& w) {
    const auto b = join_batch(w.me, sale, 1);
    FQ_COMMITS(w.store.commit({&b, 1}).at(0));
    CAF_CHECK(w.store.commit({&b, 1}).at(0) == commit_outcome::already_applied);
    CAF_CHECK_EQUAL(entries_of(w.store, sale), 1u);
    auto later = b;
    later.from_seq = 1;
    later.to_seq = 5; // four decisions
    later.content = {entry_joined{sample_entry(2)}};
    FQ_COMMITS(w.store.commit({&later, 1}).at(0));
    CAF_CHECK(w.store.commit({&b, 1}).at(0) == commit_outcome::already_applied);
    CAF_CHECK(w.store.commit({&later, 1}).at(0) == commit_outcome::already_applied);
    CAF_CHECK(w.store.acquire_unleased(sale, never)->applied_seq == 5u);
  });
}

CAF_TEST(a batch that does not continue what is applied is out of order) {
  in_every_world([](world& w) {
    auto b = join_batch(w.me, sale, 1);
    b.from_seq = 1;
    b.to_seq = 2;
    CAF_CHECK(w.store.commit({&b, 1}).at(0) == commit_outcome::out_of_order);
    b.from_seq = 0;
    b.to_seq = 3;
    FQ_COMMITS(w.store.commit({&b, 1}).at(0));
    b.from_seq = 2;
    b.to_seq = 4; // overlaps an applied batch
    CAF_CHECK(w.store.commit({&b, 1}).at(0) == commit_outcome::out_of_order);
    b.from_seq = b.to_seq = 3; // without a decision
    CAF_CHECK(w.store.commit({&b, 1}).at(0) == commit_outcome::out_of_order);
    CAF_CHECK_EQUAL(entries_of(w.store, sale), 1u);
  });
}

CAF_TEST(nothing older than the epoch of a successor commits: I17) {
  in_every_world([](world& w) {
    const auto b = join_batch(w.me, sale, 1);
    const auto successor = w.store.acquire_unleased(sale, never);
    CAF_CHECK_EQUAL(successor->epoch, b.epoch + 1);
    CAF_CHECK(w.store.commit({&b, 1}).at(0) == commit_outcome::fenced);
    auto from_the_future = b;
    from_the_future.epoch += 2;
    CAF_CHECK(w.store.commit({&from_the_future, 1}).at(0) == commit_outcome::fenced);
    auto to_nobody = b;
    to_nobody.aggregate = aggregate_id{4'000'000'000};
    CAF_CHECK(w.store.commit({&to_nobody, 1}).at(0) == commit_outcome::fenced);
    CAF_CHECK_EQUAL(entries_of(w.store, sale), 0u);
  });
}

CAF_TEST(an aggregate without an owner takes no batch) {
  on_every_engine([](ledger& store) {
    const batch b{
      accounts_aggregate, 0, 0, 1, noon, {otp_stored{{"hash", "a@example.org", {}, "", noon, 0}}}};
    CAF_CHECK(store.commit({&b, 1}).at(0) == commit_outcome::fenced);
  });
}

CAF_TEST(a batch is applied as a whole or not at all) {
  in_every_world([](world& w) {
    const auto claim = sample_claim(1, 1);
    const auto payment = sample_payment(1, claim);
    auto moved = sample_entry(1);
    moved.status = entry_status::admitted;
    auto event = sample_event();
    event.status = event_status::active;
    FQ_COMMITS(w.put({entry_joined{sample_entry(1)}}));
    const auto before = w.image();
    const auto history = w.store.history(sale);
    FQ_CONFLICTS(w.put({
      event_changed{event_status::draft, event}, ticket_type_added{sample_type(3, 1)},
      entry_joined{sample_entry(2)}, entry_moved{entry_status::waiting, moved}, stock_moved{0, 1, 0},
      claim_opened{claim}, payment_opened{payment}, refund_opened{sample_refund(1, payment)},
      receipt_stored{{"sandbox", "evt", noon}}, idempotency_stored{sample_key(1, noon)},
      organizer_stored{{id_of(1), default_tenant, "a", "b", noon}},
      customer_stored{{id_of(1), default_tenant, "a", noon}}, otp_stored{{"a", "a", {}, "b", noon, 0}},
      otp_removed{"a"}, event_created{sample_event(other_sale), {}}, stock_moved{0, -2, 0}, // one too many
    }));
    CAF_CHECK(w.image() == before);
    CAF_CHECK(w.store.history(sale) == history);
    CAF_CHECK(!w.store.acquire_unleased(other_sale, never));
    // The rolled back keys are still free.
    const receipt_row receipt{"sandbox", "evt", noon};
    FQ_COMMITS(w.put({claim_opened{claim}, payment_opened{payment}, receipt_stored{receipt}}));
  });
}

CAF_TEST(a refused batch does no harm to the others of the call) {
  in_every_world([](world& w) {
    const auto sales = more_sales(w, 4);
    std::vector<batch> call;
    call.push_back(join_batch(w.me, sale, 1));
    const auto joins = entry_joined{sample_entry(1)};
    call.push_back(w.me.next(sales[0], {joins, stock_moved{0, 2, 0}})); // violates a CHECK
    call.push_back(join_batch(w.me, sales[1], 1));
    call.back().epoch += 7; // fenced
    const entry_moved from_another_state{entry_status::admitted, sample_entry(1)};
    call.push_back(w.me.next(sales[2], {joins, from_another_state}));
    call.push_back(join_batch(w.me, sales[3], 1));
    const std::vector expected{commit_outcome::committed, commit_outcome::conflict, commit_outcome::fenced,
                               commit_outcome::conflict, commit_outcome::committed};
    CAF_CHECK(w.store.commit(call) == expected);
    CAF_CHECK_EQUAL(entries_of(w.store, sale), 1u);
    CAF_CHECK_EQUAL(entries_of(w.store, sales[0]), 0u);
    CAF_CHECK_EQUAL(entries_of(w.store, sales[1]), 0u);
    CAF_CHECK_EQUAL(entries_of(w.store, sales[2]), 0u);
    CAF_CHECK_EQUAL(entries_of(w.store, sales[3]), 1u);
    CAF_CHECK(w.store.acquire_unleased(sales[0], never)->applied_seq == 0u);
    CAF_CHECK(w.store.acquire_unleased(sales[3], never)->applied_seq == 1u);
  });
}

CAF_TEST(of two batches of one call that want the same thing the first gets it) {
  in_every_world([](world& w) {
    const auto sales = more_sales(w, 1);
    const receipt_row receipt{"sandbox", "evt_1", noon};
    const std::vector call{w.me.next(sale, {receipt_stored{receipt}}),
                           w.me.next(sales[0], {receipt_stored{receipt}})};
    CAF_CHECK((w.store.commit(call) == std::vector{commit_outcome::committed, commit_outcome::conflict}));
  });
}

CAF_TEST(consecutive batches of one aggregate may share a call) {
  in_every_world([](world& w) {
    auto first = join_batch(w.me, sale, 1);
    auto second = join_batch(w.me, sale, 2);
    second.from_seq = 1;
    second.to_seq = 2;
    auto third = join_batch(w.me, sale, 2); // the number is in use
    third.from_seq = 2;
    third.to_seq = 3;
    auto fourth = join_batch(w.me, sale, 4);
    fourth.from_seq = 3;
    fourth.to_seq = 4;
    const std::vector expected{commit_outcome::committed, commit_outcome::committed, commit_outcome::conflict,
                               commit_outcome::out_of_order};
    CAF_CHECK(w.store.commit(std::vector{first, second, third, fourth}) == expected);
    CAF_CHECK_EQUAL(entries_of(w.store, sale), 2u);
  });
}

CAF_TEST(an event can be created in the call that brings its neighbours) {
  in_every_world([](world& w) {
    const std::vector call{w.me.next(catalog_aggregate, {event_created{sample_event(other_sale), {}}}),
                           join_batch(w.me, sale, 1)};
    CAF_CHECK((w.store.commit(call) == std::vector{commit_outcome::committed, commit_outcome::committed}));
    CAF_CHECK(w.store.acquire_unleased(other_sale, never)->epoch == 1u);
  });
}

CAF_TEST(nothing to commit is nothing) {
  on_every_engine([](ledger& store) { CAF_CHECK(store.commit({}).empty()); });
}

CAF_TEST(a batch without changes still counts its decisions) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({}));
    CAF_CHECK(w.store.acquire_unleased(sale, never)->applied_seq == 1u);
  });
}

CAF_TEST(the committed time never goes back) {
  in_every_world([](world& w) {
    w.me.now = noon + seconds{10};
    FQ_COMMITS(w.put({}));
    CAF_CHECK(w.store.acquire_unleased(sale, never)->committed_at == noon + seconds{10});
    w.me.take(sale);
    w.me.now = noon + seconds{5};
    FQ_COMMITS(w.put({}));
    CAF_CHECK(w.store.acquire_unleased(sale, never)->committed_at == noon + seconds{10});
  });
}

} // namespace batches_test
