// SPDX-License-Identifier: Apache-2.0
// Duration and failures of each step. Filled by the fans on one thread, read by the reports.
#pragma once

#include "load/base/history.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fq::load {

// `order_page` and `order_success` start at the first POST /checkout; `confirm` starts at the gateway's
// answer. `seat_shown`: from the answer to a claim to a fan's map that shows its seats as held; of one frame
// the oldest claim.
enum class step : std::uint8_t {
  join,
  poll,
  ws_connect,
  admit_wait,
  claim,
  checkout,
  order_poll,
  order_read,
  order_page,
  pay,
  gateway,
  confirm,
  order_success,
  leave,
  seat_shown
};
inline constexpr std::size_t step_count = 15;

std::string_view name_of(step which);

struct percentiles {
  double p50_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
};

// Exact percentiles: every duration is kept, four bytes each.
class step_metrics {
public:
  // One finished step: started at `from`, ended at `to`.
  void add(run_time_us from_us, run_time_us to_us);
  void add_retry() { ++retries_; } // repeated after a dropped connection, 429 or 503
  void add_error() { ++errors_; } // an answer that ended the fan's step

  [[nodiscard]] std::size_t count() const { return durations_us_.size(); }
  [[nodiscard]] std::uint64_t retries() const { return retries_; }
  [[nodiscard]] std::uint64_t errors() const { return errors_; }
  // Per second, from the first start to the last end.
  [[nodiscard]] double rate() const;
  [[nodiscard]] percentiles spread() const;

private:
  std::vector<std::uint32_t> durations_us_;
  std::uint64_t retries_ = 0;
  std::uint64_t errors_ = 0;
  run_time_us first_us_ = -1;
  run_time_us last_us_ = 0;
};

// Nearest-rank percentiles; sorts a copy.
percentiles spread_of(std::vector<std::uint32_t> durations_us);

class metrics {
public:
  step_metrics& of(step which) { return steps_[static_cast<std::size_t>(which)]; }
  [[nodiscard]] const step_metrics& of(step which) const { return steps_[static_cast<std::size_t>(which)]; }

private:
  std::array<step_metrics, step_count> steps_;
};

} // namespace fq::load
