// SPDX-License-Identifier: Apache-2.0
// A fan that waits on a WebSocket.
#include "load/fans/fan_parts.hpp"

#include <algorithm>
#include <array>

namespace fq::load {

asio::awaitable<void> fan::wait_on_socket() {
  // One descriptor per fan: close the HTTP connection before the socket opens.
  link_.close();
  in_line_ = true;
  if (around_.options().seats && map_.states.empty()) co_await read_first_map();
  run_time_us sent_us = 0;
  const bool opened = co_await open_socket(sent_us);
  if (opened) co_await follow_socket(sent_us);
  link_.close();
  in_line_ = false;
}

// Connects and upgrades, with retries. Gives up only when the wait is over or the server refuses (404, 401).
// The fan then polls, and the polled answer is judged.
asio::awaitable<bool> fan::open_socket(run_time_us& sent_us) {
  const auto began_us = around_.now_us();
  for (int attempt = 0; !around_.time_is_over() && !around_.sale_is_over(); ++attempt) {
    const auto key = websocket_key(around_.random().bits(), around_.random().bits());
    const auto seats = map_.states.empty() ? std::string{} : "?seats=" + std::to_string(map_.version);
    std::string text = "GET " + around_.target("/ws/queue/" + around_.event() + seats)
                       + " HTTP/1.1\r\nHost: " + around_.server().authority()
                       + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"
                         "\r\nSec-WebSocket-Key: "
                       + key + "\r\nSec-WebSocket-Protocol: fairqueue.v1, " + std::string(token_)
                       + "\r\n\r\n";
    http_reply reply;
    sent_us = around_.now_us();
    const auto result = co_await link_.exchange(text, reply, around_.request_deadline());
    if (result == transfer::answered && reply.status == 101) {
      if (reply.websocket_accept != websocket_accept(key)) {
        around_.complain(index_, "websocket: wrong Sec-WebSocket-Accept");
        around_.steps().of(step::ws_connect).add_error();
        socket_refused_ = true;
        co_return false;
      }
      around_.steps().of(step::ws_connect).add(began_us, around_.now_us());
      co_return true;
    }
    const bool busy = result != transfer::answered || reply.status == 503 || reply.status == 429;
    if (!busy) {
      around_.complain(index_, "websocket: " + std::to_string(reply.status));
      around_.steps().of(step::ws_connect).add_error();
      socket_refused_ = true;
      co_return false;
    }
    around_.steps().of(step::ws_connect).add_retry();
    link_.close();
    co_await back_off(attempt, result == transfer::answered ? reply.retry_after_s : -1);
  }
  co_return false;
}

asio::awaitable<void> fan::follow_socket(run_time_us sent_us) {
  std::int64_t reconnect_after_ms = 0;
  for (;;) {
    ws_frame frame;
    const auto limit =
      std::min(steady::now() + std::chrono::microseconds(socket_silence_us), around_.run_deadline());
    const auto result = co_await link_.read_frame(frame, limit);
    if (around_.time_is_over() || around_.sale_is_over()) co_return;
    if (result == transfer::malformed) {
      around_.complain(index_, "websocket: malformed frame");
      around_.steps().of(step::ws_connect).add_error();
    }
    if (result != transfer::answered || !on_frame(frame, sent_us, reconnect_after_ms)) break;
    if (place_ != place_kind::waiting && place_ != place_kind::away) co_return;
    if (map_is_behind_) co_await catch_up_map();
  }
  // The connection ended while the fan still waits: reconnect with jitter.
  if (place_ == place_kind::waiting || place_ == place_kind::away) {
    around_.steps().of(step::ws_connect).add_retry();
    const auto jitter_us = static_cast<run_time_us>(around_.random().under(retry_base_us));
    co_await nap(std::min(reconnect_after_ms, reconnect_after_max_ms) * ms_us + jitter_us);
  }
}

// False if the socket is finished.
bool fan::on_frame(const ws_frame& frame, run_time_us sent_us, std::int64_t& reconnect_after_ms) {
  const auto mask = static_cast<std::uint32_t>(around_.random().bits());
  switch (frame.opcode) {
    case ws_opcode::ping: return link_.send_frame(ws_opcode::pong, frame.payload, mask) == transfer::answered;
    case ws_opcode::close: link_.send_frame(ws_opcode::close, frame.payload.substr(0, 2), mask); return false;
    case ws_opcode::pong: return true;
    case ws_opcode::text:
    case ws_opcode::binary:
    case ws_opcode::continuation: break;
  }
  const auto event = parse_object(frame.payload);
  const auto type = text_member(event, "type");
  if (type.empty()) {
    around_.complain(index_, "websocket: a frame without type");
    return true;
  }
  if (type == "draining") {
    reconnect_after_ms = whole_member(event, "reconnect_after_ms", 0);
    return true;
  }
  on_socket_event(type, event, sent_us);
  return true;
}

void fan::on_socket_event(std::string_view type, const boost::json::value& event, run_time_us sent_us) {
  const auto at_us = around_.now_us();
  if (type == "state") {
    const auto* entry = event.as_object().if_contains("entry");
    const auto read = entry != nullptr ? read_entry(*entry) : std::nullopt;
    if (read)
      see_entry(*read, sent_us, at_us);
    else
      around_.complain(index_, "websocket: malformed state");
  } else if (type == "position_changed") {
    auto moved = entry_;
    moved.position = static_cast<std::uint32_t>(whole_member(event, "position", 0));
    see_place(place_, moved, sent_us, at_us);
  } else if (type == "admitted") {
    auto admitted = event.as_object();
    admitted["status"] = "ADMITTED";
    if (const auto read = read_entry(admitted))
      see_entry(*read, sent_us, at_us);
    else
      around_.complain(index_, "websocket: malformed admitted");
  } else if (type == "seats") {
    hear_seats(event);
  } else {
    constexpr std::array<std::string_view, 6> endings{"expired",   "session_expired", "cancelled",
                                                      "completed", "revoked",         "ended"};
    // sold_out, paused, resumed: the coordinator polls the event
    if (std::find(endings.begin(), endings.end(), type) == endings.end()) return;
    auto over = entry_;
    over.status = type == "ended" || type == "cancelled" ? "CANCELLED" : "EXPIRED";
    over.position = 0;
    see_place(place_kind::over, over, sent_us, at_us);
    if (type == "ended") end(outcome::ended);
  }
}

} // namespace fq::load
