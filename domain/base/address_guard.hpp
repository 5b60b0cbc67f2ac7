// SPDX-License-Identifier: Apache-2.0
// Which IP addresses are on the public Internet, so that an address somebody else chose leads us nowhere
// else: not into this machine, its network or a cloud's metadata service (SSRF). Pure; asked by outbound when
// a url is given to us and again before every connect.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace fq {

using ipv4_bytes = std::array<std::uint8_t, 4>; ///< network order
using ipv6_bytes = std::array<std::uint8_t, 16>;

/// Why an address is not public: "loopback", "private use", ...; empty if it is. By IANA's special-purpose
/// address registries (RFC 6890 and its successors; read November 2026), where whatever is not for
/// everybody's use, or no host's own address, counts as not public.
[[nodiscard]] std::string_view special_purpose_of(const ipv4_bytes& address) noexcept;
/// Addresses that carry an IPv4 address (mapped, compatible, 6to4, NAT64, ISATAP) lead to it and are what it
/// is.
[[nodiscard]] std::string_view special_purpose_of(const ipv6_bytes& address) noexcept;

[[nodiscard]] inline bool is_public(const ipv4_bytes& address) noexcept {
  return special_purpose_of(address).empty();
}
[[nodiscard]] inline bool is_public(const ipv6_bytes& address) noexcept {
  return special_purpose_of(address).empty();
}

} // namespace fq
