// SPDX-License-Identifier: Apache-2.0
// Regions and supervisors: who owns an aggregate, and moving it.
#pragma once
#include "actors/protocol/shared_messages.hpp"

#include <caf/actor_addr.hpp>

#include <string>
#include <vector>

namespace fq {

/// To the region: resolve the owner of this aggregate, starting it if necessary.
struct resolve_event {
  aggregate_id aggregate{};
  bool is_forwarded = false; ///< by another node's region: do not forward further
  /// An owner that returned the request; resolve another one. Null: none. Stays in this process.
  caf::actor_addr returned_by = {};
};
FQ_INSPECT(resolve_event, x.aggregate, x.is_forwarded)

/// From the operator, to any node's region: move this event to node `to`. Answered after the handover.
/// Errors: absent; unavailable if the event did not move.
struct move_event {
  aggregate_id aggregate{};
  std::string to; ///< node id
  bool is_forwarded = false; ///< by another node's region
};
FQ_INSPECT(move_event, x.aggregate, x.to, x.is_forwarded)

/// To the region: the events that run in this process.
struct list_owned {};
FQ_INSPECT_EMPTY(list_owned)

struct owned_aggregates {
  std::vector<aggregate_id> aggregates;
  bool is_leaving = false; ///< a former owner still returns requests
};
FQ_INSPECT(owned_aggregates, x.aggregates, x.is_leaving)

/// From the region to an owner: stop deciding, commit pending decisions, end the lease. Answered by
/// handed_over.
struct hand_over {
  std::string to; ///< node id
  bool is_forced = false; ///< the node is shutting down; false: the owner may refuse to move now
};
FQ_INSPECT(hand_over, x.to, x.is_forced)

struct handed_over {
  aggregate_id aggregate{};
  bool is_done = false; ///< false: the aggregate did not move
};
FQ_INSPECT(handed_over, x.aggregate, x.is_done)

/// INTERNAL, from an owner to its supervisor: loaded and serving.
struct owner_ready {};
FQ_INSPECT_EMPTY(owner_ready)

/// INTERNAL, from an owner to its supervisor: there is no such aggregate.
struct owner_absent {};
FQ_INSPECT_EMPTY(owner_absent)

/// INTERNAL, from an owner to its supervisor: another node owns the aggregate.
struct owner_denied {
  std::string owner; ///< the other node
};
FQ_INSPECT(owner_denied, x.owner)

/// INTERNAL, from an idle owner to its supervisor: nothing to serve; stop the owner.
struct owner_idle {};
FQ_INSPECT_EMPTY(owner_idle)

/// INTERNAL, from an owner to its supervisor: the ledger lost commits of the aggregate; stop the owner.
struct owner_lost {};
FQ_INSPECT_EMPTY(owner_lost)

/// INTERNAL, from an owner to its supervisor: it has handed over. If it fails from now on, the
/// supervisor does not start it again: no region knows that second owner.
struct owner_moved {};
FQ_INSPECT_EMPTY(owner_moved)

/// One per owner, with a stable handle. Starts the owner, restarts it with back-off within a budget and
/// resolves its current handle.
using supervisor_handle =
  caf::typed_actor<caf::replies_to<resolve_event>::with<event_handle>, ///< waits until the owner serves;
                                                                       ///< errors: absent, unavailable,
                                                                       ///< not_owner, ledger_lost
                   caf::reacts_to<owner_ready>, ///< INTERNAL, from the owner
                   caf::reacts_to<owner_absent>, ///< INTERNAL, from the owner
                   caf::reacts_to<owner_denied>, ///< INTERNAL, from the owner
                   caf::reacts_to<owner_idle>, ///< INTERNAL, from the owner
                   caf::reacts_to<owner_lost>, ///< INTERNAL, from the owner
                   caf::reacts_to<owner_moved>, ///< INTERNAL, from the owner
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

/// Resolves the owner of every aggregate; spawns it on first use, stops it when idle.
using region_handle =
  caf::typed_actor<caf::replies_to<resolve_event>::with<event_handle>, ///< errors: absent, unavailable,
                                                                       ///< not_owner, ledger_lost
                                                                       ///< (actors/base/errors.hpp)
                   caf::replies_to<list_owned>::with<owned_aggregates>, ///< owners that run on this node
                   caf::replies_to<move_event>::with<ack_reply>, ///< after the handover; absent, unavailable:
                                                                 ///< not moved; other errors: it may still
                                                                 ///< move
                   caf::reacts_to<cluster_changed>, ///< from the cluster
                   caf::reacts_to<ledger_seen>, ///< from the clusters of other nodes
                   caf::reacts_to<blocks_changed>, ///< from the directory; forwarded to all local owners
                   caf::reacts_to<handed_over>, ///< INTERNAL, from an owner
                   caf::reacts_to<aggregates_to_wake>, ///< INTERNAL, from the ledger worker
                   caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq
