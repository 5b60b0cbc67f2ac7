// SPDX-License-Identifier: Apache-2.0
// Connections between nodes: CAF I/O over mutual TLS. A node publishes its cluster actor; all other handles
// travel in messages. Each connection keeps its messages in order. Its loss ends the monitors and requests
// that use it. A stranger's connection ends before CAF sees it (mesh_door.hpp).
#pragma once
#include "actors/protocol/protocol.hpp"
#include "app/mesh_door.hpp"
#include "app/mesh_links.hpp"
#include "app/mesh_streams.hpp"
#include "app/mesh_tls.hpp"
#include "config/options.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <optional>
#include <string>

namespace fq {

class cluster_links;
class environment;

/// Loads CAF's network module if this node is in a cluster.
void configure_mesh(caf::actor_system_config& cfg, const config::cluster_options& options);

/// Outlives the actor system. Thread-safe.
class mesh {
public:
  /// Reads the certificates and listens at cluster.listen. Throws std::runtime_error with a message for the
  /// operator.
  mesh(const config::cluster_options& options, const std::string& node, environment& env,
       cluster_links& counts);

  /// Passes connections on to the cluster actor.
  void open(const cluster_handle& cluster);
  /// Passes no more connections on. Call it before the actor system ends.
  void close() { door_.close(); }

  /// A connection to that node. Blocks as mesh_dial.hpp says. Throws std::runtime_error with the reason.
  [[nodiscard]] caf::io::scribe_ptr dial(caf::actor_system& system, const node_row& node);

  /// Whether the process has shown the node's certificate. If not, ends its connections.
  [[nodiscard]] bool speaks_for(const caf::node_id& process, const std::string& node);

  /// Reads the certificates again and ends the connections of those that are revoked now, or of no authority
  /// any more. If they cannot be used, keeps those in use and throws std::runtime_error with a message for
  /// the operator.
  void reload();
  /// The end of this node's certificate. None: without TLS.
  [[nodiscard]] std::optional<timestamp> certificate_end() const;
  /// How many certificates are revoked.
  [[nodiscard]] std::size_t revoked() const { return tls_ ? tls_->revoked() : 0; }

private:
  environment& env_;
  cluster_links& counts_;
  mesh_links links_;
  std::optional<mesh_tls> tls_; ///< none: cluster.insecure
  const stream_services services_{links_, env_, counts_};
  mesh_door door_; ///< last: its thread uses the others
};

/// Answers every dial_node, after some seconds at the latest. Spawn it detached: it connects, which blocks.
dialer_handle::behavior_type dialer(dialer_handle::pointer self, mesh* connections);

} // namespace fq
