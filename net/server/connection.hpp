// SPDX-License-Identifier: Apache-2.0
// The HTTP connections of one io thread: reads, guards, routes, answers, in order, each within absolute
// deadlines and bounded memory. Given sockets by the listener, or by its TLS handshakes; hands upgraded ones
// to the hub. An idle connection costs a socket and some 200 bytes: buffers belong to requests. Everything
// runs on the io thread.
#pragma once
#include "net/bridge/context.hpp"
#include "net/http/router.hpp"
#include "net/http/stream.hpp"

#include <boost/asio/ip/address.hpp>

#include <memory>
#include <string>

namespace fq::net {

/// One listener's site with its compiled routes. Immutable, shared by io threads.
struct served_site {
  explicit served_site(const site& s) : what(s), routes(s.routes) {}
  site what;
  router routes;
};

class session_pool {
public:
  explicit session_pool(context& ctx);
  ~session_pool();
  session_pool(const session_pool&) = delete;
  session_pool& operator=(const session_pool&) = delete;

  /// Serves a connected, non-blocking socket, already counted in server_state::connections.
  void adopt(stream socket, const boost::asio::ip::address& peer, const served_site& where);

  /// Closes a connection that has let us wait for more than a second: the one that has owed us a request for
  /// longest, else the one that has been idle longest. Whether there was one.
  bool make_room();

  /// Deadlines. About every 250 ms.
  void sweep(milliseconds now);

  /// From now on every connection ends with the request in hand; idle ones end at once.
  void drain();

  /// Closes everything.
  void stop();

  [[nodiscard]] std::size_t open() const;

  struct impl;

private:
  std::unique_ptr<impl> impl_;
};

} // namespace fq::net
