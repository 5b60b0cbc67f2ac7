// SPDX-License-Identifier: Apache-2.0
// Reads X-Forwarded-For from the right and trusts only what a trusted hop wrote.
#include "net/http/client_address.hpp"

#include "net/http/text.hpp"

#include <boost/asio/ip/address_v4.hpp>
#include <boost/asio/ip/address_v6.hpp>

#include <algorithm>
#include <string>

namespace fq::net {
namespace {

namespace ip = boost::asio::ip;

bool is_forwarded_for(std::string_view name) {
  constexpr std::string_view wanted = "x-forwarded-for";
  return std::equal(name.begin(), name.end(), wanted.begin(), wanted.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == b; });
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5
         && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// The address part of "host", "host:port", "[v6]" and "[v6]:port"; empty if the form is wrong.
std::string_view host_of(std::string_view text) {
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return {};
    const auto rest = text.substr(close + 1);
    const bool good = rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
    return good ? text.substr(1, close - 1) : std::string_view{};
  }
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos)
    return text; // IPv4, or IPv6 without brackets
  return is_port(text.substr(colon + 1)) ? text.substr(0, colon) : std::string_view{};
}

/// Removes the last element of a comma separated list and returns it.
std::string_view pop_last(std::string_view& list) {
  const auto comma = list.rfind(',');
  const auto last = comma == std::string_view::npos ? list : list.substr(comma + 1);
  list = comma == std::string_view::npos ? std::string_view{} : list.substr(0, comma);
  return trimmed(last);
}

} // namespace

config::ip_bytes bytes_of(const ip::address& address) {
  config::ip_bytes bytes{};
  if (address.is_v6()) {
    const auto v6 = address.to_v6().to_bytes();
    std::copy(v6.begin(), v6.end(), bytes.begin());
    return bytes;
  }
  bytes[10] = bytes[11] = 0xff;
  const auto v4 = address.to_v4().to_bytes();
  std::copy(v4.begin(), v4.end(), bytes.begin() + 12);
  return bytes;
}

ip::address unmapped(const ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return ip::make_address_v4(ip::v4_mapped, address.to_v6());
}

bool is_trusted(const ip::address& address, std::span<const config::address_block> trusted) {
  const auto bytes = bytes_of(address);
  return std::any_of(trusted.begin(), trusted.end(),
                     [&](const auto& block) { return block.contains(bytes); });
}

std::optional<ip::address> parse_forwarded(std::string_view text) {
  const auto host = host_of(trimmed(text));
  if (host.empty() || host.size() > 45 || host.find('%') != std::string_view::npos) return std::nullopt;
  boost::system::error_code failed;
  const auto address = ip::make_address(std::string{host}, failed);
  if (failed) return std::nullopt;
  return unmapped(address);
}

ip::address client_address(const ip::address& peer,
                           std::span<const std::pair<std::string_view, std::string_view>> fields,
                           std::span<const config::address_block> trusted) {
  auto client = unmapped(peer);
  if (trusted.empty() || !is_trusted(client, trusted)) return client;
  std::size_t hops = 0;
  for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
    if (!is_forwarded_for(field->first)) continue;
    for (auto list = field->second; !list.empty();) {
      const auto hop = parse_forwarded(pop_last(list));
      if (!hop || ++hops > forwarded_hops_max) return client;
      client = *hop;
      if (!is_trusted(client, trusted)) return client;
    }
  }
  return client;
}

config::ip_bytes limit_prefix(const ip::address& address) {
  auto bytes = bytes_of(unmapped(address));
  if (!unmapped(address).is_v4()) std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return bytes;
}

} // namespace fq::net
