// SPDX-License-Identifier: Apache-2.0
// One event as an iCalendar file (RFC 5545), written by libical. Its times are in UTC, which every calendar
// shows in its reader's zone.
#pragma once
#include "domain/base/time.hpp"

#include <optional>
#include <string>

namespace fq {

struct calendar_event {
  std::string id; ///< unique in the world
  std::string name, place, description, url; ///< empty: not given, except the name
  timestamp starts_at, ends_at; ///< the end may be `never`
  timestamp changed_at;
  bool is_cancelled = false;
  struct position {
    double latitude, longitude;
  };
  std::optional<position> at = {};
};

[[nodiscard]] std::string calendar_text(const calendar_event& event);

} // namespace fq
