// SPDX-License-Identifier: Apache-2.0
// Addresses in the configuration: listeners and trusted proxies. Used by config for checks, and by net to
// bind and to find a client's address. Opens no socket, resolves no name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq::config {

/// A numeric address with a port; port 0: chosen by the system (tests).
struct endpoint {
  std::string address; ///< "127.0.0.1" or "::1", without brackets
  std::uint16_t port = 0;
  friend bool operator==(const endpoint&, const endpoint&) = default;
};

/// Accepts "127.0.0.1:8080" and "[::1]:8080"; empty for names, a missing port and anything else.
[[nodiscard]] std::optional<endpoint> parse_endpoint(std::string_view text);
[[nodiscard]] std::string to_string(const endpoint& e);

/// The address to connect to a listener from this machine; replaces a wildcard address.
[[nodiscard]] endpoint reachable(endpoint listen);

/// 127.0.0.0/8 and ::1.
[[nodiscard]] bool is_loopback(const endpoint& e);

/// 16 bytes in network order; an IPv4 address is ::ffff:a.b.c.d.
using ip_bytes = std::array<std::uint8_t, 16>;
[[nodiscard]] std::optional<ip_bytes> parse_ip(std::string_view text);

/// A CIDR block.
struct address_block {
  ip_bytes network{};
  std::uint8_t prefix_bits = 0; ///< 0..128, counted in the 16-byte form

  [[nodiscard]] bool contains(const ip_bytes& address) const noexcept;
  friend bool operator==(const address_block&, const address_block&) = default;
};

/// Accepts "10.0.0.0/8", "fd00::/8" or a single address. Bits beyond the prefix must be zero: "10.1.2.3/8"
/// is refused.
[[nodiscard]] std::optional<address_block> parse_address_block(std::string_view text);
[[nodiscard]] std::string to_string(const address_block& block);

} // namespace fq::config
