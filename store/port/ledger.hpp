// SPDX-License-Identifier: Apache-2.0
// The ledger port: the durable truth. Blocking; called only by ledger workers (detached actors) and tests.
// Engines: memory (the oracle), SQLite, Postgres. All pass the suite in tests/store with the same answers.
#pragma once
#include "domain/model/change.hpp"
#include "domain/model/rows.hpp"
#include "store/port/notice_store.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
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
  busy, ///< somebody else holds this aggregate's rows: nothing was applied; submit it again
};

/// Who owns an aggregate, and for how long without renewing. `owner`: the node's id. An empty owner asks for
/// no lease and heeds none (tools, tests).
struct lease_terms {
  std::string owner;
  milliseconds term{10'000};
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
  std::vector<promo_code_row> promo_codes; ///< by ordinal
  std::vector<order_row> orders; ///< by id
  std::vector<dead_letter_row> dead_letters; ///< open ones, by id
  std::vector<priority_row> priorities; ///< by customer
  std::vector<invitation_row> invitations; ///< by customer
  std::vector<idempotency_row> idempotency; ///< oldest first
  std::vector<receipt_row> receipts; ///< oldest first
  std::vector<organizer_row> organizers;
  std::vector<customer_row> customers;
  std::vector<otp_row> otps;
  std::vector<tenant_row> tenants; ///< accounts only, by id
  std::vector<setting_row> settings; ///< accounts only, by name
  std::vector<block_row> blocks; ///< accounts only, by tenant, organizer and customer
  std::vector<api_key_row> api_keys; ///< accounts only, by id; revoked ones too
  friend bool operator==(const aggregate_image&, const aggregate_image&) = default;
};

/// The aggregate's own row, without its lease. Epoch 0: nobody has owned it yet, or there is none.
struct aggregate_head {
  std::uint64_t epoch = 0;
  std::uint64_t applied_seq = 0;
  timestamp committed_at; ///< greatest time ever committed
  std::uint64_t cache_generation = 0;
  friend bool operator==(const aggregate_head&, const aggregate_head&) = default;
};

/// An aggregate as the ledger has it at one moment.
struct aggregate_snapshot {
  aggregate_head head;
  aggregate_image image;
  friend bool operator==(const aggregate_snapshot&, const aggregate_snapshot&) = default;
};

/// What taking an aggregate over returns.
struct acquired {
  std::uint64_t epoch = 0; ///< the new one; the previous owner's batches are refused from now on
  std::uint64_t applied_seq = 0;
  timestamp committed_at; ///< greatest time ever committed; the aggregate's clock never goes below it
  timestamp now; ///< by the ledger's clock, which all nodes share: the aggregate's clock starts here
  std::uint64_t cache_generation = 0; ///< names the aggregate's keys in the cache
  aggregate_image image;
};

/// Another node's lease has not ended.
struct lease_held {
  std::string owner;
  milliseconds left{0}; ///< until it ends, by the ledger's clock
};

struct no_such_aggregate {};

/// Somebody has its row just now, so it was not waited for: ask again soon.
struct aggregate_busy {};

using acquire_result = std::variant<acquired, lease_held, no_such_aggregate, aggregate_busy>;

/// What a renewal did not extend.
struct lease_renewal {
  std::vector<aggregate_id> lost; ///< held by somebody else or nobody
  std::vector<aggregate_id> busy; ///< held as before, not extended: somebody has the row just now
  bool operator==(const lease_renewal&) const = default;
};

// -- outbox
// -------------------------------------------------------------------------------------------------------------

/// An aggregate's rows belong to partition `number % outbox_partitions`; a dispatcher leases partitions.
inline constexpr std::uint32_t outbox_partitions = 16;
/// Of how many aggregates a dispatcher gets rows at once: a round of `limit` rows has room for four of each,
/// one at least.
constexpr std::size_t aggregates_of_round(std::size_t limit) { return limit > 4 ? limit / 4 : limit; }
/// How many of each, where so many have some.
constexpr std::size_t rows_of_each(std::size_t limit, std::size_t aggregates) {
  return aggregates == 0 ? 0 : limit / aggregates;
}

/// Place of a row in its aggregate's order: the batch, then the place in the batch.
struct outbox_key {
  aggregate_id aggregate{};
  std::uint64_t seq = 0;
  std::uint32_t ordinal = 0;
  friend auto operator<=>(const outbox_key&, const outbox_key&) = default;
};

struct outbox_item {
  outbox_key key;
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< of the aggregate's event; nil: it has none
  outbox_row row;
  friend bool operator==(const outbox_item&, const outbox_item&) = default;
};

/// Rows older than these times may go, at most `limit` in one call. Undelivered outbox rows stay.
struct prune_bounds {
  timestamp idempotency_before, receipts_before, outbox_delivered_before;
  std::size_t limit = 0;
  timestamp deliveries_before = never; ///< ended
  timestamp devices_before = never; ///< registered the last time
};

/// One step in the life of a row, for I10. Written by the ledger itself with every *_created, *_opened and
/// *_moved that changes the status. entry_joined writes none: the row is its own beginning, and the join path
/// stays thin.
struct history_row {
  std::uint64_t seq = 0; ///< applied_seq of the batch that wrote it
  std::string kind; ///< "event", "entry", "claim", "payment", "refund", "order"
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

/// Events: of one organizer, of one tenant, or else those of everybody that are ACTIVE or PAUSED. Queues: of
/// one tenant.
struct event_filter {
  std::optional<organizer_id> organizer;
  std::optional<tenant_id> tenant; ///< without an organizer
  event_kind kind = event_kind::sale; ///< with a tenant
  std::string external_id; ///< with a tenant; empty: any
  aggregate_id after{}; ///< cursor: aggregates with a greater number
  std::uint32_t limit = 50;
};

/// The setting that accounts change with every block and its end.
inline constexpr std::string_view blocks_version_setting = "blocks.version";

/// Who may do what, for whoever checks API keys: small, and read as a whole.
struct access_directory {
  std::vector<tenant_row> tenants; ///< by id
  std::vector<api_key_row> api_keys; ///< by id, without revoked ones
  std::vector<std::pair<organizer_id, tenant_id>> organizers; ///< by id
  std::vector<setting_row> settings; ///< by name
  /// By tenant, organizer and customer; the same object as long as it says the same. Left out (null) by a
  /// ledger: the directory adds it.
  std::shared_ptr<const std::vector<block_row>> blocks = {};
  friend bool operator==(const access_directory&, const access_directory&) = default;
};

struct audit_filter {
  tenant_id tenant = default_tenant;
  uuid target = {}; ///< nil: all
  std::string actor =
    {}; ///< set: only what it did, what the server did by itself ("system"), and what was done to queues
  uuid before = {}; ///< cursor: older rows only; nil: from the newest
  std::uint32_t limit = 50;
};

/// A customer's orders at all events of the tenant.
/// A customer's orders, whichever tenants sell them.
struct order_filter {
  customer_id customer = {};
  order_id before = {}; ///< cursor: older ones only; nil: from the newest
  std::uint32_t limit = 50;
};

struct order_listing {
  event_id event;
  std::string event_name;
  std::string currency;
  order_row order;
  friend bool operator==(const order_listing&, const order_listing&) = default;
};

struct dead_letter_filter {
  tenant_id tenant = default_tenant;
  std::optional<organizer_id> organizer = {}; ///< set: of its events only
  bool is_open = true; ///< only those that wait for a person
  uuid before = {}; ///< cursor: older ones only; nil: from the newest
  std::uint32_t limit = 50;
};

struct dead_letter_listing {
  event_id event;
  dead_letter_row letter;
  friend bool operator==(const dead_letter_listing&, const dead_letter_listing&) = default;
};

class ledger : public notice_store {
public:
  /// Commits each batch exactly once, all that can be in one transaction. An outcome per batch, in order; a
  /// batch that is refused does no harm to the others. Throws ledger_unavailable or commit_unknown for the
  /// whole call.
  virtual std::vector<commit_outcome> commit(std::span<const batch> batches) = 0;

  /// Raises the epoch, takes the lease and loads, unless another owner's lease has not ended by the ledger's
  /// clock. The accounts and catalog aggregates exist from the first migration. `idempotency_since`: older
  /// idempotency rows are not loaded. Durable when it returns. Waits (bounded) for a transaction that is
  /// still in the air.
  virtual acquire_result acquire(aggregate_id aggregate, const lease_terms& lease,
                                 timestamp idempotency_since) = 0;

  /// Takes it whoever holds it, without a lease: for tools and tests.
  std::optional<acquired> seize(aggregate_id aggregate, timestamp idempotency_since) {
    auto result = acquire(aggregate, {}, idempotency_since);
    if (auto* got = std::get_if<acquired>(&result)) return std::move(*got);
    return std::nullopt;
  }

  /// Extends the leases of `aggregates` that `lease.owner` still holds.
  virtual lease_renewal renew(const lease_terms& lease, std::span<const aggregate_id> aggregates) = 0;
  /// Ends the leases that `owner` holds, so that a successor need not wait.
  virtual void release(const std::string& owner, std::span<const aggregate_id> aggregates) = 0;

  // -- reads that need no owner; they see committed state only ----------------------------------------------

  virtual std::vector<event_listing> list_events(const event_filter& filter) = 0;
  virtual access_directory directory() = 0;
  /// By tenant, organizer and customer. Long: to be read when the setting blocks_version_setting has changed.
  virtual std::vector<block_row> blocks() = 0;
  /// Newest first.
  virtual std::vector<audit_row> audit(const audit_filter& filter) = 0;
  /// Newest first, by id.
  virtual std::vector<order_listing> list_orders(const order_filter& filter) = 0;
  /// Newest first, by id.
  virtual std::vector<dead_letter_listing> list_dead_letters(const dead_letter_filter& filter) = 0;
  /// ACTIVE and PAUSED events; any with live entries, live claims, open payments, late or returning money;
  /// CANCELLED ones with money still to give back, all of a payment or the rest; any where a blocked customer
  /// has paid: what must run without being asked. Without those that somebody else than `owner` holds a lease
  /// of.
  virtual std::vector<aggregate_id> aggregates_to_wake(const std::string& owner) = 0;
  /// Greatest aggregate number given out, at least first_event_aggregate - 1.
  virtual aggregate_id last_aggregate() = 0;
  virtual std::vector<history_row> history(aggregate_id aggregate) = 0;
  /// Everything of an aggregate, committed at one moment, without raising the epoch (verification, tests).
  virtual aggregate_snapshot peek(aggregate_id aggregate) = 0;

  // -- outbox: for dispatchers
  // ---------------------------------------------------------------------------------

  /// Takes or renews the lease of every partition in `wanted` (each below outbox_partitions) that is free,
  /// expired or the owner's; answers those it holds now.
  virtual std::vector<std::uint32_t> lease_outbox(const lease_terms& lease,
                                                  std::span<const std::uint32_t> wanted) = 0;
  /// Rows of these partitions that wait in `which`, at most `limit`: aggregates beyond `after` first, then
  /// the others, each by number; of each its first rows, in order, and no more than its part of the limit. So
  /// one whose first row cannot go stands before no other.
  virtual std::vector<outbox_item> undelivered(lane which, std::span<const std::uint32_t> partitions,
                                               std::size_t limit, aggregate_id after) = 0;
  /// Rows have passed the lane; with their last one they are delivered, at `at`. A key that is unknown or
  /// passed already does no harm.
  virtual void mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) = 0;

  // -- nodes
  // ---------------------------------------------------------------------------------------------------

  /// Says that `self` lives; answers every node that said so within `alive_for`, itself included, by id. Who
  /// was silent for a day is forgotten. All by the ledger's clock; `self.seen_at` is not looked at.
  virtual std::vector<node_row> beat(const node_row& self, milliseconds alive_for) = 0;
  /// It ends in order: nobody need wait until its silence is noticed.
  virtual void leave(const std::string& node) = 0;

  /// Deletes old rows; returns how many. Called now and then.
  virtual std::size_t prune(const prune_bounds& bounds) = 0;
};

/// What migration N did or would do; for `fairqueue migrate`.
struct migration_status {
  std::uint32_t number = 0;
  std::string name;
  std::string checksum;
  bool applied = false;
};

} // namespace fq
