// SPDX-License-Identifier: Apache-2.0
// The opening handshake of a WebSocket (RFC 6455 section 4.2), which the connection checks and answers
// before it passes the socket to the hub. Pure functions.
#pragma once
#include "net/http/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

/// Why the request cannot become a WebSocket; nothing if it can.
[[nodiscard]] std::optional<http_refusal> check_handshake(const request& req);

/// Sec-WebSocket-Accept of a key.
[[nodiscard]] std::string accept_of(std::string_view key);

/// Whether a comma separated list contains `token`; case-insensitive.
[[nodiscard]] bool lists(std::string_view list, std::string_view token);

} // namespace fq::net
