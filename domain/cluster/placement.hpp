// SPDX-License-Identifier: Apache-2.0
// Which node owns an aggregate that nobody owns, and what a node gives away when it has more than its share.
// Nobody votes: every node reckons from the same signs of life, and where they differ the ledger's lease
// decides.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/model/rows.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fq {

/// Nodes whose load is within this of the least one count as equally loaded: signs of life are a moment old.
inline constexpr std::uint32_t load_tolerance = 8;

/// The id of the node that a new aggregate goes to: one of the least loaded that are settled and not
/// draining, and among them the one of the highest random weight (D. Thaler, C. Ravishankar, "Using
/// name-based mappings to increase hit rates", 1998): when a node goes, only what was its own finds another.
/// Empty: there is none.
[[nodiscard]] std::string place(aggregate_id aggregate, std::span<const node_row> nodes);

/// All of them: first where it would be placed, then where if that one was gone, and so on; those that take
/// nothing more come last.
[[nodiscard]] std::vector<std::string> by_place(aggregate_id aggregate, std::span<const node_row> nodes);

/// What an isolated node finds without an owner it takes after so long all the same: perhaps the others are
/// gone.
inline constexpr milliseconds isolation_patience{60'000};
/// How a node stands to the others that live.
struct standing {
  bool is_draining = false, is_isolated = false, has_peers = false;
};
/// Whether a node takes what must run and has been without an owner since it first saw it so, `unowned_for`
/// ago (0: just now). One that moves is without an owner for a moment: who has peers takes only what had none
/// at two looks.
[[nodiscard]] bool takes_unowned(const standing& s, milliseconds unowned_for);

/// How far `self` reaches the `nodes` that live and are of its kind, itself among them. `is_connected` by id.
struct reach {
  std::size_t others = 0, missing = 0;
  /// It reaches fewer than half of the others: it is probably the one that is cut off.
  [[nodiscard]] bool is_isolated() const { return (others - missing) * 2 < others; }
  /// Who owns something here is reached from everywhere; once `is_patient` no more, most will do: one that
  /// nobody reaches must not hold up all.
  [[nodiscard]] bool is_settled(bool is_patient) const {
    return missing == 0 || (!is_patient && missing * 2 < others + 1);
  }
};
[[nodiscard]] reach reach_of(const node_row& self, std::span<const node_row> nodes,
                             const std::function<bool(const std::string&)>& is_connected);

/// Nodes of one kind understand one another: one wire version, the same keys. Of two kinds that share a
/// ledger (an upgrade; a node with the wrong keys) one serves, and the other stands back: it takes nothing
/// and is not ready.
[[nodiscard]] bool is_of_one_kind(const node_row& a, const node_row& b);

/// How a node comes to serve: it claims to in its row, and serves once its claim was in the ledger before a
/// look at which no node of another kind claims. Of two kinds that do this whichever claims later sees the
/// other's claim, so that never both begin.
struct claim {
  bool is_made = false; ///< in our row: node_row::serves
  bool is_seen = false; ///< the ledger had it at a look before the last
  bool serves = false;
  int waits = 0; ///< looks at which another kind's claim stood beside ours
};
/// Looks for which a claim waits for one of a greater rank to be withdrawn; one that stays belongs to a node
/// that serves.
inline constexpr int claim_patience = 5;
/// What of ours the others may have overlooked, and we of theirs.
struct sight {
  bool was_away =
    false; ///< since the last look our row was silent for so long that the others took us for dead
  bool is_blind = false; ///< we were, a moment ago: others may live and not be seen yet
};
/// Our claim after a look at the `nodes` that live. One that serves goes on, whatever comes later; unless it
/// was away and another kind began. One that does not waits while another kind claims, or would begin before
/// it (the lesser wire version, then the lesser id).
[[nodiscard]] claim claim_after(const claim& before, const node_row& self, std::span<const node_row> nodes,
                                const sight& of_us);

/// Whether `self`, which drains, is the last of its kind that serves, and nodes of another kind take what it
/// gives up.
[[nodiscard]] bool leaves_to_successors(const node_row& self, std::span<const node_row> nodes);

/// Around its opening an event stays where it is.
inline constexpr milliseconds opening_quiet{10 * 60 * 1000};
[[nodiscard]] bool is_opening(const event_row& event, timestamp now);

/// How many of its aggregates `self` gives away now, at most `most`: what it has above an even share, if that
/// is more than a tenth of it and somebody has room; all, if it is draining and somebody is not.
[[nodiscard]] std::size_t surplus(const std::string& self, std::span<const node_row> nodes, std::size_t most);

struct gift {
  aggregate_id aggregate{};
  std::string to; ///< node
  friend bool operator==(const gift&, const gift&) = default;
};
/// What of `may_go` the node `self` gives away now, and to whom: its surplus, `most` at a time with those
/// `on_their_way`, each to where it would be placed among the others. Whoever would then have as much as
/// `self` gets nothing, for it would give it back; except from a node that drains, which also gives to nodes
/// that are not settled: better at one that not everybody reaches than nowhere.
[[nodiscard]] std::vector<gift> gifts(const std::string& self, std::span<const node_row> nodes,
                                      std::span<const gift> on_their_way,
                                      std::span<const aggregate_id> may_go, std::size_t most);

} // namespace fq
