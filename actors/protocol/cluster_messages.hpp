// SPDX-License-Identifier: Apache-2.0
// Nodes: heartbeats, connections, what the cluster publishes on its own node.
#pragma once
#include "actors/protocol/shared_messages.hpp"

#include <caf/actor_control_block.hpp>

#include <string>
#include <vector>

namespace fq {

/// From the cluster to the ledger worker: write this node's heartbeat and read all live nodes.
struct beat_node {
  node_row self;
  milliseconds alive_for{0};
  milliseconds begun{0}; ///< steady time
};
FQ_INSPECT(beat_node, x.self, x.alive_for, x.begun)

/// See ledger::end_leases.
struct end_leases_of {
  node_row last;
  bool is_silent = false;
};
FQ_INSPECT(end_leases_of, x.last, x.is_silent)

struct leases_ended {
  std::uint64_t leases = 0;
};
FQ_INSPECT(leases_ended, x.leases)

struct nodes_seen {
  bool is_unavailable = false;
  std::vector<node_row> nodes; ///< by id, including this node
  std::uint64_t incarnation = 0; ///< of this process
  bool is_superseded = false; ///< a later process has this node's name
  milliseconds begun{0}; ///< of the heartbeat
};
FQ_INSPECT(nodes_seen, x.is_unavailable, x.nodes, x.incarnation, x.is_superseded, x.begun)

/// One epoch of an aggregate, as a node saw it committed.
struct ledger_sight {
  aggregate_id aggregate{};
  std::uint64_t epoch = 0;
  std::uint64_t began = 0; ///< applied_seq when the epoch began, or later
  std::uint64_t seq = 0; ///< applied_seq since
  std::uint64_t holder = 0; ///< hash of the process that began the epoch
};
FQ_INSPECT(ledger_sight, x.aggregate, x.epoch, x.began, x.seq, x.holder)

/// To the regions of the other nodes, at every heartbeat: what this node has seen committed since the last
/// one. See ledger_memory.
struct ledger_seen {
  std::vector<ledger_sight> sights;
};
FQ_INSPECT(ledger_seen, x.sights)

/// A node's actors, as reached from other nodes.
struct node_peer {
  std::string node;
  caf::strong_actor_ptr region, catalog, accounts;
  std::uint64_t incarnation = 0; ///< of the node's process; 0: not known yet
};
FQ_INSPECT(node_peer, x.node, x.region, x.catalog, x.accounts, x.incarnation)

/// The first message on a new connection, between the clusters of two nodes.
struct greet {
  node_peer from;
  std::uint32_t wire_version = 0;
};
FQ_INSPECT(greet, x.from, x.wire_version)

/// Answer to `greet`; none for another wire version.
struct greeting {
  node_peer from;
};
FQ_INSPECT(greeting, x.from)

/// To the dialer: connect to that node and greet it. Answered by node_dialed to the sender.
struct dial_node {
  node_row node;
  greet words;
};
FQ_INSPECT(dial_node, x.node, x.words)

struct node_dialed {
  std::string node;
  std::string failure; ///< empty: connected
  node_peer peer;
};
FQ_INSPECT(node_dialed, x.node, x.failure, x.peer)

/// To region, catalog and accounts, at every heartbeat and at every change of a connection.
struct cluster_changed {
  std::string self;
  std::vector<node_row> nodes; ///< reachable nodes that may own aggregates, including this one; by id
  std::vector<node_peer> peers; ///< currently connected
  /// Minority partition: fewer than half of the live nodes of this kind are reachable.
  bool is_isolated = false;
  bool is_ledger_away = false; ///< nothing can start on this node
  bool serves = true; ///< false: nodes of another kind serve; nothing may start here
  /// This node is the last of its kind and shuts down; nodes of another kind take over.
  bool leaves_to_successors = false;
};
FQ_INSPECT(cluster_changed, x.self, x.nodes, x.peers, x.is_isolated, x.is_ledger_away, x.serves,
           x.leaves_to_successors)

/// From the operator, or from a node before it stops: hand all events over and accept no more. Accounts and
/// catalog stay until the process ends.
struct drain_node {};
FQ_INSPECT_EMPTY(drain_node)

/// The nodes of the cluster, as seen by this node.
struct list_nodes {};
FQ_INSPECT_EMPTY(list_nodes)

struct node_status {
  node_row node;
  bool is_self = false;
  bool is_connected = false;
  std::string failure; ///< of the last connection attempt; empty: none
};
FQ_INSPECT(node_status, x.node, x.is_self, x.is_connected, x.failure)

struct nodes_reply {
  std::vector<node_status> nodes;
};
FQ_INSPECT(nodes_reply, x.nodes)

/// Keeps the list of nodes and a full mesh of connections to them. Publishes both to region, catalog and
/// accounts, and gives other nodes the handles of these local actors.
using cluster_handle =
  caf::typed_actor<caf::replies_to<greet>::with<greeting>, ///< from another node's dialer
                   caf::replies_to<list_nodes>::with<nodes_reply>,
                   caf::replies_to<drain_node>::with<ack_reply>, ///< immediately; list_nodes shows the
                                                                 ///< progress
                   caf::reacts_to<nodes_seen>, ///< INTERNAL, from the ledger worker
                   caf::reacts_to<node_dialed>, ///< INTERNAL, from the dialer
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Connects to other nodes, one at a time, on its own thread.
using dialer_handle = caf::typed_actor<caf::reacts_to<dial_node>>; ///< answers node_dialed to the sender

} // namespace fq
