// SPDX-License-Identifier: Apache-2.0
// Owners <-> ledger worker, always in the same process: commit, acquire, lease, verification.
#pragma once
#include "actors/protocol/lease_horizon.hpp"
#include "actors/protocol/notice_messages.hpp"
#include "store/port/ledger.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <memory>
#include <string>
#include <vector>

namespace fq {

using batch_ptr = std::shared_ptr<const batch>;

using acquired_ptr = std::shared_ptr<const acquired>;

/// From a journal. Answered by batch_settled to the sender.
struct commit_batch {
  batch_ptr content;
};

/// To the journal that sent the batch. `unavailable`: the outcome is unknown; submit again.
struct batch_settled {
  aggregate_id aggregate{};
  std::uint64_t epoch = 0;
  std::uint64_t to_seq = 0;
  bool unavailable = false;
  commit_outcome outcome{};
};
FQ_INSPECT(batch_settled, x.aggregate, x.epoch, x.to_seq, x.unavailable, x.outcome)

/// From an owner that starts: raise the epoch and load. Answered by aggregate_acquired to the sender.
struct acquire_aggregate {
  aggregate_id aggregate{};
  // By the ledger's clock; see load_since.
  milliseconds idempotency_age{0}; ///< of the oldest answers to load
  milliseconds entries_age{0}; ///< of the oldest ended entries to load
  std::uint64_t load = 0; ///< number of the owner's load; comes back in the answer
};
FQ_INSPECT(acquire_aggregate, x.aggregate, x.idempotency_age, x.entries_age, x.load)

enum class acquire_outcome : std::uint8_t {
  acquired,
  absent,
  unavailable,
  not_owner,
  lost ///< the ledger lost commits of it, and no person has accepted that
};

struct aggregate_acquired {
  acquire_outcome outcome{};
  acquired_ptr content; ///< set if acquired
  std::shared_ptr<const lease_horizon> lease; ///< set if acquired under a lease
  std::string lease_owner; ///< not_owner: the other node
  milliseconds lease_left{0}; ///< not_owner: remaining time of its lease
  std::uint64_t load = 0; ///< as in the question
  milliseconds read_at{0}; ///< steady time at which the content's ledger time was read
};

/// From the worker that has acquired an aggregate to the one that reads its rows. The latter answers
/// aggregate_acquired to the owner.
struct load_acquired {
  acquire_aggregate what;
  aggregate_acquired reply; ///< its content is without rows
  caf::strong_actor_ptr owner;
};

/// From an event actor: an entry that is not in memory. Answered by entry_read.
struct read_entry {
  aggregate_id aggregate{};
  queue_number number{};
};
FQ_INSPECT(read_entry, x.aggregate, x.number)

struct entry_read {
  bool was_read = false; ///< false: ledger unavailable
  std::shared_ptr<const entry_row> row; ///< null: no such entry
};

/// To an owner: its lease expired and another node acquired the aggregate.
struct lease_lost {
  aggregate_id aggregate{};
};
FQ_INSPECT(lease_lost, x.aggregate)

/// From an owner that stops cleanly: a successor need not wait for the lease.
struct release_aggregate {
  aggregate_id aggregate{};
};
FQ_INSPECT(release_aggregate, x.aggregate)

/// From the region, at start and periodically: aggregates that must run without a request and that no other
/// node leases.
struct find_aggregates_to_wake {
  aggregate_id settle_after{}; ///< see ledger::find_events_to_settle; 0: not asked
};
FQ_INSPECT(find_aggregates_to_wake, x.settle_after)

FQ_INSPECT(events_to_settle, x.found, x.next)

struct aggregates_to_wake {
  bool unavailable = false;
  std::vector<aggregate_id> aggregates;
  events_to_settle to_settle;
};
FQ_INSPECT(aggregates_to_wake, x.unavailable, x.aggregates, x.to_settle)

/// From the catalog when it loads: the highest allocated aggregate number.
struct find_last_aggregate {
  std::uint64_t epoch = 0; ///< of the catalog's tenure; comes back in the answer
};
FQ_INSPECT(find_last_aggregate, x.epoch)

struct last_aggregate_found {
  std::uint64_t epoch = 0;
  bool unavailable = false;
  aggregate_id last{};
};
FQ_INSPECT(last_aggregate_found, x.epoch, x.unavailable, x.last)

/// From an event actor: read all its rows from the ledger. Answered by aggregate_peeked to the sender.
struct peek_aggregate {
  aggregate_id aggregate{};
  std::uint64_t reading = 0; ///< returned with the answer
};
FQ_INSPECT(peek_aggregate, x.aggregate, x.reading)

struct aggregate_peeked {
  std::uint64_t reading = 0;
  std::shared_ptr<const aggregate_snapshot> found; ///< null: ledger unavailable
  std::vector<std::string> of_log = {}; ///< how the public log differs
};

/// From `fairqueue admin verify`: check the ledger's rows against one another and against the owner's memory.
/// Answered by ledger_report.
struct verify_ledger {};
FQ_INSPECT_EMPTY(verify_ledger)

struct ledger_report {
  bool was_read = false; ///< false: the ledger did not answer, or changed during every read
  std::vector<std::string> differences; ///< for the report; empty: no difference
};
FQ_INSPECT(ledger_report, x.was_read, x.differences)

/// From `fairqueue admin accept-loss`: go on above what the ledger lost. Answered by losses_accepted.
struct accept_losses {
  aggregate_id aggregate{}; ///< 0: of every aggregate that is stopped
};
FQ_INSPECT(accept_losses, x.aggregate)

struct losses_accepted {
  bool unavailable = false;
  std::vector<lost_aggregate> losses;
};

/// From accounts, before a customer is erased.
struct find_open_purchase {
  customer_id customer;
};
FQ_INSPECT(find_open_purchase, x.customer)

struct purchase_found {
  bool was_read = false; ///< false: ledger unavailable
  open_purchase what{};
};
FQ_INSPECT(purchase_found, x.was_read, x.what)

/// From an owner that moves. Answered when its lease has ended.
struct end_lease {
  aggregate_id aggregate{};
};
FQ_INSPECT(end_lease, x.aggregate)

/// An actor with a journal, as the ledger worker sees it.
using owner_handle = caf::typed_actor<caf::reacts_to<batch_settled>, caf::reacts_to<aggregate_acquired>,
                                      caf::reacts_to<lease_lost>>;

/// Wraps a ledger. Detached in production, an ordinary actor in simulations. Group commit over all
/// aggregates.
using ledger_worker_handle = notices_handle::extend<
  caf::reacts_to<commit_batch>, ///< answers batch_settled to the sender
  caf::reacts_to<acquire_aggregate>, ///< answers aggregate_acquired to the sender; renews the lease from then
                                     ///< on
  caf::reacts_to<load_acquired>, ///< answers aggregate_acquired to the owner
  caf::reacts_to<release_aggregate>, caf::replies_to<accept_losses>::with<losses_accepted>,
  caf::replies_to<end_leases_of>::with<leases_ended>,
  caf::replies_to<end_lease>::with<ack_reply>, ///< release_aggregate with a reply
  caf::reacts_to<find_aggregates_to_wake>, ///< answers aggregates_to_wake to the sender
  caf::reacts_to<find_last_aggregate>, ///< answers last_aggregate_found to the sender
  caf::reacts_to<take_outbox>, ///< answers outbox_taken to the sender
  caf::reacts_to<mark_outbox>, ///< answers outbox_marked to the sender
  caf::replies_to<find_audience>::with<audience_found>, caf::replies_to<find_crowd>::with<devices_reply>,
  caf::replies_to<take_deliveries>::with<deliveries_taken>,
  caf::replies_to<settle_deliveries>::with<ack_reply>, caf::replies_to<end_device>::with<ack_reply>,
  caf::replies_to<disable_endpoint>::with<count_reply>, caf::replies_to<read_entry>::with<entry_read>,
  caf::reacts_to<peek_aggregate>, ///< answers aggregate_peeked to the sender
  caf::reacts_to<read_directory>, ///< answers directory_read to the sender
  caf::reacts_to<read_blocks>, ///< answers blocks_read to the sender
  caf::reacts_to<beat_node>, ///< answers nodes_seen to the sender
  caf::replies_to<list_audit>::with<audit_reply>, caf::replies_to<list_orders>::with<order_list_reply>,
  caf::replies_to<list_held_tickets>::with<held_tickets_reply>,
  caf::replies_to<list_transfers>::with<transfers_reply>,
  caf::replies_to<list_dead_letters>::with<dead_letters_reply>,
  caf::replies_to<list_events>::with<event_list_reply>, caf::replies_to<list_records>::with<records_reply>,
  caf::replies_to<find_open_purchase>::with<purchase_found>,
  caf::replies_to<list_statistics>::with<statistics_reply>,
  caf::replies_to<list_tenant_plans>::with<tenant_plans_reply>,
  caf::reacts_to<timer_fired>>; ///< INTERNAL

} // namespace fq

// These never leave the process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::commit_batch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::aggregate_acquired)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::load_acquired)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::entry_read)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::losses_accepted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(fq::aggregate_peeked)
