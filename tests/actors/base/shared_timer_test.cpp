// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE shared_timer
#include "actors/base/shared_timer.hpp"

#include <caf/test/dsl.hpp>

#include <vector>

namespace shared_timer_test {

using namespace fq;
using namespace std::chrono_literals;

CAF_TEST(only an earlier deadline sets another timer) {
  shared_timer a;
  std::vector<std::pair<milliseconds, std::uint64_t>> timers;
  const auto send = [&](milliseconds span, std::uint64_t number) { timers.emplace_back(span, number); };
  a.set(100ms, 40ms, send);
  a.set(100ms, 50ms, send);
  a.set(120ms, 50ms, send);
  CAF_REQUIRE_EQUAL(timers.size(), 1u);
  CAF_CHECK_EQUAL(timers[0].first, 60ms);
  a.set(30ms, 50ms, send); // it has passed
  CAF_REQUIRE_EQUAL(timers.size(), 2u);
  CAF_CHECK_EQUAL(timers[1].first, 0ms);
  CAF_CHECK(!a.fired(timers[0].second)); // replaced
  CAF_CHECK(a.fired(timers[1].second) == 30ms);
  a.set(500ms, 60ms, send);
  CAF_CHECK_EQUAL(timers.size(), 3u);
  CAF_CHECK(!a.fired(timers[1].second));
  CAF_CHECK(a.fired(timers[2].second) == 500ms);
}

} // namespace shared_timer_test
