// SPDX-License-Identifier: Apache-2.0
#include "app/mesh_dial.hpp"

#include "app/limits.hpp"
#include "domain/base/environment.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <openssl/err.h>

#include <poll.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace fq {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// A socket that is connected and non-blocking.
tcp::socket connect(asio::io_context& io, const host_and_port& there) {
  tcp::resolver resolver{io};
  tcp::socket socket{io};
  boost::system::error_code failed;
  const auto addresses = resolver.resolve(there.host, std::to_string(there.port), failed);
  if (failed) throw std::runtime_error{"cannot resolve " + there.host};
  failed = asio::error::timed_out;
  asio::async_connect(socket, addresses,
                      [&](const boost::system::error_code& e, const auto&) { failed = e; });
  io.run_for(node_connect_timeout);
  if (failed) throw std::runtime_error{"nothing listens at " + there.host + ":" + std::to_string(there.port)};
  socket.non_blocking(true);
  return socket;
}

/// Returns when the peer's certificate is checked. It may still refuse ours.
void shake_hands(SSL& session, int descriptor, environment& env) {
  const auto deadline = env.steady_now() + node_connect_timeout;
  for (;;) {
    ERR_clear_error();
    const int result = SSL_do_handshake(&session);
    if (result == 1) return;
    const int wants = SSL_get_error(&session, result);
    if (wants != SSL_ERROR_WANT_READ && wants != SSL_ERROR_WANT_WRITE)
      throw std::runtime_error{"it is no node of this cluster: " + why_failed(&session)};
    pollfd ready{descriptor, static_cast<short>(wants == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT), 0};
    const auto left = deadline - env.steady_now();
    if (left <= milliseconds{0} || ::poll(&ready, 1, static_cast<int>(left.count())) == 0)
      throw std::runtime_error{"it is no node of this cluster: the handshake took too long"};
  }
}

} // namespace

host_and_port split(const std::string& address) {
  const auto colon = address.rfind(':');
  host_and_port result{address.substr(0, colon), 0};
  if (colon != std::string::npos)
    std::from_chars(address.data() + colon + 1, address.data() + address.size(), result.port);
  if (result.host.starts_with('[') && result.host.ends_with(']'))
    result.host = result.host.substr(1, result.host.size() - 2);
  return result;
}

mesh_socket dial(const std::string& there, const std::string& node, const mesh_tls* tls, mesh_links& links,
                 environment& env) {
  asio::io_context io;
  auto socket = connect(io, split(there));
  ssl_session session;
  peer_certificate peer;
  if (tls != nullptr) {
    session = tls->connecting(socket.native_handle());
    if (!session) throw std::runtime_error{"there is no memory for TLS"};
    shake_hands(*session, socket.native_handle(), env);
    peer = peer_of(session.get());
    if (peer.node != node) throw std::runtime_error{"its certificate is that of " + peer.node};
  }
  if (!links.enter(socket.native_handle(), peer, env.steady_now() + node_handshake_timeout))
    throw std::runtime_error{"there are too many connections already"};
  mesh_socket done{socket.release(), std::move(session), links};
  if (is_refused_now(tls, peer))
    throw std::runtime_error{"its certificate was withdrawn during the handshake"};
  return done;
}

} // namespace fq
