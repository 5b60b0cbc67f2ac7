// SPDX-License-Identifier: Apache-2.0
// Appends JSON strings, numbers, ids and times to an answer. Hand-written for speed: every join and poll
// uses it.
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

/// A JSON string with quotes. `text` must be valid UTF-8.
void append_text(std::string& out, std::string_view text);
void append_number(std::string& out, std::int64_t value);
void append_unsigned(std::string& out, std::uint64_t value);
/// A UUID with quotes.
void append_id(std::string& out, const uuid& id);
/// RFC 3339, UTC, milliseconds, with quotes; `null` if never set.
void append_time(std::string& out, timestamp when);
/// At most two decimals, without trailing zeros: 1, 1.1, 12.25.
void append_hundredths(std::string& out, std::uint64_t hundredths);

/// "2026-11-21T02:43:18.123Z" without quotes. Years 0001 to 9999.
[[nodiscard]] std::string rfc3339(timestamp when);
/// Accepts RFC 3339 with any offset and 0 to 9 decimals, cut to milliseconds. Refuses leap seconds, missing
/// offsets and blanks.
[[nodiscard]] std::optional<timestamp> parse_rfc3339(std::string_view text);

} // namespace fq::net
