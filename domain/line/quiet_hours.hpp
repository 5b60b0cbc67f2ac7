// SPDX-License-Identifier: Apache-2.0
// The hours of a day in which a waiting list offers nothing, on the clocks of the venue. Pure.
#pragma once
#include "domain/base/time.hpp"

#include <cstdint>

namespace fq {

/// From a minute of the day to another one; beyond midnight if that is the lower. Equal, or negative: none.
struct quiet_hours {
  std::int32_t from = -1, until = -1;
  seconds offset{0}; ///< of the venue's clocks from UTC

  [[nodiscard]] bool are_set() const { return from >= 0 && until >= 0 && from != until; }
  /// When the quiet hours end that `t` is in; `never`: it is in none.
  [[nodiscard]] timestamp end_at(timestamp t) const;
  /// The end of `span` from `t` on, of which the quiet hours are no part.
  [[nodiscard]] timestamp after(timestamp t, milliseconds span) const;

private:
  /// Since the last start of quiet hours at or before `t`.
  [[nodiscard]] milliseconds since_start(timestamp t) const;
  [[nodiscard]] milliseconds length() const;
};

} // namespace fq
