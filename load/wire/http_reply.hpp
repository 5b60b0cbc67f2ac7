// SPDX-License-Identifier: Apache-2.0
// A minimal HTTP/1.1 response parser over a growing buffer, for the fans' connections and the join benchmark.
// Deliberately not the server's parser, so that a bug in one shows as an error in the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fq::load {

// A larger reply is malformed.
inline constexpr std::size_t reply_head_max_bytes = 16 * 1024;
inline constexpr std::size_t reply_body_max_bytes = 4 * 1024 * 1024;

struct http_reply {
  int status = 0;
  std::string body;
  std::string websocket_accept;
  int retry_after_s = -1; // -1: no header
  bool replayed = false; // Idempotency-Replayed: true
  bool keep_alive = true;
};

enum class parse_result : std::uint8_t { need_more, done, bad };

struct reply_head {
  int status = 0;
  std::size_t head_bytes = 0;
  std::size_t content_length = 0;
  bool has_length = false;
  bool chunked = false;
  bool keep_alive = true;
  bool replayed = false;
  int retry_after_s = -1;
  std::string_view websocket_accept;
};

parse_result parse_head(std::string_view data, reply_head& head);

// Parses one complete reply from the front of `inbox` and erases it there. `at_end`: the peer has closed,
// which ends a body without a length. Skips 1xx replies other than 101.
parse_result take_reply(std::string& inbox, bool at_end, http_reply& reply);

} // namespace fq::load
