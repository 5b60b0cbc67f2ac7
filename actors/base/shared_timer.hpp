// SPDX-License-Identifier: Apache-2.0
// One timer for deadlines that mostly move on. Each timer wakes CAF's clock thread.
#pragma once
#include "domain/base/time.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace fq {

class shared_timer {
public:
  /// Steady times. Sets a timer by `send(span, number)`, unless one is set for that time or earlier.
  template <class Send>
  void set(milliseconds due, milliseconds now, const Send& send) {
    if (due >= due_) return;
    due_ = due;
    send(std::max(due - now, milliseconds{0}), ++number_);
  }
  /// The time for which the timer of that number was set; none: a timer for an earlier time has
  /// replaced it.
  [[nodiscard]] std::optional<milliseconds> fired(std::uint64_t number) {
    if (number != number_) return std::nullopt;
    return std::exchange(due_, milliseconds::max());
  }

private:
  milliseconds due_ = milliseconds::max();
  std::uint64_t number_ = 0;
};

} // namespace fq
