// SPDX-License-Identifier: Apache-2.0
#include "load/base/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fq::load {

std::string_view name_of(step which) {
  switch (which) {
    case step::join: return "join";
    case step::poll: return "poll";
    case step::ws_connect: return "ws_connect";
    case step::admit_wait: return "admit_wait";
    case step::claim: return "claim";
    case step::checkout: return "checkout";
    case step::order_poll: return "order_poll";
    case step::order_read: return "order_read";
    case step::order_page: return "order_page";
    case step::pay: return "pay";
    case step::gateway: return "gateway";
    case step::confirm: return "confirm";
    case step::order_success: return "order_success";
    case step::leave: return "leave";
    case step::seat_shown: return "seat_shown";
  }
  return "?";
}

void step_metrics::add(run_time_us from_us, run_time_us to_us) {
  constexpr auto longest = static_cast<run_time_us>(std::numeric_limits<std::uint32_t>::max());
  durations_us_.push_back(static_cast<std::uint32_t>(std::clamp<run_time_us>(to_us - from_us, 0, longest)));
  if (first_us_ < 0 || from_us < first_us_) first_us_ = from_us;
  last_us_ = std::max(last_us_, to_us);
}

double step_metrics::rate() const {
  if (durations_us_.empty() || last_us_ <= first_us_) return 0;
  return static_cast<double>(durations_us_.size()) * 1e6 / static_cast<double>(last_us_ - first_us_);
}

percentiles step_metrics::spread() const { return spread_of(durations_us_); }

percentiles spread_of(std::vector<std::uint32_t> durations_us) {
  percentiles out;
  if (durations_us.empty()) return out;
  std::sort(durations_us.begin(), durations_us.end());
  auto at = [&durations_us](double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(durations_us.size())));
    return static_cast<double>(durations_us[std::max<std::size_t>(rank, 1) - 1]) / 1000.0;
  };
  out.p50_ms = at(0.50);
  out.p95_ms = at(0.95);
  out.p99_ms = at(0.99);
  out.max_ms = at(1.0);
  return out;
}

} // namespace fq::load
