// SPDX-License-Identifier: Apache-2.0
#include "outbound/time_text.hpp"

#include <array>
#include <cstdio>

namespace fq {
namespace {

/// A timestamp split into its fields.
struct parts {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<milliseconds> clock;
  int year, hour, minute, second, millisecond;
  unsigned month, day;

  explicit parts(timestamp t) :
      date{std::chrono::floor<std::chrono::days>(t)},
      clock{t - std::chrono::floor<std::chrono::days>(t)},
      year{static_cast<int>(date.year())},
      hour{static_cast<int>(clock.hours().count())},
      minute{static_cast<int>(clock.minutes().count())},
      second{static_cast<int>(clock.seconds().count())},
      millisecond{static_cast<int>(clock.subseconds().count())},
      month{static_cast<unsigned>(date.month())},
      day{static_cast<unsigned>(date.day())} {}
};

template <class... Values>
std::string formatted(const char* form, Values... values) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), form, values...);
  return text.data();
}

} // namespace

std::string time_for_machines(timestamp when) {
  const parts p{when};
  return formatted("%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", p.year, p.month, p.day, p.hour, p.minute, p.second,
                   p.millisecond);
}

std::string time_for_names(timestamp when) {
  const parts p{when};
  return formatted("%04d%02u%02uT%02d%02d%02d.%03dZ", p.year, p.month, p.day, p.hour, p.minute, p.second,
                   p.millisecond);
}

} // namespace fq
