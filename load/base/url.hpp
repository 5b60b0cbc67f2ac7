// SPDX-License-Identifier: Apache-2.0
// Plain http:// URLs and their addresses, for the options and for fans that follow an authorization_url.
// Accepts only loopback unless the user allows remote hosts.
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

  // The value of the Host header.
  [[nodiscard]] std::string authority() const;
};

// http only, no user info, no fragment; nullopt otherwise.
std::optional<http_url> parse_http_url(std::string_view text);

// Numeric addresses and `localhost` need no resolver; other names are looked up (blocking) if allow_remote is
// set. On refusal, puts the reason into `why`.
std::optional<boost::asio::ip::tcp::endpoint> resolve(const http_url& url, bool allow_remote,
                                                      std::string& why);

} // namespace fq::load
