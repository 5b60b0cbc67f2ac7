// SPDX-License-Identifier: Apache-2.0
// The seat map of a fan that waits on a WebSocket, as web/sdk/seats.mjs follows it: frames bring changes, and
// the fan reads what they did not bring.
#include "load/fans/fan_parts.hpp"

namespace fq::load {

// A busy server answers 503.
asio::awaitable<void> fan::read_first_map() {
  for (int attempt = 0; attempt < map_tries && map_.states.empty() && !around_.time_is_over(); ++attempt) {
    if (attempt > 0) co_await back_off(attempt, -1);
    const auto map = co_await around_.ask_seats("/seats", token_);
    if (!map.is_null()) around_.take_seats(map, map_);
  }
}

void fan::hear_seats(const boost::json::value& frame) {
  const auto known = static_cast<std::int64_t>(map_.version);
  const auto from = whole_member(frame, "from", -1);
  if (from < 0 || from > known)
    map_is_behind_ = map_is_behind_ || whole_member(frame, "version", -1) != known;
  else if (around_.take_seats(frame, map_))
    around_.see_map(map_);
}

// Without an answer the fan asks again after the next frame; a lost socket brings one.
asio::awaitable<void> fan::catch_up_map() {
  co_await nap(static_cast<run_time_us>(around_.random().under(map_spread_us)));
  const auto news = co_await around_.ask_seats("/seats?since=" + std::to_string(map_.version), token_);
  map_is_behind_ = news.is_null();
  if (!map_is_behind_ && around_.take_seats(news, map_)) around_.see_map(map_);
}

bool fan::is_seat_refusal(std::string_view code) {
  return code == "seat_taken" || code == "seat_single" || code == "seat_accessible_only"
         || code == "no_best_seats";
}

asio::awaitable<void> fan::on_refused_seats(std::string_view code) {
  is_modest_ = is_modest_ || code == "no_best_seats" || around_.random().unit() < 0.5;
  around_.count_refused_seats();
  co_await nap(static_cast<run_time_us>(around_.random().under(none_free_pause_us)));
  if (!around_.is_without_queue()) co_await look();
}

} // namespace fq::load
