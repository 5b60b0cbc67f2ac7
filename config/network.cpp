// SPDX-License-Identifier: Apache-2.0
// Numeric addresses and CIDR blocks.
#include "config/network.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace fq::config {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_mapped_ipv4(const ip_bytes& ip) {
  return std::equal(mapped_prefix.begin(), mapped_prefix.end(), ip.begin());
}

std::optional<unsigned> parse_number(std::string_view text, unsigned high) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  if (error != std::errc{} || end != text.data() + text.size() || leading_zero || value > high)
    return std::nullopt;
  return value;
}

std::string ip_text(const ip_bytes& ip) {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_mapped_ipv4(ip)) return ::inet_ntop(AF_INET, ip.data() + mapped_prefix.size(), text, sizeof text);
  return ::inet_ntop(AF_INET6, ip.data(), text, sizeof text);
}

} // namespace

std::optional<ip_bytes> parse_ip(std::string_view text) {
  if (text.size() >= INET6_ADDRSTRLEN) return std::nullopt;
  const std::string terminated{text};
  ip_bytes ip{};
  if (::inet_pton(AF_INET6, terminated.c_str(), ip.data()) == 1) return ip;
  std::copy(mapped_prefix.begin(), mapped_prefix.end(), ip.begin());
  if (::inet_pton(AF_INET, terminated.c_str(), ip.data() + mapped_prefix.size()) == 1) return ip;
  return std::nullopt;
}

std::optional<endpoint> parse_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto address = text.substr(0, colon);
  const auto port = parse_number(text.substr(colon + 1), 65535);
  const bool bracketed = address.size() > 2 && address.front() == '[' && address.back() == ']';
  if (bracketed) address = address.substr(1, address.size() - 2);
  const bool v6 = address.find(':') != std::string_view::npos;
  if (!port || v6 != bracketed || !parse_ip(address)) return std::nullopt;
  return endpoint{std::string{address}, static_cast<std::uint16_t>(*port)};
}

std::string to_string(const endpoint& e) {
  const bool v6 = e.address.find(':') != std::string::npos;
  std::string text;
  if (v6)
    text.append("[").append(e.address).append("]");
  else
    text = e.address;
  return text.append(":").append(std::to_string(e.port));
}

endpoint reachable(endpoint listen) {
  if (listen.address == "0.0.0.0") listen.address = "127.0.0.1";
  if (listen.address == "::") listen.address = "::1";
  return listen;
}

bool is_loopback(const endpoint& e) {
  const auto ip = parse_ip(e.address);
  if (!ip) return false;
  if (is_mapped_ipv4(*ip)) return (*ip)[12] == 127;
  return *ip == *parse_ip("::1");
}

bool address_block::contains(const ip_bytes& address) const noexcept {
  const auto whole = static_cast<std::size_t>(prefix_bits / 8);
  if (!std::equal(network.begin(), network.begin() + static_cast<std::ptrdiff_t>(whole), address.begin()))
    return false;
  const auto rest = prefix_bits % 8;
  if (rest == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - rest));
  return (network[whole] & mask) == (address[whole] & mask);
}

std::optional<address_block> parse_address_block(std::string_view text) {
  const auto slash = text.find('/');
  const auto ip = parse_ip(text.substr(0, slash));
  if (!ip) return std::nullopt;
  const unsigned family_bits = is_mapped_ipv4(*ip) ? 32 : 128;
  unsigned bits = family_bits;
  if (slash != std::string_view::npos) {
    const auto given = parse_number(text.substr(slash + 1), family_bits);
    if (!given) return std::nullopt;
    bits = *given;
  }
  const address_block block{*ip, static_cast<std::uint8_t>(128 - family_bits + bits)};
  ip_bytes masked{};
  for (std::size_t i = 0; i < masked.size(); ++i) {
    const int kept = std::clamp(static_cast<int>(block.prefix_bits) - static_cast<int>(8 * i), 0, 8);
    masked[i] = static_cast<std::uint8_t>((*ip)[i] & (0xff00 >> kept & 0xff));
  }
  if (masked != *ip) return std::nullopt;
  return block;
}

std::string to_string(const address_block& block) {
  const int bits =
    is_mapped_ipv4(block.network) && block.prefix_bits >= 96 ? block.prefix_bits - 96 : block.prefix_bits;
  return ip_text(block.network).append("/").append(std::to_string(bits));
}

} // namespace fq::config
