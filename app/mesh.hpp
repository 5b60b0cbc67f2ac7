// SPDX-License-Identifier: Apache-2.0
// Connections between nodes: CAF I/O over mutual TLS. A node publishes its cluster actor; all other handles
// travel in messages. Each connection keeps its messages in order. Its loss ends the monitors and requests
// that use it.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "config/options.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace fq {

/// Loads CAF's network modules if this node is in a cluster.
void configure_mesh(caf::actor_system_config& cfg, const config::cluster_options& options);

/// Accepts connections at cluster.listen. Throws std::runtime_error with a message for the operator.
void publish_cluster(const cluster_handle& cluster, const config::cluster_options& options);

/// Answers every dial_node, at the latest after dial_timeout. Spawn it detached: it resolves names, which
/// blocks.
dialer_handle::behavior_type dialer(dialer_handle::pointer self, bool is_insecure);

} // namespace fq
