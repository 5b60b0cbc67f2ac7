// SPDX-License-Identifier: Apache-2.0
// The transport: io threads, listeners, sweeps, and the orderly shutdown. Built by the composition after
// all actors and stopped before them. Knows sites only as tables of plain functions.
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
  notices_handle notices = {}; ///< null: not available
  session_reader_handle session_reader; ///< null: the ledger is not shared, or no cache
  const token_verifier& verifier;
  const token_issuer& issuer;
  const session_keys& sessions;
  services* shared = nullptr;
  site public_site;
  site admin_site; ///< no routes: no admin listener
  ws_times ws{};
  tls_server* tls = nullptr; ///< of tls.listen; null: no TLS listener
};

class server {
public:
  /// Binds all listeners; throws boost::system::system_error on failure. Accepts nothing before `start`.
  explicit server(server_parts parts);
  /// Stops at once unless already stopped.
  ~server();

  void start();

  /// Shuts down in order; call it from any thread except an io thread; returns when done.
  /// 1. readiness turns false; connections close after their current answer
  /// 2. after shutdown.delay: no new connections, and WebSockets get a close frame
  /// 3. after `patience`: closes the rest
  void drain(milliseconds patience);

  /// Whether every io thread runs a posted task `within` this time. Blocks; not on an io thread.
  [[nodiscard]] bool answers(milliseconds within);

  /// Stops at once. Also ends a drain on another thread.
  void stop();

  [[nodiscard]] std::uint16_t public_port() const;
  [[nodiscard]] std::uint16_t admin_port() const; ///< 0: none
  [[nodiscard]] std::uint16_t tls_port() const; ///< 0: none

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace fq::net
