// SPDX-License-Identifier: Apache-2.0
// The strict guard behind the parser: decides where a request ends, or refuses it. Beast 1.81 accepts
// several forms of request smuggling; anything that two parsers could read differently is refused here.
// Pure: text in, verdict out.
#pragma once
#include "net/http/http.hpp"
#include "net/http/limits.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace fq::net {

using field_view = std::pair<std::string_view, std::string_view>;

/// A request's header.
struct request_head {
  bool has_folded_line = false; ///< one that continues the line before it
  std::string_view method;
  std::string_view target;
  unsigned version = 11; ///< 10 or 11
  std::span<const field_view> fields;
};

enum class body_kind : std::uint8_t { none, length, chunked };

struct framing {
  std::optional<http_refusal> no; ///< set: refuse and close; of the others only `detail` has a meaning, and
                                  ///< `target` if the method is unknown
  std::string_view detail; ///< static text, for people
  method verb{};
  std::string_view target; ///< origin form
  body_kind kind = body_kind::none;
  std::uint64_t length = 0; ///< bytes, of `body_kind::length`
  bool keep_alive = true;
  bool expects_continue = false;
};

[[nodiscard]] framing check_framing(const request_head& head);

} // namespace fq::net
