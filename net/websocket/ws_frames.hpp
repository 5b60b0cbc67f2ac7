// SPDX-License-Identifier: Apache-2.0
// Frames of RFC 6455 for a server. This reader keeps about 64 bytes and no payload, because clients send
// nothing of interest; Beast's stream costs 3.5 to 5 KB per idle connection. Uses no sockets.
#pragma once
#include "net/http/utf8.hpp"
#include "net/websocket/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fq::net {

enum class ws_opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10
};

enum class ws_close : std::uint16_t {
  normal = 1000,
  going_away = 1001,
  protocol_error = 1002,
  no_status = 1005, ///< never sent
  invalid_text = 1007,
  policy = 1008,
  too_big = 1009,
  service_restart = 1012,
  try_again = 1013,
  unauthorized = 4401,
};

/// Appends an unmasked, unfragmented frame.
void append_frame(std::string& out, ws_opcode opcode, std::string_view payload);
void append_close(std::string& out, ws_close code, std::string_view why = {});

/// Events of a reader.
class ws_listener {
public:
  virtual void on_message() = 0; ///< a complete text or binary message; its content is checked and dropped
  virtual void on_ping(std::string_view payload) = 0;
  virtual void on_pong() = 0;
  virtual void on_close(ws_close code) = 0; ///< `no_status` if the frame has no code
  virtual void on_violation(ws_close answer) = 0; ///< close the connection with this code

protected:
  ~ws_listener() = default;
};

class ws_reader {
public:
  /// Reads received bytes; unmasks in place. Returns false after a close or a violation: pass no more data.
  bool feed(std::span<char> data, ws_listener& listener);

private:
  bool header_complete() const;
  bool begin_frame(ws_listener& listener);
  bool take_payload(std::span<char> data, ws_listener& listener);
  bool end_frame(ws_listener& listener);
  bool end_control(ws_listener& listener);
  bool violate(ws_close code, ws_listener& listener);
  [[nodiscard]] bool is_control() const { return (header_[0] & 0x08) != 0; }

  unsigned char header_[14] = {};
  std::uint8_t header_size_ = 0;
  bool in_payload_ = false;
  bool in_message_ = false; ///< between the first and last frame of a fragmented message
  bool is_text_ = false;
  std::uint8_t mask_at_ = 0;
  utf8_checker text_;
  std::uint32_t message_size_ = 0;
  std::uint32_t remaining_ = 0; ///< payload bytes left in this frame
  std::string control_; ///< payload of a control frame
};

} // namespace fq::net
