// SPDX-License-Identifier: Apache-2.0
// Decides which IP addresses are on the public Internet (SSRF guard). A URL chosen by a tenant must not lead
// to this machine, its network or a cloud's metadata service. Pure; outbound checks each URL when it is
// registered and again before every connect.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace fq {

using ipv4_bytes = std::array<std::uint8_t, 4>; ///< network order
using ipv6_bytes = std::array<std::uint8_t, 16>;

/// Returns why an address is not public ("loopback", "private use", ...); empty if it is public. Follows
/// IANA's special-purpose address registries (RFC 6890 and successors, read November 2026). Blocks that are
/// not for general use, or not a host's own address, count as not public.
[[nodiscard]] std::string_view special_purpose_of(const ipv4_bytes& address) noexcept;
/// An address that carries an IPv4 address (mapped, compatible, 6to4, NAT64, ISATAP) is judged by that IPv4
/// address.
[[nodiscard]] std::string_view special_purpose_of(const ipv6_bytes& address) noexcept;

[[nodiscard]] inline bool is_public(const ipv4_bytes& address) noexcept {
  return special_purpose_of(address).empty();
}
[[nodiscard]] inline bool is_public(const ipv6_bytes& address) noexcept {
  return special_purpose_of(address).empty();
}

} // namespace fq
