// SPDX-License-Identifier: Apache-2.0
// Limits how fast work may start: a rate per second on average, or a count per time slot. Callers pass their
// own time; the pace that all events of a process share uses the process's clock.
#pragma once
#include "domain/base/time.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

namespace fq {

/// Token bucket: `per_second` on average, with a burst of at most one second's worth. 0: no limit.
class token_bucket {
public:
  token_bucket() = default;
  token_bucket(double per_second, milliseconds now) : per_second_(per_second), counted_until_(now) {}

  /// Returns how many of `wanted` may start now, and takes that many tokens.
  std::size_t take(std::size_t wanted, milliseconds now) {
    if (per_second_ <= 0) return wanted;
    fill(now);
    const auto granted = std::min(wanted, static_cast<std::size_t>(tokens_));
    tokens_ -= static_cast<double>(granted);
    return granted;
  }

  /// True if nothing may start now.
  bool is_empty(milliseconds now) {
    fill(now);
    return per_second_ > 0 && tokens_ < 1;
  }

private:
  void fill(milliseconds now) {
    const auto elapsed = static_cast<double>((now - counted_until_).count()) / 1'000.0;
    counted_until_ = now;
    tokens_ = std::min(std::max(1.0, per_second_), tokens_ + elapsed * per_second_);
  }

  double per_second_ = 0;
  double tokens_ = 0;
  milliseconds counted_until_{0};
};

/// Paces automatic refunds (of a cancelled event or of blocked customers) over all events of a process: 20
/// per 100 ms slot. 5,000 refunds start in 25 s of the 60 s that docs/events.md states, and other events'
/// commits and payment pages do not queue behind all of them.
/// Used by owners on any thread. Two owners that call `room` at the same time may both get the same room.
class refund_pace {
public:
  static constexpr milliseconds slot{100};
  static constexpr std::size_t per_slot = 20;

  /// `steady`: the process's clock, shared by all events, because event clocks may differ by the length of
  /// an outage. Null: the pace of a single event, which uses the `now` that callers pass.
  explicit refund_pace(std::function<milliseconds()> steady = nullptr) : steady_(std::move(steady)) {}

  /// Returns how many may start at `now`, which is the event's time.
  std::size_t room(timestamp now) {
    const std::lock_guard lock(mutex_);
    const auto t = time_at(now);
    if (t >= slot_end_) {
      slot_end_ = t + slot;
      begun_ = 0;
    }
    return begun_ < per_slot ? per_slot - begun_ : 0;
  }
  void note_begun(std::size_t count) {
    const std::lock_guard lock(mutex_);
    begun_ += count;
  }
  /// Upper bound of the time until there is room again.
  [[nodiscard]] milliseconds wait(timestamp now) const {
    const std::lock_guard lock(mutex_);
    return std::clamp(slot_end_ - time_at(now), milliseconds{0}, slot);
  }

private:
  [[nodiscard]] milliseconds time_at(timestamp now) const {
    return steady_ ? steady_() : now.time_since_epoch();
  }

  std::function<milliseconds()> steady_;
  mutable std::mutex mutex_;
  milliseconds slot_end_{0};
  std::size_t begun_ = 0;
};

} // namespace fq
