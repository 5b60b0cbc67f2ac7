// SPDX-License-Identifier: Apache-2.0
// The transport as a whole: io threads, listeners, sweeps, and the orderly end. Built by the composition when
// every actor exists, and stopped before any of them goes. Knows sites only as tables of plain functions.
#pragma once
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <caf/actor_system.hpp>

#include <cstdint>
#include <memory>

namespace fq::net {

/// What the server is built from. Everything must outlive it.
struct server_parts {
  caf::actor_system& system;
  fq::environment& environment;
  const config::options& options;
  server_state& state;
  region_handle region;
  catalog_handle catalog;
  accounts_handle accounts;
  directory_handle directory = {};
  notices_handle notices = {}; ///< null: none are kept here
  session_reader_handle session_reader; ///< null: there are no other nodes, or no cache
  const token_verifier& verifier;
  const token_issuer& issuer;
  const session_keys& sessions;
  services* shared = nullptr;
  site public_site;
  site admin_site; ///< no routes: no admin listener
  ws_times ws{};
  tls_server* tls = nullptr; ///< of tls.listen; null: there is no such listener
};

class server {
public:
  /// Binds all listeners; throws boost::system::system_error if it cannot. Nothing is accepted before
  /// `start`.
  explicit server(server_parts parts);
  /// Stops at once if nobody did.
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  void start();

  /// The orderly end, from any thread but an io thread; returns when done. Not ready at once; connections end
  /// with the answer in hand; after shutdown.delay no new ones and WebSockets are told to come back; what is
  /// left after `patience` is cut.
  void drain(milliseconds patience);

  /// Whether every io thread does its work: each runs what it is given, within so long. From any other
  /// thread; returns when it knows.
  [[nodiscard]] bool answers(milliseconds within);

  /// The end, now. Also ends a drain that another thread is in.
  void stop();

  [[nodiscard]] std::uint16_t public_port() const;
  [[nodiscard]] std::uint16_t admin_port() const; ///< 0: none
  [[nodiscard]] std::uint16_t tls_port() const; ///< 0: none

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace fq::net
