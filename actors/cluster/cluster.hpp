// SPDX-License-Identifier: Apache-2.0
// Membership and connections. Every node writes a heartbeat to the ledger and reads the other nodes'
// heartbeats. The node with the lesser id opens the connection, so that two nodes share one. Notifies region,
// catalog and accounts of every change. Ownership is decided by the ledger's lease, not here.
#pragma once
#include "actors/base/cluster_links.hpp"
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/catalog_messages.hpp"
#include "actors/protocol/cluster_messages.hpp"
#include "actors/protocol/lease_horizon.hpp"
#include "actors/protocol/region_messages.hpp"
#include "actors/storage/ledger_memory.hpp"
#include "actors/storage/ledger_workers.hpp"
#include "domain/cluster/heartbeats.hpp"
#include "domain/cluster/placement.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fq {

class environment;

/// Version of the messages between nodes (actors/protocol). Raise it when a message changes or gets a new
/// type id. Nodes of different versions share the ledger but do not connect.
inline constexpr std::uint32_t wire_version = 15;

struct cluster_services {
  environment* env = nullptr;
  ledger_workers ledgers;
  std::string node; ///< id of this node
  std::string address; ///< host:port of this node for the others
  std::uint32_t speaks = wire_version;
  /// Fingerprint of this node's secrets: nodes with different secrets reject each other's tokens.
  std::string keys = {};
  region_handle region;
  catalog_handle catalog;
  accounts_handle accounts;
  dialer_handle dialer;
  std::shared_ptr<const ledger_memory> memory = nullptr; ///< to tell the others; null: none
  /// Whether the peer's process has shown that node's certificate; null: all have.
  std::function<bool(const caf::node_id& process, const std::string& node)> speaks_for = nullptr;
  cluster_links* links = nullptr; ///< connection metrics; may be null
  std::shared_ptr<lease_doubt> doubt = nullptr; ///< in this process's leases; may be null
  /// Log lines about connections and serving; may be null.
  std::function<void(const std::string&)> note = nullptr;
  milliseconds beat_interval{1'000};
  milliseconds alive_for{5'000}; ///< without a heartbeat for longer, a node counts as dead
};

class cluster_state {
public:
  static inline const char* name = "cluster";
  using pointer = cluster_handle::stateful_pointer<cluster_state>;

  void init(pointer self, const cluster_services& services);
  cluster_handle::behavior_type behavior();

private:
  caf::result<greeting> on_greet(const greet& x);
  void on_seen(const nodes_seen& x);
  void on_dialed(const node_dialed& x);
  void on_down(const caf::down_msg& down);
  void beat();
  void send_beat(std::uint32_t owners);
  void check_ledger();
  void tell_sights();
  void update_serving_claim();
  void end_lost();
  void doubt_leases();
  void note_run();
  void dial(const node_row& node);
  void add_peer(const node_peer& peer);
  void forget_outdated();
  void give_way();
  [[nodiscard]] bool is_outdated(const node_peer& peer) const;
  [[nodiscard]] bool is_genuine(const node_peer& peer) const;
  [[nodiscard]] bool is_asker(const node_peer& peer) const;
  void remove_peer(std::map<std::string, node_peer>::iterator peer);
  void publish();
  void note(const std::string& what) const;
  [[nodiscard]] reach reachability() const;
  /// This node as the others identify it.
  [[nodiscard]] node_row identity() const;
  [[nodiscard]] node_row own_row() const;
  [[nodiscard]] node_peer own_peer() const;
  [[nodiscard]] nodes_reply nodes() const;

  pointer self_ = nullptr;
  const cluster_services* services_ = nullptr;
  std::vector<node_row> nodes_; ///< from the last read
  std::map<std::string, node_peer> peers_; ///< connected, by node
  std::map<std::string, std::uint64_t> told_; ///< version of ledger_memory that a peer knows, by node
  heartbeat_watch watch_; ///< of the other nodes
  std::map<std::string, std::string> failures_; ///< of the last connection attempt, by node
  std::set<std::string> dialing_;
  serving_claim claim_; ///< serving claim; decides between nodes of different kinds
  bool has_served_ = false;
  std::optional<milliseconds> last_heartbeat_; ///< steady time of the last read of the heartbeats
  milliseconds blind_until_{0}; ///< steady time: until then other nodes' heartbeats may be missing
  bool is_draining_ = false;
  std::uint64_t incarnation_ = 0; ///< of this process; 0: the ledger has not given it yet
  bool is_superseded_ = false; ///< a later process has this node's name
  std::optional<milliseconds> whole_since_; ///< steady time since which all nodes are connected
  std::optional<milliseconds> ran_at_; ///< steady time of the last beat()
  /// Steady time of the oldest heartbeat that the ledger has not answered.
  std::optional<milliseconds> asked_at_;
  std::optional<milliseconds> beat_begun_; ///< steady time at which the last heartbeat read was begun
  bool is_ledger_away_ = false;
  std::uint32_t beats_ = 0;
  std::uint32_t owners_ = 0; ///< last answer of the region
};

cluster_handle::behavior_type cluster(cluster_handle::stateful_pointer<cluster_state> self,
                                      const cluster_services* services);

} // namespace fq
