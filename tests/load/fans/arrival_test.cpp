// SPDX-License-Identifier: Apache-2.0
// Arrival times and behaviours.
#define CAF_SUITE load.arrival
#include "caf/test/unit_test.hpp"

#include "load/fans/arrival.hpp"

#include <algorithm>

using namespace fq::load;

namespace {

load_options with_shape(arrival_shape shape) {
  load_options options;
  options.fans = 1000;
  options.arrival = shape;
  options.arrival_s = 10;
  return options;
}

std::vector<run_time_us> times_of(arrival_shape shape) {
  chance random(3);
  return arrival_times(with_shape(shape), random);
}

} // namespace

CAF_TEST(a spike is over within a second) {
  const auto times = times_of(arrival_shape::spike);
  CAF_CHECK_EQUAL(times.size(), 1000u);
  CAF_CHECK(std::is_sorted(times.begin(), times.end()));
  CAF_CHECK(times.back() <= 1'000'000);
}

CAF_TEST(a ramp brings three quarters in its second half) {
  const auto times = times_of(arrival_shape::ramp);
  const auto early = std::lower_bound(times.begin(), times.end(), 5'000'000) - times.begin();
  CAF_CHECK(early > 200 && early < 300);
  CAF_CHECK(times.back() <= 10'000'000);
}

CAF_TEST(poisson arrivals take about their time) {
  const auto times = times_of(arrival_shape::poisson);
  CAF_CHECK(times.back() > 8'000'000 && times.back() < 12'000'000);
}

CAF_TEST(behaviours have exactly their shares) {
  load_options options;
  options.fans = 1000;
  options.websocket_percent = 25;
  chance random(3);
  const auto plans = fan_plans(options, random);
  auto count = [&plans](behaviour what) {
    return std::count_if(plans.begin(), plans.end(),
                         [what](const fan_plan& plan) { return plan.what == what; });
  };
  CAF_CHECK_EQUAL(count(behaviour::no_show), 100);
  CAF_CHECK_EQUAL(count(behaviour::abandon), 50);
  CAF_CHECK_EQUAL(count(behaviour::decline), 50);
  CAF_CHECK_EQUAL(count(behaviour::buy), 800);
  const auto sockets =
    std::count_if(plans.begin(), plans.end(), [](const fan_plan& plan) { return plan.websocket; });
  CAF_CHECK_EQUAL(sockets, 250);
}

CAF_TEST(the same seed gives the same crowd) {
  CAF_CHECK(times_of(arrival_shape::poisson) == times_of(arrival_shape::poisson));
}
