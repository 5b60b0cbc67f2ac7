// SPDX-License-Identifier: Apache-2.0
// Local times of a venue. The rules of time zones are those of the system (tzdata), names and forms
// those of CLDR. Reads a zone's file at its first use.
#pragma once
#include "domain/base/time.hpp"

#include <string>
#include <string_view>

namespace fq {

/// Whether the system knows this IANA name ("Africa/Lagos").
[[nodiscard]] bool is_time_zone(std::string_view name);

// `zone` empty or unknown: UTC. `language`: a tag such as "fr".

/// "Friday, 27 November 2026 at 19:30 GMT+1", with Latin digits in every language.
[[nodiscard]] std::string time_text(timestamp when, std::string_view zone, std::string_view language);
/// "19:30".
[[nodiscard]] std::string clock_text(timestamp when, std::string_view zone, std::string_view language);
/// "2026-11-27T19:30:00+01:00".
[[nodiscard]] std::string local_rfc3339(timestamp when, std::string_view zone);
/// What its clocks are ahead of UTC.
[[nodiscard]] seconds zone_offset(timestamp when, const std::string& zone);
[[nodiscard]] bool is_same_day(timestamp a, timestamp b, std::string_view zone);

} // namespace fq
