// SPDX-License-Identifier: Apache-2.0
#include "outbound/webhook_url.hpp"

#include "domain/base/address_guard.hpp"
#include "outbound/ascii.hpp"
#include "outbound/limits.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace fq {
namespace {

namespace urls = boost::urls;

// Names that stay within a machine or its network: RFC 6761, 6762, 8375, ICANN's .internal, and names that
// routers and companies use.
constexpr auto private_suffixes = std::to_array<std::string_view>(
  {"localhost", "localdomain", "local", "internal", "intranet", "lan", "home.arpa"});

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= host_label_chars_max && label.front() != '-' && label.back() != '-'
         && std::all_of(label.begin(), label.end(),
                        [](char c) { return is_letter(c) || is_digit(c) || c == '-'; });
}

/// Labels with dots between them. A last label that starts with a digit is refused: some resolvers read it as
/// a number (127.1, 0x7f.1, 2130706433), and no top-level domain has this form. A trailing dot is refused: it
/// is a second spelling of the same host.
bool is_ordinary_name(std::string_view name) {
  if (name.empty() || name.size() > host_name_chars_max) return false;
  for (;;) {
    const auto dot = name.find('.');
    const auto label = name.substr(0, dot);
    if (!is_label(label)) return false;
    if (dot == std::string_view::npos) return is_letter(label.front());
    name.remove_prefix(dot + 1);
  }
}

bool is_private_name(std::string_view any_case) {
  const auto name = ascii_lower(any_case);
  if (name.find('.') == std::string::npos) return true;
  return std::any_of(private_suffixes.begin(), private_suffixes.end(), [&](std::string_view suffix) {
    return name.ends_with(suffix)
           && (name.size() == suffix.size() || name[name.size() - suffix.size() - 1] == '.');
  });
}

/// Only hexadecimal digits and colons: no embedded IPv4 address, no zone.
bool is_ordinary_ipv6(std::string_view host) {
  return host.size() > 2 && host.front() == '[' && std::all_of(host.begin() + 1, host.end() - 1, [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':';
         });
}

bool is_ordinary_host(const urls::url_view& url) {
  const std::string_view host = url.encoded_host();
  switch (url.host_type()) {
    case urls::host_type::ipv4: return true; // boost's grammar: four decimal numbers without leading zeros
    case urls::host_type::ipv6: return is_ordinary_ipv6(host);
    case urls::host_type::name: return is_ordinary_name(host);
    case urls::host_type::none:
    case urls::host_type::ipvfuture: return false;
  }
  return false;
}

/// Boost 1.81 ends a host or port at the first unexpected character and treats the rest as a path:
/// "https://1.2.3.4.5/" gets host 1.2.3.4, "https://a.example:443x/" gets port 443. Other parsers see another
/// host.
bool has_whole_authority(const urls::url_view& url) {
  const std::string_view path = url.encoded_path();
  return url.has_authority() && (path.empty() || path.front() == '/');
}

std::string_view wrong_with_host(const urls::url_view& url) {
  switch (url.host_type()) {
    case urls::host_type::name: return is_private_name(url.encoded_host()) ? "private_name" : "";
    case urls::host_type::ipv4: return is_public(url.host_ipv4_address().to_bytes()) ? "" : "private_address";
    case urls::host_type::ipv6: return is_public(url.host_ipv6_address().to_bytes()) ? "" : "private_address";
    case urls::host_type::none:
    case urls::host_type::ipvfuture: return "malformed";
  }
  return "malformed";
}

bool is_port_allowed(const urls::url_view& url, const webhook_url_rules& rules) {
  if (!url.has_port()) return true;
  const auto number = url.port_number();
  return url.port() == std::to_string(number)
         && std::find(rules.ports.begin(), rules.ports.end(), number) != rules.ports.end();
}

} // namespace

std::string_view wrong_with_url(std::string_view text, const webhook_url_rules& rules) {
  if (text.size() > webhook_url_bytes_max) return "too_long";
  const auto parsed = urls::parse_uri(text); // refuses blanks, control characters, backslashes and non-ASCII
  if (!parsed || !has_whole_authority(*parsed)) return "malformed";
  const urls::url_view& url = *parsed;
  const auto scheme = url.scheme_id();
  if (scheme != urls::scheme::https && !(scheme == urls::scheme::http && rules.allow_http))
    return "not_https";
  if (url.has_userinfo()) return "userinfo";
  if (!is_ordinary_host(url)) return "malformed";
  if (url.has_fragment()) return "fragment";
  if (!rules.allow_private)
    if (const auto wrong = wrong_with_host(url); !wrong.empty()) return wrong;
  return is_port_allowed(url, rules) ? "" : "port";
}

} // namespace fq
