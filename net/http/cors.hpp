// SPDX-License-Identifier: Apache-2.0
// CORS fields and the WebSocket Origin check, both from http.allowed_origins. Called by the connection and
// ws_routes.
#pragma once
#include "net/http/http.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace fq::net {

/// Exact, case-insensitive match of scheme://host[:port]. "null" is never allowed.
[[nodiscard]] bool origin_allowed(const std::vector<std::string>& allowed, std::string_view origin);

/// Adds Access-Control-Allow-Origin, Vary and the exposed header names if the request's Origin is allowed.
/// Otherwise adds no permission: the browser hides the answer from the page.
void add_cors(const std::vector<std::string>& allowed, const request& rq, response& answer);

/// Whether the request is a preflight: OPTIONS with Access-Control-Request-Method. `allow` in `preflight`
/// is the path's Allow list ("GET, POST").
[[nodiscard]] bool is_preflight(const request& rq);
[[nodiscard]] response preflight(const std::vector<std::string>& allowed, const request& rq,
                                 std::string_view allow);

/// Whether `origin` is the request's own Host or the configured public address.
[[nodiscard]] bool is_own_origin(const request& rq, std::string_view public_url, std::string_view origin);

/// "https://shop.example/x?y" -> "https://shop.example"; empty if it is no http(s) address.
[[nodiscard]] std::string_view origin_of(std::string_view url);

} // namespace fq::net
