// SPDX-License-Identifier: Apache-2.0
// Accepts the connections of one address for one io thread, many per wake-up. Without free descriptors it
// pauses briefly. At the connection limit it evicts a connection or answers 503; with TLS it closes
// instead.
#pragma once
#include "config/network.hpp"
#include "net/server/connection.hpp"
#include "net/server/tls_handshakes.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>

namespace fq::net {

/// Opens, binds and listens. Throws boost::system::system_error.
[[nodiscard]] int open_listening_socket(const config::endpoint& where);

/// Port of a listening socket.
[[nodiscard]] std::uint16_t port_of(int listening_socket);

class listener {
public:
  /// Takes ownership of `listening_socket`; each io thread has a duplicate. `reserve`: connections accepted
  /// beyond http.max_connections, so that operators and health probes can connect to a full server. `door`:
  /// runs the TLS handshakes; null: plain connections.
  listener(context& ctx, connection_pool& sessions, const served_site& where, int listening_socket,
           std::int64_t reserve, tls_handshakes* door = nullptr);
  ~listener();
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  void begin();
  void close();

private:
  void wait();
  void accept_some();
  bool is_asked();
  void back_off();
  void try_again_later();
  void admit(int descriptor, const boost::asio::ip::tcp::endpoint& peer);
  bool make_room();
  void turn_away(int descriptor) const;

  context& ctx_;
  connection_pool& sessions_;
  const served_site& where_;
  std::int64_t reserve_;
  tls_handshakes* door_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type> acceptor_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace fq::net
