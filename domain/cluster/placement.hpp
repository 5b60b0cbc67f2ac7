// SPDX-License-Identifier: Apache-2.0
// Decides which node owns an unowned aggregate, and what a node hands over when it has more than its share.
// There is no vote: every node computes from the same heartbeats. Where nodes differ, the ledger's lease
// decides.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/cluster/limits.hpp"
#include "domain/model/rows.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fq {

/// Returns the id of the node for a new aggregate: among the least loaded nodes that are settled and not
/// draining, the one with the highest random weight. Rendezvous hashing (D. Thaler, C. Ravishankar, 1998):
/// when a node leaves, only its own aggregates move. Empty: no such node.
[[nodiscard]] std::string home_of(aggregate_id aggregate, std::span<const node_row> nodes);

/// Returns all nodes in the order of preference for `aggregate`. Nodes that take no more aggregates come
/// last.
[[nodiscard]] std::vector<std::string> by_place(aggregate_id aggregate, std::span<const node_row> nodes);

/// State of a node relative to the other live nodes.
struct standing {
  bool is_draining = false, is_isolated = false, has_peers = false;
};
/// Whether a node takes an aggregate that must run and that it has seen unowned for `unowned_for` (0: first
/// seen now). A moving aggregate is unowned for a moment. So a node with peers takes only aggregates that
/// were unowned in two successive checks.
[[nodiscard]] bool takes_unowned(const standing& s, milliseconds unowned_for);

/// How many live nodes of its kind `self` reaches. `is_connected`: by node id.
struct reach {
  std::size_t others = 0, missing = 0;
  /// Minority partition: the node reaches fewer than half of the others.
  [[nodiscard]] bool is_isolated() const { return (others - missing) * 2 < others; }
  /// True if every other node is reached. After the patience interval (`is_patient` false) a majority
  /// suffices, so that one unreachable node does not block all.
  [[nodiscard]] bool is_settled(bool is_patient) const {
    return missing == 0 || (!is_patient && missing * 2 < others + 1);
  }
};
[[nodiscard]] reach reach_of(const node_row& self, std::span<const node_row> nodes,
                             const std::function<bool(const std::string&)>& is_connected);

/// Nodes of one kind understand each other: same wire version, same keys. If two kinds share a ledger (an
/// upgrade, or a node with wrong keys), one kind serves. The other owns nothing and is not ready.
[[nodiscard]] bool is_of_one_kind(const node_row& a, const node_row& b);

/// A node's serving claim. The node writes the claim in its row. It serves once the claim was in the ledger
/// before a check that shows no claim of another kind. Of two kinds that claim at once, the later one sees
/// the other's claim, so they never both start.
struct serving_claim {
  bool is_made = false; ///< written in its row: node_row::serves
  bool is_seen = false; ///< the ledger had it at an earlier check
  bool serves = false;
  int waits = 0; ///< checks that found a claim of another kind beside it
};
/// What this node and the others may have missed of each other.
struct missed_heartbeats {
  bool was_away =
    false; ///< since the last check this node's heartbeat was silent long enough to count as dead
  bool is_blind = false; ///< was away a moment ago: other live nodes may not be visible yet
};
/// Returns the serving claim after a check of the live `nodes`. A node that serves continues, unless it was
/// away and another kind started. A node that does not serve waits while another kind claims or has
/// precedence (lower wire version, then lower id).
[[nodiscard]] serving_claim claim_after(const serving_claim& before, const node_row& self,
                                        std::span<const node_row> nodes, const missed_heartbeats& of_us);

/// Whether `self` is draining, is the last serving node of its kind, and nodes of another kind take over its
/// aggregates.
[[nodiscard]] bool leaves_to_successors(const node_row& self, std::span<const node_row> nodes);

[[nodiscard]] bool is_opening(const event_row& event, timestamp now);

/// Returns how many aggregates `self` hands over now, at most `most`. Normally the excess over an even
/// share, if it is more than a tenth of the share and another node has room. All, if `self` is draining and
/// another node is not.
[[nodiscard]] std::size_t surplus(const std::string& self, std::span<const node_row> nodes, std::size_t most);

struct rebalancing_move {
  aggregate_id aggregate{};
  std::string to; ///< node id
  friend bool operator==(const rebalancing_move&, const rebalancing_move&) = default;
};
/// Returns which of `may_go` the node `self` hands over now, and to which nodes: its surplus, at most `most`
/// including those `in_flight`, each to its preferred node among the others. A node that would then own
/// as many as `self` gets nothing, because it would hand back.
/// Exception: a draining node also hands over to unsettled nodes, because limited reachability is better
/// than no owner.
[[nodiscard]] std::vector<rebalancing_move> rebalancing_moves(const std::string& self,
                                                              std::span<const node_row> nodes,
                                                              std::span<const rebalancing_move> in_flight,
                                                              std::span<const aggregate_id> may_go,
                                                              std::size_t most);

} // namespace fq
