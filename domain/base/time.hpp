// SPDX-License-Identifier: Apache-2.0
// The two time types of the project. Pure: this file reads no clock.
#pragma once
#include <chrono>
#include <cstdint>

namespace fq {

using milliseconds = std::chrono::milliseconds;
using seconds = std::chrono::seconds;

/// A moment in Unix time, UTC, in milliseconds. The default value (the epoch) means "not yet" / "never set".
using timestamp = std::chrono::time_point<std::chrono::system_clock, milliseconds>;

inline constexpr timestamp never{};

constexpr bool is_set(timestamp t) { return t != never; }
constexpr std::int64_t unix_ms(timestamp t) { return t.time_since_epoch().count(); }
constexpr timestamp from_unix_ms(std::int64_t ms) { return timestamp{milliseconds{ms}}; }

} // namespace fq
