// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: totals of a line, what an owner loads of it, and the deletion of ended
// entries.
#define CAF_SUITE store_retention
#include "tests/store/port/engines.hpp"

namespace retention_test {

using namespace fq;
using namespace fq::test;

namespace {

entry_moved moved(entry_row& row, entry_status to, timestamp at) {
  const auto from = row.status;
  row.status = to;
  if (to == entry_status::admitted) {
    row.admitted_at = at;
    row.admission_batch = 7;
    ++row.admission_no;
  }
  if (!is_live(to)) row.ended_at = at;
  return {from, row};
}

/// A standalone queue with entries 1 to 4: one that waits, then one that ended at noon + n s for n from 2.
struct queue_world {
  explicit queue_world(world& w) : w_(w) {
    auto event = sample_event();
    event.kind = event_kind::queue;
    FQ_COMMITS(w.put({event_changed{event.status, event}}));
    changes content;
    for (auto& row : rows) content.emplace_back(entry_joined{row});
    for (std::size_t i = 1; i < 4; ++i) {
      const auto at = noon + seconds{static_cast<int>(i) + 1};
      content.emplace_back(moved(rows[i], entry_status::admitted, at));
      content.emplace_back(moved(rows[i], i == 2 ? entry_status::completed : entry_status::revoked, at));
    }
    FQ_COMMITS(w.put(std::move(content)));
  }
  std::vector<entry_row> rows{sample_entry(1), sample_entry(2), sample_entry(3), sample_entry(4)};

private:
  world& w_;
};

std::size_t prune(ledger& store, timestamp before, std::size_t limit = 100) {
  return store.prune({never, never, never, limit, never, never, before});
}

} // namespace

CAF_TEST(the totals of a line are of all entries that it ever had) {
  in_every_world([](world& w) {
    CAF_CHECK(w.store.peek(sale).head.line == line_totals{});
    const queue_world q(w);
    const line_totals all{queue_number{4}, queue_number{1}, 3, 1, 7};
    CAF_CHECK(w.store.peek(sale).head.line == all);
    CAF_CHECK(w.me.take(sale).line == all);
    CAF_CHECK_EQUAL(prune(w.store, noon + seconds{99}), 3u);
    CAF_CHECK(w.me.take(sale).line == all);
    FQ_CONFLICTS(w.put({entry_joined{sample_entry(9)}, entry_joined{sample_entry(1)}}));
    CAF_CHECK(w.store.peek(sale).head.line == all); // a refused batch counts nothing
  });
}

CAF_TEST(an owner of a queue loads what has not ended long ago) {
  in_every_world([](world& w) {
    const queue_world q(w);
    const auto& r = q.rows;
    CAF_CHECK(w.store.load(sale, {}).entries == r);
    CAF_CHECK((w.store.load(sale, {never, noon + seconds{3}}).entries == std::vector{r[0], r[2], r[3]}));
    auto without = w.store.acquire(sale, {}, std::nullopt);
    CAF_CHECK(std::get<acquired>(without).image == aggregate_image{});
    CAF_CHECK(std::get<acquired>(without).line.last_number == queue_number{4});
    w.me.take(sale);
    FQ_COMMITS(w.put({entries_forgotten{queue_number{3}}}));
    FQ_COMMITS(w.put({entries_forgotten{queue_number{2}}})); // it only grows
    CAF_CHECK(w.store.peek(sale).head.line.first_kept == queue_number{3});
    CAF_CHECK((w.store.load(sale, {}).entries == std::vector{r[2], r[3]}));
    CAF_CHECK((w.image().entries == std::vector{r[2], r[3]}));
    CAF_CHECK(w.store.read_entry(sale, queue_number{2}) == r[1]);
    CAF_CHECK(!w.store.read_entry(sale, queue_number{5}));
    CAF_CHECK(!w.store.read_entry(other_sale, queue_number{1}));
  });
}

CAF_TEST(an owner of a sale loads all entries) {
  in_every_world([](world& w) {
    auto gone = sample_entry(1);
    FQ_COMMITS(w.put({entry_joined{gone}}));
    FQ_COMMITS(w.put({moved(gone, entry_status::cancelled, noon)}));
    CAF_CHECK(w.store.load(sale, {never, noon + seconds{1}}).entries == std::vector{gone});
  });
}

CAF_TEST(ended entries are deleted oldest first with their codes and the history of a queue) {
  in_every_world([](world& w) {
    w.me.now = noon + seconds{10};
    const queue_world q(w);
    const auto& r = q.rows;
    FQ_COMMITS(w.put({access_given{{queue_number{1}, 0}}, access_given{{queue_number{2}, 0}}}));
    CAF_CHECK_EQUAL(w.store.history(sale).size(), 7u); // one row of the event
    CAF_CHECK_EQUAL(prune(w.store, never), 0u); // nothing ends before `never`
    CAF_CHECK_EQUAL(prune(w.store, noon + seconds{2}), 0u);
    CAF_CHECK_EQUAL(prune(w.store, noon + seconds{4}, 0), 0u);
    CAF_CHECK_EQUAL(prune(w.store, noon + seconds{4}, 1), 1u);
    CAF_CHECK((w.image().entries == std::vector{r[0], r[2], r[3]}));
    CAF_CHECK((w.image().access == std::vector<entry_access_row>{{queue_number{1}, 0}}));
    CAF_CHECK_EQUAL(prune(w.store, noon + seconds{4}), 1u);
    CAF_CHECK((w.image().entries == std::vector{r[0], r[3]}));
    CAF_CHECK(!w.store.read_entry(sale, queue_number{2}));
    CAF_CHECK_EQUAL(w.store.history(sale).size(), 7u); // younger than the bound
    CAF_CHECK(w.store.aggregates_to_wake("") == std::vector{sale}); // the first one waits
  });
}

CAF_TEST(the history of old entries is deleted with them) {
  in_every_world([](world& w) {
    w.me.now = noon - seconds{60};
    const queue_world q(w);
    CAF_CHECK_EQUAL(w.store.history(sale).size(), 7u);
    CAF_CHECK_EQUAL(prune(w.store, noon + seconds{99}), 3u);
    CAF_CHECK_EQUAL(w.store.history(sale).size(), 1u);
  });
}

CAF_TEST(entries that ever had a claim are kept) {
  in_every_world([](world& w) {
    auto bought = sample_entry(1), returned = sample_entry(2), looked = sample_entry(3);
    bought.has_claimed = true;
    returned.reclaims = 1;
    for (auto* e : {&bought, &returned, &looked}) {
      e->status = entry_status::completed;
      e->ended_at = noon;
      FQ_COMMITS(w.put({entry_joined{*e}}));
    }
    CAF_CHECK_EQUAL(prune(w.store, noon + seconds{1}), 1u);
    CAF_CHECK((w.image().entries == std::vector{bought, returned}));
  });
}

} // namespace retention_test
