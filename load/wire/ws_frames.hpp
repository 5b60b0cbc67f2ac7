// SPDX-License-Identifier: Apache-2.0
// RFC 6455 client framing: the handshake key, incoming frames, masked outgoing frames. No sockets.
#pragma once

#include "load/wire/http_reply.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace fq::load {

inline constexpr std::size_t ws_payload_max_bytes = 64 * 1024;

enum class ws_opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10
};

struct ws_frame {
  ws_opcode opcode = ws_opcode::text;
  bool last = true;
  std::string payload;
};

// Parses one server frame from the front of `inbox` and erases it. A masked frame, reserved bits, an unknown
// opcode, a fragmented control frame or a payload above the limit is `bad`.
parse_result take_frame(std::string& inbox, ws_frame& frame);

// A client frame; `mask` is a random number from the caller.
std::string client_frame(ws_opcode opcode, std::string_view payload, std::uint32_t mask);

// Base64 of sixteen random bytes, given as two numbers, and the server's required answer to it.
std::string websocket_key(std::uint64_t high, std::uint64_t low);
std::string websocket_accept(std::string_view key);

} // namespace fq::load
