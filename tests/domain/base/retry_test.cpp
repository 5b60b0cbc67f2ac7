// SPDX-License-Identifier: Apache-2.0
// Back-off with full jitter: bounds and spread.
#define CAF_SUITE domain_retry
#include "domain/base/retry.hpp"
#include "tests/domain/sale/seeds.hpp"

#include "caf/test/unit_test.hpp"

namespace retry_test {

using namespace fq;
using namespace fq::test;

CAF_TEST(the wait is uniform between zero and a doubling capped ceiling) {
  const retry_policy policy{10, milliseconds{500}, milliseconds{5000}};
  const std::int64_t ceilings[] = {500, 1000, 2000, 4000, 5000, 5000, 5000};
  dice d{42};
  std::uint32_t attempt = 0;
  for (const auto ceiling : ceilings) {
    ++attempt;
    constexpr int draws = 20'000;
    double sum = 0;
    std::int64_t low = ceiling, high = 0;
    int quarter[4] = {};
    for (int i = 0; i < draws; ++i) {
      const auto wait = retry_delay(policy, attempt, d.bits()).count();
      sum += static_cast<double>(wait);
      low = std::min(low, wait);
      high = std::max(high, wait);
      ++quarter[std::min<std::int64_t>(wait * 4 / (ceiling + 1), 3)];
    }
    CAF_CHECK(low >= 0 && low <= ceiling / 100);
    CAF_CHECK(high <= ceiling && high >= ceiling - ceiling / 100);
    CAF_CHECK(std::abs(sum / draws - static_cast<double>(ceiling) / 2) < static_cast<double>(ceiling) * 0.02);
    // ten standard deviations
    for (const auto q : quarter) CAF_CHECK(q > draws / 4 - 600 && q < draws / 4 + 600);
  }
}

CAF_TEST(extremes neither overflow nor wait too long) {
  const retry_policy policy{3, milliseconds{500}, milliseconds{5000}};
  for (const std::uint32_t attempt : {0u, 1u, 31u, 32u, 33u, 64u, 0xffff'ffffu}) {
    const auto wait = retry_delay(policy, attempt, ~std::uint64_t{0});
    CAF_CHECK(wait >= milliseconds{0} && wait <= policy.cap);
  }
  CAF_CHECK(retry_delay({3, milliseconds{0}, milliseconds{0}}, 5, 123) == milliseconds{0});
  CAF_CHECK(retry_delay({3, milliseconds{9000}, milliseconds{5000}}, 1, 5000) <= milliseconds{5000});
  CAF_CHECK(retry_delay(policy, 1, 500) == milliseconds{500});
  CAF_CHECK(retry_delay(policy, 1, 501) == milliseconds{0});
}

CAF_TEST(attempts are counted with the first) {
  const retry_policy policy{3, milliseconds{1}, milliseconds{1}};
  CAF_CHECK(may_retry(policy, 1));
  CAF_CHECK(may_retry(policy, 2));
  CAF_CHECK(!may_retry(policy, 3));
}

} // namespace retry_test
