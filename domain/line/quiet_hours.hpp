// SPDX-License-Identifier: Apache-2.0
// The hours of a day in which a waiting list offers nothing, on the clocks of the venue. Pure.
#pragma once
#include "domain/base/time.hpp"

#include <cstdint>

namespace fq {

/// Minutes of the day. `until` below `from`: they end on the next day. Equal or negative: there are none.
struct quiet_hours {
  std::int32_t from = -1, until = -1;
  seconds offset{0}; ///< of the venue's clocks from UTC

  [[nodiscard]] bool are_set() const { return from >= 0 && until >= 0 && from != until; }
  /// End of the quiet hours that contain `t`; `never`: `t` is outside of them.
  [[nodiscard]] timestamp end_at(timestamp t) const;
  /// The time at which `span` has passed since `t`, without the quiet hours.
  [[nodiscard]] timestamp after(timestamp t, milliseconds span) const;

private:
  /// Time since the last start of quiet hours at or before `t`.
  [[nodiscard]] milliseconds since_start(timestamp t) const;
  [[nodiscard]] milliseconds length() const;
};

} // namespace fq
