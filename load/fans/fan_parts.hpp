// SPDX-License-Identifier: Apache-2.0
// Shared by the files that define the members of `fan`: fan.cpp, fan_calls.cpp and checkout_fan.cpp.
#pragma once

#include "load/fans/fan.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace fq::load {

inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

inline constexpr run_time_us ms_us = 1000;
inline constexpr run_time_us second_us = 1000 * 1000;

inline constexpr run_time_us retry_base_us = 100 * ms_us;
inline constexpr run_time_us retry_cap_us = 2 * second_us;
inline constexpr run_time_us none_free_pause_us = 400 * ms_us;
inline constexpr run_time_us not_open_pause_us = 300 * ms_us;
inline constexpr run_time_us verdict_first_pause_us = 40 * ms_us;
inline constexpr run_time_us verdict_pause_max_us = second_us;
inline constexpr run_time_us refund_patience_us = 20 * second_us;
inline constexpr int shop_rounds_max = 200;
inline constexpr int server_errors_max = 8;

} // namespace fq::load
