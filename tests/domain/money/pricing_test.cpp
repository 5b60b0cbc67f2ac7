// SPDX-License-Identifier: Apache-2.0
// Prices of orders: the reference figures, free orders, donations, discounts, rounding.
#define CAF_SUITE pricing
#include "caf/test/unit_test.hpp"

#include "domain/money/pricing.hpp"

#include <random>

namespace pricing_test {

using namespace fq;

namespace {

constexpr fee_rules seed_fees{150, 290, 30};

priced_item tickets(std::uint32_t quantity, money unit_price, money donation = 0, std::uint32_t type = 0) {
  return {type, quantity, unit_price, donation, 0};
}

price_quote quote(std::vector<priced_item> items, const discount& d = {}) {
  return price(items, d, seed_fees);
}

discount percent(std::int64_t basis_points, std::uint64_t types = 0) {
  return {discount_kind::percent, basis_points, types};
}
discount amount(money value, std::uint64_t types = 0) { return {discount_kind::amount, value, types}; }

} // namespace

CAF_TEST(the figures of the seed) {
  // Items, platform fee 1.50 per ticket, processing fee 2.9 % of both + 0.30, and the total. Computed with
  // Python's Decimal.
  struct row {
    std::uint32_t quantity;
    money price, donation, platform, processing, total;
  };
  for (const auto& r :
       {row{1, 5'000, 0, 150, 179, 5'329}, row{2, 5'000, 0, 300, 329, 10'629},
        row{1, 1'000, 0, 150, 63, 1'213}, row{3, 2'500, 500, 450, 304, 9'754}, row{1, 1, 0, 150, 34, 185},
        row{4, 12'345, 0, 600, 1'479, 51'459}, row{10, 99'999, 1, 1'500, 29'074, 1'030'574}}) {
    const auto q = quote({tickets(r.quantity, r.price, r.donation)});
    CAF_CHECK_EQUAL(q.platform_fee, r.platform);
    CAF_CHECK_EQUAL(q.processing_fee, r.processing);
    CAF_CHECK_EQUAL(q.total, r.total);
  }
}

CAF_TEST(a free order costs nothing and has no fees) {
  CAF_CHECK_EQUAL(quote({tickets(3, 0)}).total, 0);
  CAF_CHECK_EQUAL(quote({tickets(3, 5'000)}, percent(10'000)).total, 0);
  CAF_CHECK_EQUAL(quote({tickets(3, 5'000)}, amount(9'999)).total, 0);
  CAF_CHECK_EQUAL(quote({}).total, 0);
}

CAF_TEST(a donation carries only the percentage) {
  const auto q = quote({tickets(2, 0, 500)});
  CAF_CHECK_EQUAL(q.platform_fee, 0);
  CAF_CHECK_EQUAL(q.processing_fee, 29);
  CAF_CHECK_EQUAL(q.total, 1'029);
  const auto discounted = quote({tickets(1, 5'000, 1'000)}, percent(10'000));
  CAF_CHECK_EQUAL(discounted.total, 1'029);
}

CAF_TEST(free tickets beside paid ones bear no platform fee) {
  const auto q = quote({tickets(2, 0, 0, 0), tickets(1, 5'000, 0, 1)});
  CAF_CHECK_EQUAL(q.platform_fee, 150);
  CAF_CHECK_EQUAL(q.total, quote({tickets(1, 5'000)}).total);
}

CAF_TEST(discounts are off each ticket and never off a donation) {
  const auto q = quote({tickets(3, 999, 100)}, percent(5'000));
  CAF_CHECK_EQUAL(q.items[0].unit_discount, 500); // 499.5 half-up
  CAF_CHECK_EQUAL(q.discount, 1'500);
  CAF_CHECK_EQUAL(q.donations, 300);
  CAF_CHECK_EQUAL(quote({tickets(2, 700)}, amount(200)).discount, 400);
  CAF_CHECK_EQUAL(quote({tickets(2, 150)}, amount(200)).discount, 300); // limited to the price
}

CAF_TEST(discounts may be for some types) {
  const auto q = quote({tickets(1, 1'000, 0, 0), tickets(1, 1'000, 0, 2)}, percent(2'500, 1u << 2 | 1u << 3));
  CAF_CHECK_EQUAL(q.items[0].unit_discount, 0);
  CAF_CHECK_EQUAL(q.items[1].unit_discount, 250);
}

CAF_TEST(shares are rounded half up) {
  CAF_CHECK_EQUAL(share_of(0, 290), 0);
  CAF_CHECK_EQUAL(share_of(17, 290), 0); // 0.493
  CAF_CHECK_EQUAL(share_of(18, 290), 1); // 0.522
  CAF_CHECK_EQUAL(share_of(500, 290), 15); // 14.5
  CAF_CHECK_EQUAL(share_of(order_total_max, 10'000), order_total_max);
}

CAF_TEST(whatever is bought the parts make the total and nothing is negative) {
  std::mt19937_64 rng{7};
  const auto below = [&rng](std::uint64_t n) { return static_cast<std::int64_t>(rng() % n); };
  for (int round = 0; round < 20'000; ++round) {
    std::vector<priced_item> items;
    for (auto i = below(5); i >= 0; --i)
      items.push_back(tickets(static_cast<std::uint32_t>(1 + below(10)), below(3) == 0 ? 0 : below(100'000),
                              below(2) * below(5'000), static_cast<std::uint32_t>(i)));
    const auto reduction = below(2) == 0 ? percent(1 + below(10'000)) : amount(below(50'000));
    const auto q = quote(items, reduction);
    CAF_REQUIRE(q.discount >= 0 && q.discount <= q.subtotal && q.processing_fee >= 0 && q.platform_fee >= 0);
    CAF_REQUIRE_EQUAL(q.total, q.subtotal - q.discount + q.donations + q.platform_fee + q.processing_fee);
    money by_line = 0;
    // a gateway's sum over lines
    for (const auto& i : q.items) by_line += (i.unit_price - i.unit_discount + i.donation) * i.quantity;
    CAF_REQUIRE_EQUAL(by_line + q.platform_fee + q.processing_fee, q.total);
    if (q.subtotal == q.discount) CAF_REQUIRE_EQUAL(q.total, q.donations + share_of(q.donations, 290));
  }
}

} // namespace pricing_test
