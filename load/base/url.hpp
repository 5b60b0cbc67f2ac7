// SPDX-License-Identifier: Apache-2.0
// Plain http:// URLs and the addresses behind them. Used by the options and by fans following an
// authorization_url. Only loopback is accepted unless the user allowed more.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace fq::load {

struct http_url {
  std::string host; // without brackets
  std::uint16_t port = 80;
  std::string target; // path and query, never empty

  // As the Host header says it.
  [[nodiscard]] std::string authority() const;
};

// http only, no user info, no fragment; nullopt otherwise.
std::optional<http_url> parse_http_url(std::string_view text);

// Numeric addresses and `localhost` need no resolver; other names are looked up (blocking) only when
// allow_remote. Returns the reason in `why` when refused.
std::optional<boost::asio::ip::tcp::endpoint> resolve(const http_url& url, bool allow_remote,
                                                      std::string& why);

} // namespace fq::load
