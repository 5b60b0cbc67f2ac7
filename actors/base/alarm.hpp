// SPDX-License-Identifier: Apache-2.0
// One timer for deadlines that mostly move on. A timer for each of them would wake CAF's clock thread as
// often.
#pragma once
#include "domain/base/time.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace fq {

class alarm {
public:
  /// Steady times. Sets a timer by `send(span, number)`, unless one is set for that time or earlier.
  template <class Send>
  void set(milliseconds due, milliseconds now, const Send& send) {
    if (due >= due_) return;
    due_ = due;
    send(std::max(due - now, milliseconds{0}), ++number_);
  }
  /// The time for which the timer of that number was set; none: an earlier timer has replaced it.
  [[nodiscard]] std::optional<milliseconds> fired(std::uint64_t number) {
    if (number != number_ || due_ == milliseconds::max()) return std::nullopt;
    return std::exchange(due_, milliseconds::max());
  }

private:
  milliseconds due_ = milliseconds::max();
  std::uint64_t number_ = 0;
};

} // namespace fq
