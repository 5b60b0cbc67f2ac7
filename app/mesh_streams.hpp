// SPDX-License-Identifier: Apache-2.0
// CAF's ends of the connections between nodes. CAF's broker for its protocol (BASP) accepts foreign streams
// and acceptors: these get sockets whose TLS handshake is done, and see each frame before CAF does.
#pragma once
#include "app/mesh_frames.hpp"
#include "app/mesh_socket.hpp"

#include <caf/actor_system.hpp>
#include <caf/io/doorman.hpp>
#include <caf/io/scribe.hpp>

namespace fq {

class cluster_links;
class environment;

/// What streams need from outside; outlives them.
struct stream_services {
  mesh_links& links;
  environment& env;
  cluster_links& counts;
};

[[nodiscard]] caf::io::scribe_ptr make_stream(caf::actor_system& system, mesh_socket socket, mesh_side side,
                                              const stream_services& services);

/// Passes accepted sockets to CAF's broker as if it had accepted them.
class mesh_doorman final : public caf::io::doorman {
public:
  mesh_doorman(caf::actor_system& system, std::uint16_t port, const stream_services& services);

  /// Thread-safe.
  void admit(mesh_socket socket);

  void launch() override {}
  bool new_connection() override { return false; }
  void graceful_shutdown() override;
  void add_to_loop() override {}
  void remove_from_loop() override {}
  std::string addr() const override { return {}; }
  std::uint16_t port() const override { return port_; }

private:
  caf::actor_system& system_;
  const std::uint16_t port_;
  const stream_services& services_;
};

} // namespace fq
