// SPDX-License-Identifier: Apache-2.0
// Percentiles and rates.
#define CAF_SUITE load.metrics
#include "caf/test/unit_test.hpp"

#include "load/base/metrics.hpp"

using namespace fq::load;

CAF_TEST(percentiles are nearest ranks) {
  step_metrics steps;
  for (int i = 100; i >= 1; --i) steps.add(0, i * 1000);
  const auto spread = steps.spread();
  CAF_CHECK_EQUAL(static_cast<int>(spread.p50_ms), 50);
  CAF_CHECK_EQUAL(static_cast<int>(spread.p95_ms), 95);
  CAF_CHECK_EQUAL(static_cast<int>(spread.p99_ms), 99);
  CAF_CHECK_EQUAL(static_cast<int>(spread.max_ms), 100);
}

CAF_TEST(the rate spans the first start and the last end) {
  step_metrics steps;
  steps.add(1'000'000, 1'500'000);
  steps.add(2'000'000, 3'000'000);
  CAF_CHECK_EQUAL(static_cast<int>(steps.rate() * 10), 10);
}

CAF_TEST(nothing measured is zero everywhere) {
  const step_metrics steps;
  CAF_CHECK_EQUAL(steps.count(), 0u);
  CAF_CHECK_EQUAL(static_cast<int>(steps.rate()), 0);
  CAF_CHECK_EQUAL(static_cast<int>(steps.spread().max_ms), 0);
}
