// SPDX-License-Identifier: Apache-2.0
// How fast things may begin: so many a second on average, or so many in each slot of time. Callers pass their
// time; what events of a process share is given the process's clock.
#pragma once
#include "domain/base/time.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>

namespace fq {

/// A token bucket: `per_second` on average, one second's worth at once at most. 0: no limit.
class token_bucket {
public:
  token_bucket() = default;
  token_bucket(double per_second, milliseconds now) : per_second_(per_second), counted_until_(now) {}

  /// How many of `wanted` may begin now; they count as begun.
  std::size_t take(std::size_t wanted, milliseconds now) {
    if (per_second_ <= 0) return wanted;
    fill(now);
    const auto granted = std::min(wanted, static_cast<std::size_t>(tokens_));
    tokens_ -= static_cast<double>(granted);
    return granted;
  }

  /// None may begin now.
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

/// Refunds that begin by themselves (of a cancelled event, of who is blocked), of all events of a process
/// together: 20 in each tenth of a second, so 5,000 in 25 of the 60 seconds that docs/events.md states, and
/// no other event's commits and payment pages are behind all of them. Used by owners on any thread; two that
/// ask at once may both be told of the same room.
class refund_pace {
public:
  static constexpr milliseconds slot{100};
  static constexpr std::size_t per_slot = 20;

  /// `steady`: the process's clock, which all events share; their own may differ by the length of an outage.
  /// None: for one event alone.
  explicit refund_pace(std::function<milliseconds()> steady = nullptr) : steady_(std::move(steady)) {}

  /// How many may begin at `now`, by the event's clock.
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
  /// How long until there is room again, at the latest.
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
