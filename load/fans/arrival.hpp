// SPDX-License-Identifier: Apache-2.0
// Arrival time and behaviour of each fan. Pure functions of the options and the seed.
#pragma once

#include "load/base/chance.hpp"
#include "load/base/options.hpp"

#include <vector>

namespace fq::load {

// Ascending, one per fan.
std::vector<run_time_us> arrival_times(const load_options& options, chance& random);

struct fan_plan {
  behaviour what = behaviour::buy;
  bool websocket = false;
};

// Exact shares (rounded to whole fans), in random order.
std::vector<fan_plan> fan_plans(const load_options& options, chance& random);

} // namespace fq::load
