// SPDX-License-Identifier: Apache-2.0
#include "load/base/url.hpp"

#include <boost/asio/io_context.hpp>

#include <charconv>

namespace fq::load {

namespace asio = boost::asio;
using asio::ip::tcp;

std::string http_url::authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  std::string out = v6 ? "[" + host + "]" : host;
  if (port != 80) out += ":" + std::to_string(port);
  return out;
}

std::optional<http_url> parse_http_url(std::string_view text) {
  constexpr std::string_view scheme = "http://";
  if (!text.starts_with(scheme)) return std::nullopt;
  text.remove_prefix(scheme.size());
  for (const char c : text)
    if (static_cast<unsigned char>(c) <= ' ' || c == '#' || c == 0x7F) return std::nullopt;
  const auto path_at = text.find_first_of("/?");
  auto authority = text.substr(0, path_at);
  http_url out;
  out.target = path_at == std::string_view::npos ? "/" : std::string(text.substr(path_at));
  if (out.target.front() != '/') out.target.insert(0, "/");
  std::string_view port;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    out.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    const auto colon = authority.find(':');
    out.host = authority.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view{} : authority.substr(colon);
  }
  if (out.host.empty() || out.host.find('@') != std::string::npos) return std::nullopt;
  if (!port.empty()) {
    if (port.front() != ':') return std::nullopt;
    port.remove_prefix(1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
    if (error != std::errc{} || end != port.data() + port.size() || out.port == 0) return std::nullopt;
  }
  return out;
}

std::optional<tcp::endpoint> resolve(const http_url& url, bool allow_remote, std::string& why) {
  boost::system::error_code error;
  auto address = asio::ip::make_address(url.host == "localhost" ? "127.0.0.1" : url.host, error);
  if (error) {
    if (!allow_remote) {
      why = "'" + url.host + "' is not a loopback address (--allow-remote permits others)";
      return std::nullopt;
    }
    asio::io_context context;
    tcp::resolver resolver(context);
    const auto found = resolver.resolve(url.host, std::to_string(url.port), error);
    if (error || found.empty()) {
      why = "cannot resolve '" + url.host + "'";
      return std::nullopt;
    }
    return found.begin()->endpoint();
  }
  if (!address.is_loopback() && !allow_remote) {
    why = "'" + url.host + "' is not a loopback address (--allow-remote permits others)";
    return std::nullopt;
  }
  return tcp::endpoint(address, url.port);
}

} // namespace fq::load
