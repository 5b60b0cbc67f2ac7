// SPDX-License-Identifier: Apache-2.0
// Who the client is: the socket's peer, or what trusted proxies say about it. Called by the session for every
// request.
#pragma once
#include "config/network.hpp"

#include <boost/asio/ip/address.hpp>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace fq::net {

/// Hops of X-Forwarded-For looked at, from the right; a longer list ends there.
inline constexpr std::size_t forwarded_hops_max = 32;

/// 16 bytes in network order; IPv4 as ::ffff:a.b.c.d, so that both spellings of an address are one.
[[nodiscard]] config::ip_bytes bytes_of(const boost::asio::ip::address& address);

/// An IPv4-mapped IPv6 address as the IPv4 one.
[[nodiscard]] boost::asio::ip::address unmapped(const boost::asio::ip::address& address);

/// "1.2.3.4", "1.2.3.4:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80". Blanks around it are cut. No
/// zone ids, no names.
[[nodiscard]] std::optional<boost::asio::ip::address> parse_forwarded(std::string_view text);

/// Whether one of the blocks holds the address.
[[nodiscard]] bool is_trusted(const boost::asio::ip::address& address,
                              std::span<const config::address_block> trusted);

/// The peer unless it is trusted; then X-Forwarded-For (all lines joined) from the right over trusted hops to
/// the first that is not. An unreadable hop ends the walk at the last readable one: nothing to the left of it
/// can be believed.
[[nodiscard]] boost::asio::ip::address client_address(
  const boost::asio::ip::address& peer, std::span<const std::pair<std::string_view, std::string_view>> fields,
  std::span<const config::address_block> trusted);

/// The key of an address in limits: all of IPv4, the /64 of IPv6.
[[nodiscard]] config::ip_bytes limit_prefix(const boost::asio::ip::address& address);

} // namespace fq::net
