// SPDX-License-Identifier: Apache-2.0
// The parts of JSON that answers are appended from: texts, numbers, ids, times. Hand-written: every join and
// poll passes here.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

template <class Integer>
void append_integer(std::string& out, Integer value) {
  char buffer[24];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, static_cast<std::size_t>(end - buffer));
}

/// A JSON string with its quotes. `text` must be valid UTF-8.
void append_text(std::string& out, std::string_view text);
void append_number(std::string& out, std::int64_t value);
void append_unsigned(std::string& out, std::uint64_t value);
/// A UUID with its quotes.
void append_id(std::string& out, const uuid& id);
/// RFC 3339, UTC, milliseconds, with quotes; `null` if never set.
void append_time(std::string& out, timestamp when);
/// At most two decimals, none that are zero: 1, 1.1, 12.25.
void append_hundredths(std::string& out, std::uint64_t hundredths);

/// "2026-11-21T02:43:18.123Z" without quotes. Years 0001 to 9999.
[[nodiscard]] std::string rfc3339(timestamp when);
/// RFC 3339 with any offset and 0 to 9 decimals (cut to milliseconds). Leap seconds, absent offsets and
/// blanks are refused.
[[nodiscard]] std::optional<timestamp> parse_rfc3339(std::string_view text);

} // namespace fq::net
