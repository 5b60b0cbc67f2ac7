// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: outbox rows (I16), and the generation in the names of the cache's keys.
#define CAF_SUITE store_outbox
#include "tests/store/port/engines.hpp"

#include <algorithm>
#include <numeric>

namespace outbox_test {

using namespace fq;
using namespace fq::test;

namespace {

using partitions = std::vector<std::uint32_t>;
using items = std::vector<outbox_item>;

constexpr std::size_t plenty = 1'000;

outbox_row domain_event(std::uint64_t n, aggregate_id aggregate = sale) {
  return {id_of(30'000 + n, aggregate), "queue.turn_granted",
          R"({"n":)" + std::to_string(n) + R"(,"name":"Ọlá \"O'Neil\" 🎫","nothing":null})",
          noon + milliseconds{static_cast<std::int64_t>(n)}, bit_of(lane::notices)};
}

outbox_appended event(std::uint64_t n, aggregate_id aggregate = sale) { return {domain_event(n, aggregate)}; }

items all_undelivered(ledger& store, std::size_t limit = plenty) {
  partitions all(outbox_partitions);
  std::iota(all.begin(), all.end(), 0u);
  return store.undelivered(lane::notices, all, limit, {});
}

/// The rows of the items, in order.
std::vector<outbox_row> rows_of(const items& list) {
  std::vector<outbox_row> rows;
  for (const auto& i : list) rows.push_back(i.row);
  return rows;
}

std::vector<outbox_key> keys_of(const items& list) {
  std::vector<outbox_key> keys;
  for (const auto& i : list) keys.push_back(i.key);
  return keys;
}

std::vector<outbox_row> domain_events(std::uint64_t first, std::uint64_t last) {
  std::vector<outbox_row> rows;
  for (auto n = first; n <= last; ++n) rows.push_back(domain_event(n));
  return rows;
}

void create_other_sale(world& w) {
  FQ_COMMITS(w.me.put(catalog_aggregate, {event_created{sample_event(other_sale), {}}}));
  w.me.take(other_sale);
}

std::uint64_t generation(ledger& store, aggregate_id aggregate = sale) {
  return store.acquire_unleased(aggregate, never)->cache_generation;
}

} // namespace

CAF_TEST(domain events come out in the order of their aggregate: I16) {
  in_every_world([](world& w) {
    create_other_sale(w);
    FQ_COMMITS(w.put({event(1), entry_joined{sample_entry(1)}, event(2), event(3)}));
    FQ_COMMITS(w.me.put(other_sale, {event(1, other_sale)}));
    FQ_COMMITS(w.put({entry_joined{sample_entry(2)}}));
    FQ_COMMITS(w.put({idempotency_stored{sample_key(1, noon)}, event(4)}));
    FQ_COMMITS(w.me.put(accounts_aggregate, {event(1, accounts_aggregate)}));
    changes crowd;
    for (std::uint64_t n = 5; n <= 40; ++n) crowd.push_back(event(n)); // ordinals with more than one digit
    FQ_COMMITS(w.put(crowd));

    const auto out = all_undelivered(w.store);
    CAF_REQUIRE_EQUAL(out.size(), 42u);
    CAF_CHECK(out.front().row == domain_event(1, accounts_aggregate));
    CAF_CHECK(out.back().row == domain_event(1, other_sale));
    const items mine(out.begin() + 1, out.end() - 1);
    CAF_CHECK(rows_of(mine) == domain_events(1, 40));
    const auto keys = keys_of(out);
    CAF_CHECK(std::ranges::adjacent_find(keys, std::greater_equal{}) == keys.end()); // in ascending order
    const auto of_the_sale = [](const outbox_item& i) {
      return i.key.aggregate == sale && i.tenant == default_tenant;
    };
    CAF_CHECK(std::ranges::all_of(mine, of_the_sale));
    CAF_CHECK_EQUAL(mine[0].key.seq, 1u);
    CAF_CHECK_EQUAL(mine[3].key.seq, 3u);
    CAF_CHECK_EQUAL(mine[4].key.seq, 4u);
    CAF_CHECK(all_undelivered(w.store) == out); // a read does not reserve rows
  });
}

CAF_TEST(only what was committed goes out and only once) {
  in_every_world([](world& w) {
    FQ_CONFLICTS(w.put({event(1), stock_moved{0, 99, 0}}));
    auto fenced = w.me.next(sale, {event(2)});
    fenced.epoch += 1;
    CAF_CHECK(w.store.commit({&fenced, 1}).at(0) == commit_outcome::fenced);
    CAF_CHECK(all_undelivered(w.store).empty());
    const std::vector call{
      w.me.next(sale, {event(3)}),
      w.me.next(accounts_aggregate, {event(4, accounts_aggregate), stock_moved{0, 1, 0}})};
    CAF_CHECK((w.store.commit(call) == std::vector{commit_outcome::committed, commit_outcome::conflict}));
    CAF_CHECK(w.store.commit({call.data(), 1}).at(0) == commit_outcome::already_applied);
    CAF_CHECK(rows_of(all_undelivered(w.store)) == domain_events(3, 3));
  });
}

CAF_TEST(a dispatcher sees the partitions it asks for) {
  in_every_world([](world& w) {
    create_other_sale(w);
    const aggregate_id last{31};
    FQ_COMMITS(w.me.put(catalog_aggregate, {event_created{sample_event(last), {}}}));
    w.me.take(last);
    for (const auto a : {catalog_aggregate, accounts_aggregate, sale, other_sale, last})
      FQ_COMMITS(w.me.put(a, {event(1, a)}));
    const auto seen = [&](const partitions& wanted) {
      std::vector<aggregate_id> result;
      for (const auto& i : w.store.undelivered(lane::notices, wanted, plenty, {}))
        result.push_back(i.key.aggregate);
      return result;
    };
    using list = std::vector<aggregate_id>;
    CAF_CHECK((seen({0}) == list{sale}));
    CAF_CHECK((seen({1}) == list{accounts_aggregate, other_sale})); // 1 and 17
    CAF_CHECK((seen({15, 2, 0}) == list{catalog_aggregate, sale, last}));
    CAF_CHECK(seen({3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}).empty());
    CAF_CHECK(seen({}).empty());
  });
}

CAF_TEST(each aggregate has its part of a round and others come first in the next) {
  in_every_world([](world& w) {
    create_other_sale(w);
    changes many, few;
    for (std::uint64_t n = 1; n <= 40; ++n) many.push_back(event(n));
    for (std::uint64_t n = 1; n <= 3; ++n) few.push_back(event(n, other_sale));
    FQ_COMMITS(w.put(many));
    FQ_COMMITS(w.me.put(other_sale, few));
    FQ_COMMITS(w.me.put(accounts_aggregate, {event(1, accounts_aggregate)}));
    partitions all(outbox_partitions);
    std::iota(all.begin(), all.end(), 0u);
    const auto round = [&](std::size_t limit, aggregate_id after) {
      std::vector<std::pair<aggregate_id, std::uint64_t>> seen; // with their numbers of rows
      for (const auto& i : w.store.undelivered(lane::notices, all, limit, after)) {
        if (seen.empty() || seen.back().first != i.key.aggregate) seen.emplace_back(i.key.aggregate, 0);
        ++seen.back().second;
      }
      return seen;
    };
    using list = std::vector<std::pair<aggregate_id, std::uint64_t>>;
    CAF_CHECK((round(12, {}) == list{{accounts_aggregate, 1}, {sale, 4}, {other_sale, 3}}));
    CAF_CHECK((round(12, accounts_aggregate) == list{{sale, 4}, {other_sale, 3}, {accounts_aggregate, 1}}));
    CAF_CHECK((round(12, sale) == list{{other_sale, 3}, {accounts_aggregate, 1}, {sale, 4}}));
    CAF_CHECK((round(12, other_sale) == round(12, {})));
    // the other aggregates come next
    CAF_CHECK((round(8, sale) == list{{other_sale, 3}, {accounts_aggregate, 1}}));
    CAF_CHECK((round(1, sale) == list{{other_sale, 1}}));
  });
}

CAF_TEST(what was delivered does not come again and the limit holds) {
  in_every_world([](world& w) {
    for (std::uint64_t n = 1; n <= 9; n += 3) FQ_COMMITS(w.put({event(n), event(n + 1), event(n + 2)}));
    CAF_CHECK(all_undelivered(w.store, 0).empty());
    std::vector<outbox_row> seen;
    for (int turns = 0; turns < 3; ++turns) { // four, four, one: the limit splits batches
      const auto some = all_undelivered(w.store, 4);
      CAF_CHECK(all_undelivered(w.store, 4) == some); // until it is acknowledged
      w.store.mark_delivered(lane::notices, keys_of(some), noon);
      for (auto& r : rows_of(some)) seen.push_back(std::move(r));
    }
    CAF_CHECK(seen == domain_events(1, 9));
    CAF_CHECK(all_undelivered(w.store).empty());
    FQ_COMMITS(w.put({event(10)}));
    CAF_CHECK(rows_of(all_undelivered(w.store)) == domain_events(10, 10));
  });
}

CAF_TEST(rows may be marked in any order and unknown keys do no harm) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({event(1), event(2), event(3)}));
    const auto keys = keys_of(all_undelivered(w.store));
    const aggregate_id absent{4'000'000'000};
    w.store.mark_delivered(
      lane::notices,
      std::vector<outbox_key>{{absent, 1, 0}, {sale, 99, 0}, {sale, keys[0].seq, 99}, keys[1], keys[1]},
      noon);
    auto left = domain_events(1, 3);
    left.erase(left.begin() + 1);
    CAF_CHECK(rows_of(all_undelivered(w.store)) == left);
    w.store.mark_delivered(lane::notices, {}, noon);
    CAF_CHECK(rows_of(all_undelivered(w.store)) == left);
  });
}

CAF_TEST(pruning forgets delivered events only and the oldest first) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({event(1), event(2), event(3), event(4)}));
    const auto keys = keys_of(all_undelivered(w.store));
    w.store.mark_delivered(lane::notices, std::vector{keys[0]}, noon + seconds{5});
    w.store.mark_delivered(lane::notices, std::vector{keys[3]}, noon + seconds{3});
    w.store.mark_delivered(lane::notices, std::vector{keys[1]}, noon);
    w.store.mark_delivered(lane::notices, std::vector{keys[1]},
                           noon + seconds{9}); // acknowledged already: its time stays
    const auto prune = [&](timestamp before, std::size_t limit) {
      return w.store.prune({never, never, before, limit});
    };
    CAF_CHECK_EQUAL(prune(noon, plenty), 0u);
    CAF_CHECK_EQUAL(prune(noon + seconds{1}, plenty), 1u);
    CAF_CHECK_EQUAL(prune(noon + seconds{99}, 1), 1u);
    CAF_CHECK_EQUAL(prune(noon + seconds{4}, plenty), 0u); // the older one is pruned
    CAF_CHECK_EQUAL(prune(noon + seconds{99}, plenty), 1u);
    CAF_CHECK_EQUAL(prune(noon + seconds{99}, plenty), 0u);
    CAF_CHECK(rows_of(all_undelivered(w.store)) == domain_events(3, 3));
  });
}

CAF_TEST(one limit holds for everything that is pruned) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put({idempotency_stored{sample_key(1, noon)}, receipt_stored{{"sandbox", "evt", noon}},
                      event(1), event(2)}));
    w.store.mark_delivered(lane::notices, keys_of(all_undelivered(w.store)), noon);
    const auto later = noon + seconds{1};
    CAF_CHECK_EQUAL(w.store.prune({later, later, later, 3}), 3u);
    CAF_CHECK_EQUAL(w.store.prune({later, later, later, 3}), 1u);
    CAF_CHECK(w.image().idempotency.empty());
    CAF_CHECK(w.image().receipts.empty());
  });
}

CAF_TEST(the cache generation is raised from the one that is stored) {
  in_every_world([](world& w) {
    const auto raise = [&](std::uint64_t from) { return w.put({cache_generation_raised{from}}); };
    FQ_CONFLICTS(raise(1));
    FQ_COMMITS(raise(0));
    FQ_CONFLICTS(raise(0));
    FQ_CONFLICTS(raise(2));
    FQ_COMMITS(
      w.put({cache_generation_raised{1}, entry_joined{sample_entry(1)}, cache_generation_raised{2}}));
    CAF_CHECK_EQUAL(generation(w.store), 3u);
    w.me.take(sale);
    FQ_CONFLICTS(w.put({cache_generation_raised{3}, stock_moved{0, 99, 0}}));
    CAF_CHECK_EQUAL(generation(w.store), 3u); // all or nothing
    CAF_CHECK_EQUAL(generation(w.store, accounts_aggregate), 0u);
    CAF_CHECK_EQUAL(w.store.history(sale).size(), 1u); // contains life cycle changes only
  });
}

} // namespace outbox_test
