// SPDX-License-Identifier: Apache-2.0
#include "domain/base/address_guard.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace fq {
namespace {

template <std::size_t Size>
struct block {
  std::array<std::uint8_t, Size> network; // remaining bytes are zero
  int bits;
  std::string_view name;
};

// https://www.iana.org/assignments/iana-ipv4-special-registry, and multicast. The AS112 and AMT anycast
// blocks are omitted because they are public servers. The last row is in no registry.
constexpr auto ipv4_blocks = std::to_array<block<4>>({
  {{0}, 8, "this network"},
  {{10}, 8, "private use"},
  {{100, 64}, 10, "shared address space"},
  {{127}, 8, "loopback"},
  {{169, 254}, 16, "link-local"}, // includes 169.254.169.254, the metadata service of most clouds
  {{172, 16}, 12, "private use"},
  {{192, 0, 0}, 24, "protocol assignments"},
  {{192, 0, 2}, 24, "documentation"},
  {{192, 88, 99}, 24, "6to4 relay"},
  {{192, 168}, 16, "private use"},
  {{198, 18}, 15, "benchmarking"},
  {{198, 51, 100}, 24, "documentation"},
  {{203, 0, 113}, 24, "documentation"},
  {{224}, 4, "multicast"},
  {{240}, 4, "reserved"}, // includes the limited broadcast
  {{168, 63, 129, 16}, 32, "metadata"}, // Azure WireServer, reachable only from inside Azure
});

// https://www.iana.org/assignments/iana-ipv6-special-registry: the blocks inside 2000::/3. Addresses outside
// of it are not assigned to Internet hosts (RFC 4291 2.4): unspecified, loopback, 100::/64, 5f00::/16,
// unique local, link-local, site-local, multicast.
constexpr block<16> global_unicast{{0x20}, 3, {}};
constexpr auto ipv6_blocks = std::to_array<block<16>>({
  {{0x20, 0x01}, 23, "protocol assignments"}, // Teredo, benchmarking, ORCHID
  {{0x20, 0x01, 0x0d, 0xb8}, 32, "documentation"},
  {{0x3f, 0xff}, 20, "documentation"},
});

template <std::size_t Size>
bool contains(const block<Size>& b, const std::array<std::uint8_t, Size>& address) {
  const auto whole = static_cast<std::size_t>(b.bits / 8);
  if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole), b.network.begin()))
    return false;
  const int rest = b.bits % 8;
  return rest == 0 || address[whole] >> (8 - rest) == b.network[whole] >> (8 - rest);
}

template <std::size_t Size, std::size_t Count>
std::string_view name_in(const std::array<block<Size>, Count>& blocks,
                         const std::array<std::uint8_t, Size>& address) {
  const auto found =
    std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return contains(b, address); });
  return found == blocks.end() ? std::string_view{} : found->name;
}

// An address block whose addresses carry an IPv4 address, and its byte offset.
struct carrier {
  block<16> addresses;
  std::size_t at;
};
constexpr auto carriers = std::to_array<carrier>({
  {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, "mapped"}, 12},
  {{{}, 96, "compatible"}, 12}, // :: and ::1 too: their IPv4 part is in "this network"
  {{{0, 0x64, 0xff, 0x9b}, 96, "NAT64"}, 12},
  {{{0x20, 0x02}, 16, "6to4"}, 2},
});

bool is_isatap(const ipv6_bytes& a) {
  return (a[8] & 0xfd) == 0 && a[9] == 0 && a[10] == 0x5e && a[11] == 0xfe;
}

ipv4_bytes ipv4_at(const ipv6_bytes& a, std::size_t at) { return {a[at], a[at + 1], a[at + 2], a[at + 3]}; }

std::optional<ipv4_bytes> carried_by(const ipv6_bytes& address) {
  const auto found = std::find_if(carriers.begin(), carriers.end(),
                                  [&](const auto& c) { return contains(c.addresses, address); });
  if (found == carriers.end()) return std::nullopt;
  return ipv4_at(address, found->at);
}

} // namespace

std::string_view special_purpose_of(const ipv4_bytes& address) noexcept {
  return name_in(ipv4_blocks, address);
}

std::string_view special_purpose_of(const ipv6_bytes& address) noexcept {
  if (const auto inside = carried_by(address)) return special_purpose_of(*inside);
  if (!contains(global_unicast, address)) return "not global unicast";
  if (is_isatap(address) && !is_public(ipv4_at(address, 12))) return "ISATAP of a private address";
  return name_in(ipv6_blocks, address);
}

} // namespace fq
