// SPDX-License-Identifier: Apache-2.0
// The opening handshake of a WebSocket (RFC 6455 section 4.2): what the session checks and answers before it
// hands a socket to the hub. Pure functions.
#pragma once
#include "net/http/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

/// Why this request cannot become a WebSocket; nothing when it can.
[[nodiscard]] std::optional<http_refusal> check_handshake(const request& req);

/// Sec-WebSocket-Accept for a key.
[[nodiscard]] std::string accept_of(std::string_view key);

/// Whether a comma separated list holds `token`, in any case.
[[nodiscard]] bool lists(std::string_view list, std::string_view token);

} // namespace fq::net
