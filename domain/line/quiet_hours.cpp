// SPDX-License-Identifier: Apache-2.0
#include "domain/line/quiet_hours.hpp"

namespace fq {
namespace {

constexpr milliseconds day{24 * 60 * 60 * 1000};
constexpr milliseconds minute{60 * 1000};

milliseconds of_day(milliseconds t) { return (t % day + day) % day; }

} // namespace

milliseconds quiet_hours::since_start(timestamp t) const {
  return of_day(t.time_since_epoch() + offset - from * minute);
}

milliseconds quiet_hours::length() const { return of_day((until - from) * minute); }

timestamp quiet_hours::end_at(timestamp t) const {
  if (!are_set() || since_start(t) >= length()) return never;
  return t + (length() - since_start(t));
}

timestamp quiet_hours::after(timestamp t, milliseconds span) const {
  if (!are_set()) return t + span;
  if (const auto end = end_at(t); is_set(end)) t = end;
  // Each step uses up the hours of one day that are not quiet.
  for (auto left = day - since_start(t); span > left; left = day - length()) {
    t += left + length();
    span -= left;
  }
  return t + span;
}

} // namespace fq
