// SPDX-License-Identifier: Apache-2.0
// Connections between nodes: CAF I/O over mutual TLS. What a node publishes is its cluster actor; everything
// else follows from the handles that the first messages carry. Over one connection everything is in order,
// and a connection that is lost ends what hung on it.
#pragma once
#include "actors/protocol/protocol.hpp"
#include "config/options.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace fq {

/// Loads CAF's network into a configuration, if the node is one of a cluster.
void configure_mesh(caf::actor_system_config& cfg, const config::cluster_options& options);

/// Accepts connections at cluster.listen. Throws std::runtime_error with a message for the operator.
void publish_cluster(const cluster_handle& cluster, const config::cluster_options& options);

/// Answers every dial_node, at the latest after dial_timeout. To be spawned detached: it asks for names.
dialer_handle::behavior_type dialer(dialer_handle::pointer self, bool is_insecure);

} // namespace fq
