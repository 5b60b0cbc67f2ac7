// SPDX-License-Identifier: Apache-2.0
// Limits and times of the Redis engine.
#pragma once
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>

namespace fq::redis_bounds {

/// Pauses between connection attempts; each is retry_pause_factor times the last.
inline constexpr milliseconds retry_pause_min{200};
inline constexpr milliseconds retry_pause_max{5'000};
inline constexpr int retry_pause_factor = 3;
/// Timeouts of a connection to a Sentinel and of its answer. While all are silent, one round costs
/// sentinels_max times both.
inline constexpr milliseconds sentinel_timeout{300};
inline constexpr std::size_t sentinels_max = 8;
inline constexpr std::size_t read_bytes = 16 * 1024; ///< per read of a socket
/// Max content of one round trip. The rest waits for the answers, so that neither side buffers without
/// bound.
inline constexpr std::size_t window_bytes_max = 1 << 20;
inline constexpr std::size_t window_calls_max = 256;
/// Max reloads of a script that the server forgets before it runs.
inline constexpr int fruitless_loads_max = 3;
inline constexpr std::size_t read_chunk = 1'000; ///< members or values per answer: about 1 ms of the server
inline constexpr std::size_t read_window = 32; ///< answers per round trip
inline constexpr std::size_t limit_calls_max = 500; ///< shared limits per round trip
/// Max debt of a shared limit that several nodes emptied at once, in windows.
inline constexpr std::int64_t debt_windows_max = 8;

} // namespace fq::redis_bounds
