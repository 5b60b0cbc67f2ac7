// SPDX-License-Identifier: Apache-2.0
// The ledger port: the durable truth. Blocking; called only by ledger workers (detached actors) and tests.
// Engines: memory (the oracle), SQLite. All pass the suite in tests/store with the same answers.
#pragma once
#include "domain/change.hpp"
#include "domain/rows.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq {

/// The store cannot be reached or refused for a reason that is not the caller's (disk full, I/O error).
/// Nothing of the call was committed.
struct ledger_unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The connection or process failed between COMMIT and its answer: it may have been committed, or may yet be.
/// Resolve by submitting the same batch again: `applied_seq` makes it exact.
struct commit_unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The changes of one aggregate's consecutive decisions. Moves the aggregate from `from_seq` to `to_seq`
/// under `epoch`.
struct batch {
  aggregate_id aggregate{};
  std::uint64_t epoch = 0;
  std::uint64_t from_seq = 0; ///< applied_seq before
  std::uint64_t to_seq = 0; ///< applied_seq after; to_seq - from_seq decisions
  timestamp at; ///< the owner's clock at the last decision; becomes committed_at
  changes content;
};

enum class commit_outcome : std::uint8_t {
  committed, ///< applied now
  already_applied, ///< same epoch and applied_seq >= to_seq: an earlier submission had committed
  fenced, ///< the stored epoch is another: a successor took over (I17)
  out_of_order, ///< same epoch but applied_seq is neither from_seq nor >= to_seq: memory and ledger diverged
  conflict, ///< a constraint or an expected state did not hold: nothing of this batch was applied
};

/// Everything durable about one aggregate. Lists are ordered by key. Idempotency rows older than
/// `idempotency_since` and receipts are bounded by the loader.
struct aggregate_image {
  std::optional<event_row> event;
  std::vector<ticket_type_row> ticket_types;
  std::vector<entry_row> entries; ///< by queue number; all of them, though only a subject's newest matters
  std::vector<claim_row> claims; ///< by id
  std::vector<payment_row> payments; ///< by id
  std::vector<refund_row> refunds; ///< by id
  std::vector<idempotency_row> idempotency; ///< oldest first
  std::vector<receipt_row> receipts; ///< oldest first
  std::vector<organizer_row> organizers;
  std::vector<customer_row> customers;
  std::vector<otp_row> otps;
  friend bool operator==(const aggregate_image&, const aggregate_image&) = default;
};

/// What taking an aggregate over returns.
struct acquired {
  std::uint64_t epoch = 0; ///< the new one; the previous owner's batches are refused from now on
  std::uint64_t applied_seq = 0;
  timestamp committed_at; ///< greatest time ever committed; the aggregate's clock never goes below it
  aggregate_image image;
};

/// One step in the life of a row, for I10. Written by the ledger itself with every *_created, *_opened and
/// *_moved that changes the status. entry_joined writes none: the row is its own beginning, and the join path
/// stays thin.
struct history_row {
  std::uint64_t seq = 0; ///< applied_seq of the batch that wrote it
  std::string kind; ///< "event", "entry", "claim", "payment", "refund"
  std::string key; ///< id text, or the queue number
  std::string from; ///< state name; empty for the first
  std::string to;
  timestamp at;
  friend bool operator==(const history_row&, const history_row&) = default;
};

struct event_listing {
  event_row event;
  std::vector<ticket_type_row> ticket_types;
};

struct event_filter {
  std::optional<organizer_id> organizer; ///< set: all of this organizer's; not set: ACTIVE and PAUSED ones
  aggregate_id after{}; ///< cursor: aggregates with a greater number
  std::uint32_t limit = 50;
};

class ledger {
public:
  virtual ~ledger() = default;

  /// Commits each batch exactly once, all that can be in one transaction. An outcome per batch, in order; a
  /// batch that is refused does no harm to the others. Throws ledger_unavailable or commit_unknown for the
  /// whole call.
  virtual std::vector<commit_outcome> commit(std::span<const batch> batches) = 0;

  /// Raises the epoch and loads. The accounts and catalog aggregates exist from the first migration.
  /// `idempotency_since`: older idempotency rows are not loaded. Nothing if there is no such aggregate.
  /// Durable when it returns.
  virtual std::optional<acquired> acquire(aggregate_id aggregate, timestamp idempotency_since) = 0;

  // -- reads that need no owner; they see committed state only ----------------------------------------------

  virtual std::vector<event_listing> list_events(const event_filter& filter) = 0;
  /// ACTIVE and PAUSED events; any with live entries, live claims, open payments, late or returning money;
  /// CANCELLED ones with confirmed payments still to give back: what must run without being asked.
  virtual std::vector<aggregate_id> aggregates_to_wake() = 0;
  /// Greatest aggregate number given out, at least first_event_aggregate - 1.
  virtual aggregate_id last_aggregate() = 0;
  virtual std::vector<history_row> history(aggregate_id aggregate) = 0;
  /// Image without raising the epoch (tests, verification).
  virtual aggregate_image peek(aggregate_id aggregate) = 0;

  /// Deletes up to `limit` idempotency rows and receipts older than the given times; returns how many. Called
  /// now and then.
  virtual std::size_t prune(timestamp idempotency_before, timestamp receipts_before, std::size_t limit) = 0;
};

/// What migration N did or would do; for `fairqueue migrate`.
struct migration_status {
  std::uint32_t number = 0;
  std::string name;
  std::string checksum;
  bool applied = false;
};

} // namespace fq
