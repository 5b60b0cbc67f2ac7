// SPDX-License-Identifier: Apache-2.0
// Accepts connections of one address for one io thread, many per wake-up, and never stops doing so while it
// is open: out of descriptors it waits a moment, at the connection limit it makes room or says 503 (with TLS,
// which nobody would understand yet: hangs up).
#pragma once
#include "config/network.hpp"
#include "net/server/connection.hpp"
#include "net/server/tls_handshakes.hpp"

#include <boost/asio/steady_timer.hpp>

#include <memory>

namespace fq::net {

/// Opens, binds and listens. Throws boost::system::system_error.
[[nodiscard]] int open_listening_socket(const config::endpoint& where);

/// The port a listening socket got.
[[nodiscard]] std::uint16_t port_of(int listening_socket);

class listener {
public:
  /// Takes over `listening_socket` (several io threads each get a duplicate). `reserve`: connections it takes
  /// beyond http.max_connections, so that operators and health probes get in when the public side is full.
  /// `door`: through which its connections go before they are sessions; null: they are plain.
  listener(context& ctx, session_pool& sessions, const served_site& where, int listening_socket,
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
  session_pool& sessions_;
  const served_site& where_;
  std::int64_t reserve_;
  tls_handshakes* door_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type> acceptor_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace fq::net
