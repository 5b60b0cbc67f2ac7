// SPDX-License-Identifier: Apache-2.0
// The strict guard between the parser and everything else: decides where a request ends, or that nobody
// should guess. Beast 1.81 accepts several request-smuggling primitives; what two parsers could read
// differently is refused here. Pure: text in, verdict out.
#pragma once
#include "net/http/http.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace fq::net {

using field_view = std::pair<std::string_view, std::string_view>;

/// A header as the parser understood it, and as it was sent.
struct request_head {
  std::string_view text; ///< from the method to the empty line, as sent
  std::string_view method;
  std::string_view target;
  unsigned version = 11; ///< 10 or 11
  std::span<const field_view> fields;
};

enum class body_kind : std::uint8_t { none, length, chunked };

struct framing {
  std::optional<http_refusal> no; ///< set: refuse with it and close; the rest is not meaningful
  std::string_view detail; ///< static text, for people
  method verb{};
  std::string_view target; ///< origin form
  body_kind kind = body_kind::none;
  std::uint64_t length = 0; ///< of `body_kind::length`
  bool keep_alive = true;
  bool expects_continue = false;
};

/// Most fields a request may have.
inline constexpr std::size_t request_fields_max = 100;

[[nodiscard]] framing check_framing(const request_head& head);

} // namespace fq::net
