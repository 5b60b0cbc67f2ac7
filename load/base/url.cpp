// SPDX-License-Identifier: Apache-2.0
#include "load/base/url.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

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
  const auto parsed = boost::urls::parse_uri(text);
  if (!parsed || parsed->scheme() != "http" || parsed->has_userinfo() || parsed->has_fragment()
      || parsed->encoded_host().empty()
      || (parsed->has_port() && parsed->port_number() == 0)
      // Boost 1.81 wraps ports above 65535.
      || (parsed->has_port() && std::string{parsed->port()} != std::to_string(parsed->port_number())))
    return std::nullopt;
  http_url out;
  out.host = parsed->host_address();
  if (parsed->has_port()) out.port = parsed->port_number();
  out.target = parsed->encoded_resource();
  if (out.target.empty() || out.target.front() == '?') out.target.insert(0, "/");
  // Boost 1.81 ends a host or port at the first unexpected character and treats the rest as a path.
  return out.target.front() == '/' ? std::optional{std::move(out)} : std::nullopt;
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
