// SPDX-License-Identifier: Apache-2.0
// The draw of a lobby: the leaves of its entrants and their order. Pure: equal inputs give an equal order on
// every machine, so the ledger keeps the inputs only.
#pragma once
#include "fair/merkle.hpp"
#include "fair/records.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// The leaf of an entrant in the tree that the closing publishes. Leaves are in ascending order of number.
[[nodiscard]] std::string entrant_leaf(const place& p, const sha256_digest& commitment);

/// The part of a place that the order depends on.
struct entrant {
  queue_number number{};
  queue_number party{}; ///< of the entry that opened it; 0: none
};

/// The value that goes into the draw: SHA-256 of drand's signature, or the announced text.
[[nodiscard]] std::string beacon_value(beacon_kind kind, std::string_view beacon);

/// The numbers by rank. A lot is HMAC-SHA256(seed || root || beacon, number of the entry or its party, 8
/// bytes); lots ascend, the members of a party by number. The class of an entry goes before its rank, so it
/// does not matter here. Nor does who left: with all numbers of the lobby the others stand in the same order.
/// Takes about a second for a million.
[[nodiscard]] std::vector<queue_number> draw_order(const sha256_digest& seed, const tree_hash& root,
                                                   std::string_view beacon,
                                                   std::span<const entrant> entrants);

} // namespace fq
