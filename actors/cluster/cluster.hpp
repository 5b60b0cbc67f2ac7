// SPDX-License-Identifier: Apache-2.0
// Which nodes share the ledger, and the connections to them. Every node gives a sign of life in the ledger
// and reads there who else does; of two nodes the one of the lesser id connects to the other, so that between
// two there is one connection. Who forwards (region, catalog, accounts) hears of every change. Nothing here
// decides who owns what: that is the ledger's lease.
#pragma once
#include "actors/base/cluster_links.hpp"
#include "actors/protocol/protocol.hpp"
#include "actors/storage/ledger_workers.hpp"
#include "domain/cluster/placement.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fq {

class environment;

/// Of the messages that cross the wire (actors/protocol/messages.hpp, actors/protocol/protocol.hpp): raised
/// whenever one of them changes or another gets its type id. Nodes of different versions share the ledger but
/// do not talk.
inline constexpr std::uint32_t wire_version = 3;

struct cluster_services {
  environment* env = nullptr;
  ledger_workers ledgers;
  std::string node; ///< our id
  std::string address; ///< host:port where others reach us
  std::uint32_t speaks = wire_version;
  std::string keys = {}; ///< fingerprint of our secrets: a node with others would refuse our tokens
  region_handle region;
  catalog_handle catalog;
  accounts_handle accounts;
  dialer_handle dialer;
  cluster_links* links = nullptr; ///< told of connections; null: nobody asks
  std::function<void(const std::string&)> note =
    nullptr; ///< told of connections that came and went; may be null
  milliseconds beat_interval{1'000};
  milliseconds alive_for{5'000}; ///< who was silent for longer is taken for dead
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
  void look_for_ledger();
  void look_whether_to_serve();
  void dial(const node_row& node);
  void take(const node_peer& peer);
  void forget_other_kinds();
  void lose(std::map<std::string, node_peer>::iterator peer);
  void tell();
  void note(const std::string& what) const;
  [[nodiscard]] reach how_far() const;
  /// What others know us by.
  [[nodiscard]] node_row identity() const;
  [[nodiscard]] node_row ours() const;
  [[nodiscard]] node_peer mine() const;
  [[nodiscard]] nodes_reply nodes() const;

  pointer self_ = nullptr;
  const cluster_services* services_ = nullptr;
  std::vector<node_row> nodes_; ///< as last seen
  std::map<std::string, node_peer> peers_; ///< connected, by node
  std::map<std::string, std::string> failures_; ///< of the last attempt to connect, by node
  std::set<std::string> dialing_;
  claim claim_; ///< to serve, before those of another kind
  bool has_served_ = false;
  std::optional<milliseconds> looked_at_; ///< steady time: of the last look at the ledger
  milliseconds blind_until_{0}; ///< steady time
  bool is_draining_ = false;
  std::optional<milliseconds>
    asked_at_; ///< steady time: of the oldest sign of life that the ledger has not answered
  bool is_ledger_away_ = false;
  std::uint32_t beats_ = 0;
  std::uint32_t owners_ = 0; ///< as the region said last
};

cluster_handle::behavior_type cluster(cluster_handle::stateful_pointer<cluster_state> self,
                                      const cluster_services* services);

} // namespace fq
