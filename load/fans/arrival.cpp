// SPDX-License-Identifier: Apache-2.0
#include "load/fans/arrival.hpp"

#include <algorithm>
#include <cmath>

namespace fq::load {

namespace {

template <class T>
void shuffle(std::vector<T>& items, chance& random) {
  for (std::size_t left = items.size(); left > 1; --left)
    std::swap(items[left - 1], items[random.under(left)]);
}

std::size_t share_of(std::size_t count, double percent) {
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * percent / 100.0));
}

} // namespace

std::vector<run_time_us> arrival_times(const load_options& options, chance& random) {
  std::vector<run_time_us> times;
  times.reserve(options.fans);
  const double span_us = options.arrival_s * 1e6;
  double clock_us = 0;
  for (std::uint32_t fan = 0; fan < options.fans; ++fan) {
    double at_us = 0;
    switch (options.arrival) {
      case arrival_shape::spike: at_us = std::min(span_us, 1e6) * random.unit(); break;
      case arrival_shape::ramp: // the rate grows linearly, so the share present grows with the square
        at_us = span_us * std::sqrt(random.unit());
        break;
      case arrival_shape::poisson:
        clock_us += -std::log(1.0 - random.unit()) * span_us / options.fans;
        at_us = clock_us;
        break;
    }
    times.push_back(static_cast<run_time_us>(at_us));
  }
  std::sort(times.begin(), times.end());
  return times;
}

std::vector<fan_plan> fan_plans(const load_options& options, chance& random) {
  std::vector<fan_plan> plans(options.fans);
  std::size_t next = 0;
  auto assign = [&plans, &next](std::size_t count, behaviour what) {
    for (; count > 0 && next < plans.size(); --count) plans[next++].what = what;
  };
  assign(share_of(plans.size(), options.no_show_percent), behaviour::no_show);
  assign(share_of(plans.size(), options.abandon_percent), behaviour::abandon);
  assign(share_of(plans.size(), options.decline_percent), behaviour::decline);
  shuffle(plans, random);
  std::vector<std::uint8_t> sockets(plans.size(), 0);
  std::fill_n(sockets.begin(), share_of(plans.size(), options.websocket_percent), std::uint8_t{1});
  shuffle(sockets, random);
  for (std::size_t i = 0; i < plans.size(); ++i) plans[i].websocket = sockets[i] != 0;
  return plans;
}

} // namespace fq::load
