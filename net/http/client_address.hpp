// SPDX-License-Identifier: Apache-2.0
// Finds the client's address: the socket's peer, or the address that trusted proxies report. Called by the
// connection for every request.
#pragma once
#include "config/network.hpp"
#include "net/http/limits.hpp"

#include <boost/asio/ip/address.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace fq::net {

/// 16 bytes in network order; IPv4 as ::ffff:a.b.c.d, so that both forms of an address are equal.
[[nodiscard]] config::ip_bytes bytes_of(const boost::asio::ip::address& address);

/// Converts an IPv4-mapped IPv6 address to IPv4.
[[nodiscard]] boost::asio::ip::address unmapped(const boost::asio::ip::address& address);

/// Accepts "1.2.3.4", "1.2.3.4:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80", with blanks around.
/// No zone ids, no host names.
[[nodiscard]] std::optional<boost::asio::ip::address> parse_forwarded(std::string_view text);

/// Whether one of the blocks contains the address.
[[nodiscard]] bool is_trusted(const boost::asio::ip::address& address,
                              std::span<const config::address_block> trusted);

/// Returns the peer unless it is trusted. Otherwise walks X-Forwarded-For (all lines joined) from the right
/// to the first untrusted hop. An unreadable hop ends the walk at the last readable one.
[[nodiscard]] boost::asio::ip::address client_address(
  const boost::asio::ip::address& peer, std::span<const std::pair<std::string_view, std::string_view>> fields,
  std::span<const config::address_block> trusted);

/// Key of an address in limits: the whole IPv4 address, or the /64 of IPv6.
[[nodiscard]] config::ip_bytes limit_prefix(const boost::asio::ip::address& address);

} // namespace fq::net
