// SPDX-License-Identifier: Apache-2.0
// The HTTP connections of one io thread: reads, guards, routes and answers requests in order, with absolute
// deadlines and bounded memory. Gets sockets from the listener or its TLS handshakes; passes upgraded ones
// to the hub. An idle connection costs a socket and about 200 bytes, because buffers belong to requests.
// Everything runs on the io thread.
#pragma once
#include "net/bridge/context.hpp"
#include "net/http/router.hpp"
#include "net/http/stream.hpp"

#include <boost/asio/ip/address.hpp>

#include <memory>
#include <string>

namespace fq::net {

/// A listener's site with its compiled routes. Immutable, shared by io threads.
struct served_site {
  explicit served_site(const site& s) : what(s), routes(s.routes) {}
  site what;
  router routes;
};

class connection_pool {
public:
  explicit connection_pool(context& ctx);
  ~connection_pool();

  /// Serves a connected, non-blocking socket that is already counted in server_state::connections.
  void adopt(stream socket, const boost::asio::ip::address& peer, const served_site& where);

  /// Closes one connection: of the address that holds most, as net/http/crowd.hpp decides; else one that has
  /// been silent for more than 1 s: the one that has owed a request for longest, else the one idle for
  /// longest. Returns whether there was one.
  bool make_room();

  /// Enforces deadlines. Called about every 250 ms.
  void sweep(milliseconds now);

  /// Closes idle connections now and each other one after its current request.
  void drain();

  /// Closes all connections.
  void stop();

  [[nodiscard]] std::size_t open() const;

  struct impl;

private:
  std::unique_ptr<impl> impl_;
};

} // namespace fq::net
