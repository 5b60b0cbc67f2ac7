// SPDX-License-Identifier: Apache-2.0
// How often and how long fans, the crowd and the benchmark try.
#pragma once

#include "load/base/history.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace fq::load {

// ---- a fan

/// Back-off between retries of a request: base and cap.
constexpr run_time_us retry_base_us = 100 * ms_us;
constexpr run_time_us retry_cap_us = 2 * second_us;
constexpr int server_errors_max = 8; ///< consecutive; then the fan gives up
/// Of `poll_after_ms`, when the server says nothing, and bounds of what it says.
constexpr std::int64_t poll_after_default_ms = 1000, poll_after_min_ms = 20, poll_after_max_ms = 30'000;
constexpr std::int64_t reconnect_after_max_ms = 5'000; ///< of the server's wish: a run lasts a minute or two
/// The server pings every 25 s; a socket that stays silent longer is dead.
constexpr run_time_us socket_silence_us = 70 * second_us;
/// A buyer whose session expired without a ticket joins again at the end of the line, at most this often.
constexpr int rejoins_max = 5;
/// A crowd whose seat maps are behind reads them over this time, as web/sdk/seats.mjs does.
constexpr run_time_us map_spread_us = 500 * ms_us;
constexpr int map_tries = 5; ///< of the first reading
constexpr int shop_rounds_max = 200; ///< claims that found no stock
constexpr run_time_us none_free_pause_us = 400 * ms_us; ///< held stock may return
constexpr run_time_us not_open_pause_us = 300 * ms_us; ///< clocks differ a little
/// Between two looks for a payment's verdict; the pause doubles.
constexpr run_time_us verdict_first_pause_us = 40 * ms_us, verdict_pause_max_us = second_us;
constexpr run_time_us refund_patience_us = 20 * second_us; ///< for late money to go back
/// Bounds of an order's `poll_after_ms`.
constexpr std::int64_t order_poll_min_ms = 20, order_poll_max_ms = 5'000;
constexpr int prefer_wait_s = 2; ///< of Prefer: wait, below every request timeout

// ---- the crowd

/// Interval of the sweep of deadlines and of the progress line.
constexpr auto sweep_interval = std::chrono::milliseconds(100);
/// Consecutive sold_out answers before the waiting fans give up.
constexpr int sold_out_needed = 2;
constexpr std::size_t complaint_limit = 20; ///< the report stays readable
constexpr std::size_t seat_connections = 16; ///< for readings of the seat map
constexpr auto books_pause = std::chrono::milliseconds(400); ///< between two readings of the books
constexpr int books_pages_max = 10'000; ///< of 200 orders

// ---- the benchmark of joins

constexpr std::size_t scratch_bytes = 64 * 1024; ///< of one read: a burst of answers
constexpr run_time_us reconnect_pause_us = 100 * ms_us; ///< after a connection was lost
constexpr run_time_us busy_pause_us = 50 * ms_us; ///< after 429 or 503 without Retry-After

} // namespace fq::load
