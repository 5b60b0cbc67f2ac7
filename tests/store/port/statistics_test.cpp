// SPDX-License-Identifier: Apache-2.0
// Conformance of the ledger engines: rows of statistics, their steps, their deletion, and sums over a sale.
#define CAF_SUITE store_statistics
#include "tests/store/port/engines.hpp"

namespace statistics_rows_test {

using namespace fq;
using namespace fq::test;

namespace {

constexpr milliseconds minute{60'000};

statistics_row sample_row(int minutes, std::uint64_t arrivals = 1) {
  statistics_row r;
  r.at = noon + minutes * minute;
  r.waiting = 2;
  r.waiting_peak = 2 + static_cast<std::uint64_t>(minutes);
  r.arrivals = arrivals;
  r.arrivals_total = 10 + arrivals;
  r.admissions = 2 * arrivals;
  r.admissions_total = 20 + r.admissions;
  r.held = minutes;
  r.sold = 5;
  r.available = 3;
  r.revenue = 1'000 + minutes;
  return r;
}

changes stored(const std::vector<statistics_row>& rows) {
  changes content;
  for (const auto& r : rows) content.emplace_back(statistics_stored{r});
  return content;
}

std::vector<statistics_row> listed(world& w, int from, int to, milliseconds step = minute) {
  return w.store.list_statistics({sale, noon + from * minute, noon + to * minute, step});
}

std::size_t prune(ledger& store, timestamp before, std::size_t limit = 100) {
  prune_bounds bounds;
  bounds.limit = limit;
  bounds.statistics_before = before;
  return store.prune(bounds);
}

} // namespace

CAF_TEST(a minute has one row and an owner loads the last one) {
  in_every_world([](world& w) {
    CAF_CHECK(!w.image().statistics);
    const auto first = sample_row(1), second = sample_row(2);
    FQ_COMMITS(w.put(stored({first, second})));
    CAF_CHECK(w.image().statistics == second);
    CAF_CHECK(w.store.load(sale, {}).statistics == second);
    CAF_CHECK(w.me.take(sale).image.statistics == second);
    FQ_CONFLICTS(w.put(stored({sample_row(3), sample_row(2)})));
    CAF_CHECK(w.image().statistics == second);
    CAF_CHECK((listed(w, 0, 9) == std::vector{first, second}));
    auto wrong = sample_row(4);
    wrong.waiting_peak = wrong.waiting - 1;
    FQ_CONFLICTS(w.put(stored({wrong})));
    wrong = sample_row(4);
    wrong.arrivals_total = wrong.arrivals - 1;
    FQ_CONFLICTS(w.put(stored({wrong})));
  });
}

CAF_TEST(a fenced owner writes no row) {
  in_every_world([](world& w) {
    const auto late = w.me.next(sale, stored({sample_row(1)}));
    w.me.take(sale);
    CAF_CHECK(w.store.commit({&late, 1}).at(0) == commit_outcome::fenced);
    CAF_CHECK(!w.image().statistics);
  });
}

CAF_TEST(a step has its last row with sums and the highest peak) {
  in_every_world([](world& w) {
    auto high = sample_row(6, 3);
    high.waiting_peak = 99;
    FQ_COMMITS(w.put(stored({sample_row(1), sample_row(4), high, sample_row(9), sample_row(10)})));
    CAF_CHECK((listed(w, 4, 10) == std::vector{sample_row(4), high, sample_row(9)})); // without the end
    auto five = sample_row(4), ten = sample_row(9);
    five.arrivals = 2;
    five.admissions = 4;
    ten.arrivals = 4;
    ten.admissions = 8;
    ten.waiting_peak = 99;
    CAF_CHECK((listed(w, 0, 99, 5 * minute) == std::vector{five, ten, sample_row(10)}));
    CAF_CHECK(listed(w, 50, 99).empty());
    CAF_CHECK(w.store.list_statistics({other_sale, noon, noon + 99 * minute, minute}).empty());
  });
}

CAF_TEST(old statistics are deleted but an event keeps its last row) {
  in_every_world([](world& w) {
    FQ_COMMITS(w.put(stored({sample_row(1), sample_row(2), sample_row(3)})));
    CAF_CHECK_EQUAL(prune(w.store, never), 0u);
    CAF_CHECK_EQUAL(prune(w.store, noon + minute), 0u);
    CAF_CHECK_EQUAL(prune(w.store, noon + 9 * minute, 1), 1u);
    CAF_CHECK((listed(w, 0, 9) == std::vector{sample_row(2), sample_row(3)}));
    CAF_CHECK_EQUAL(prune(w.store, noon + 9 * minute), 1u);
    CAF_CHECK_EQUAL(prune(w.store, noon + 9 * minute), 0u);
    CAF_CHECK((listed(w, 0, 9) == std::vector{sample_row(3)}));
    CAF_CHECK(w.image().statistics == sample_row(3));
  });
}

CAF_TEST(the figures of a sale are sums over its rows) {
  in_every_world([](world& w) {
    CAF_CHECK(w.store.figures(sale) == sale_figures{});
    auto one = sample_claim(1, 1, {{0, 2, 5'000, 0}, {1, 1, 900, 0, 50, 100}});
    auto two = sample_claim(2, 1, {{0, 1, 5'000, 0}});
    two.live_slot = 1;
    const auto open = sample_claim(3, 2);
    changes content{claim_opened{one}, claim_opened{two}, claim_opened{open}};
    for (auto* c : {&one, &two}) {
      c->status = claim_status::confirmed;
      content.emplace_back(claim_moved{claim_status::claimed, *c});
    }
    FQ_COMMITS(w.put(std::move(content)));
    auto back = one;
    back.items[0].refunded = 1;
    const auto payment = sample_payment(1, one);
    auto made = sample_refund(1, payment);
    const auto waits = sample_refund(2, payment);
    made.amount = 700;
    changes money{claim_moved{claim_status::confirmed, back}, payment_opened{payment}, refund_opened{made},
                  refund_opened{waits}};
    made.status = refund_status::succeeded;
    money.emplace_back(refund_moved{refund_status::requested, made});
    FQ_COMMITS(w.put(std::move(money)));
    auto gone = sample_row(3), later = sample_row(4), peak = sample_row(2);
    gone.held = gone.available = later.held = later.available = 0;
    gone.waiting_peak = 9;
    peak.waiting_peak = 9;
    FQ_COMMITS(w.put(stored({sample_row(1), peak, gone, later})));
    sale_figures f;
    f.types = {{0, 3, 1, 10'000}, {1, 1, 0, 850}};
    f.purchases = 2;
    f.buyers = 1;
    f.places = 2;
    f.refunds = f.refunds_open = 1;
    f.refunded = 700;
    f.waiting_peak = 9;
    f.waiting_peak_at = peak.at; // the first one
    f.sold_out_at = gone.at;
    CAF_CHECK(w.store.figures(sale) == f);
    CAF_CHECK(w.store.figures(other_sale) == sale_figures{});
  });
}

} // namespace statistics_rows_test
