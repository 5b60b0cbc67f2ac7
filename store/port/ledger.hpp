// SPDX-License-Identifier: Apache-2.0
// The ledger port: the durable truth. Blocking; called only by ledger workers (detached actors) and tests.
// Engines: memory (the oracle), SQLite, Postgres. All pass the suite in tests/store with the same answers.
#pragma once
#include "domain/model/change.hpp"
#include "domain/model/rows.hpp"
#include "store/port/limits.hpp"
#include "store/port/listings.hpp"
#include "store/port/log_store.hpp"
#include "store/port/notice_store.hpp"
#include "store/port/picture_store.hpp"
#include "store/port/record_rows.hpp"
#include "store/port/task_store.hpp"
#include "store/port/witness_store.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace fq {

/// The store cannot be reached, or failed for a reason that is not the caller's fault (disk full, I/O
/// error). Nothing of the call was committed.
struct ledger_unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The connection or process failed between COMMIT and its answer: the batch may have been committed, or may
/// still be. To resolve, submit the same batch again; `applied_seq` prevents a double commit.
struct commit_unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A later process began under this node's name. This one owns nothing any more.
struct superseded : std::runtime_error {
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
  already_applied, ///< same epoch and applied_seq >= to_seq: committed by an earlier submission
  fenced, ///< the stored epoch differs: a successor took over (I17)
  out_of_order, ///< same epoch, but applied_seq is neither from_seq nor >= to_seq: memory and ledger differ
  conflict, ///< a constraint or an expected state failed: nothing of this batch was applied
  busy, ///< the aggregate's rows are locked: nothing was applied; submit again
};

/// Owner of an aggregate and duration of its lease. The owner is one process of a node: the node's id and
/// the incarnation that enlist() gave to the process. An empty id takes no lease and ignores leases (tools,
/// tests).
struct lease_terms {
  std::string owner; ///< the node's id
  milliseconds term{10'000};
  std::uint64_t incarnation = 0;
};

/// One ownership of an aggregate, from its acquire() to the next.
struct tenure {
  aggregate_id aggregate{};
  std::uint64_t epoch = 0;
};

/// How far an aggregate has come: its epoch and its applied_seq. Both only grow, unless the ledger goes back.
struct ledger_mark {
  std::uint64_t epoch = 0;
  std::uint64_t seq = 0;
  [[nodiscard]] bool is_behind(const ledger_mark& seen) const { return epoch < seen.epoch || seq < seen.seq; }
  /// Raises each member to that of `seen`.
  void raise(const ledger_mark& seen) {
    epoch = std::max(epoch, seen.epoch);
    seq = std::max(seq, seen.seq);
  }
  friend bool operator==(const ledger_mark&, const ledger_mark&) = default;
};

/// What an owner loads of the rows that grow without end.
struct load_since {
  load_since(timestamp all_since = from_unix_ms(0)) : idempotency(all_since) {} // NOLINT: entries: all
  load_since(timestamp idempotency_since, timestamp entries_since) :
      idempotency(idempotency_since), entries(entries_since) {}
  timestamp idempotency; ///< older answers are skipped
  timestamp entries = from_unix_ms(0); ///< standalone queues: entries that ended before are skipped
};

/// All durable rows of one aggregate. Lists are ordered by key. Loading is bounded: idempotency rows and
/// entries as in load_since, and the newest receipts.
struct aggregate_image {
  std::optional<event_row> event;
  std::vector<ticket_type_row> ticket_types;
  std::vector<entry_row> entries; ///< from line_totals::first_kept on, by queue number
  std::vector<claim_row> claims; ///< by id
  std::vector<payment_row> payments; ///< by id
  std::vector<refund_row> refunds; ///< by id
  std::vector<promo_code_row> promo_codes; ///< by ordinal
  std::vector<order_row> orders; ///< by id
  std::vector<event_ticket_row> event_tickets; ///< by id
  std::optional<event_plan_row> plan;
  std::vector<seat_setting_row> seat_settings; ///< by seat
  std::vector<claim_seat_row> claim_seats; ///< by claim and seat
  std::vector<transfer_row> transfers; ///< by id
  std::vector<checkin_list_row> checkin_lists; ///< by id
  std::vector<checkin_device_row> checkin_devices; ///< by id
  std::vector<scan_row> scans; ///< by id
  std::vector<dead_letter_row> dead_letters; ///< open letters, by id
  std::vector<priority_row> priorities; ///< by customer
  std::vector<invitation_row> invitations; ///< by customer
  std::vector<entry_access_row> access; ///< by queue number and promo code
  std::vector<session_lock_row> locks; ///< by name
  std::optional<lobby_row> lobby; ///< none: it has not opened
  std::optional<statistics_row> statistics; ///< the last row
  std::vector<idempotency_row> idempotency; ///< oldest first
  std::vector<receipt_row> receipts; ///< oldest first
  std::vector<organizer_row> organizers;
  std::vector<organizer_session_row> organizer_sessions; ///< by id
  std::vector<customer_row> customers;
  std::vector<otp_row> otps;
  std::vector<tenant_row> tenants; ///< accounts only, by id
  std::vector<setting_row> settings; ///< accounts only, by name
  std::vector<block_row> blocks; ///< accounts only, by tenant, organizer and customer
  std::vector<api_key_row> api_keys; ///< accounts only, by id; including revoked keys
  std::optional<log_state_row> log; ///< of the public log
  friend bool operator==(const aggregate_image&, const aggregate_image&) = default;
};

/// The aggregate's own row, without its lease. Epoch 0: never owned, or no such aggregate.
struct aggregate_head {
  std::uint64_t epoch = 0;
  std::uint64_t applied_seq = 0;
  timestamp committed_at; ///< greatest time ever committed
  std::uint64_t cache_generation = 0;
  line_totals line; ///< of its entries
  friend bool operator==(const aggregate_head&, const aggregate_head&) = default;
};

/// An aggregate in the ledger at one moment.
struct aggregate_snapshot {
  aggregate_head head;
  aggregate_image image;
  friend bool operator==(const aggregate_snapshot&, const aggregate_snapshot&) = default;
};

/// The result of taking over an aggregate.
struct acquired {
  std::uint64_t epoch = 0; ///< the new epoch; batches of the previous owner are refused from now on
  std::uint64_t applied_seq = 0;
  timestamp committed_at; ///< greatest time ever committed; the aggregate's clock never goes below it
  timestamp now; ///< the ledger's clock, shared by all nodes
  /// How far the previous owner's clock was behind the ledger's at its last commit. Plus the time since its
  /// last renewal, unless it gave the aggregate back.
  milliseconds clock_lag{0};
  std::uint64_t cache_generation = 0; ///< part of the aggregate's cache keys
  line_totals line;
  aggregate_image image; ///< empty if it was not asked for
};

/// Another node's lease is still valid.
struct lease_held {
  std::string owner;
  milliseconds left{0}; ///< until it ends, by the ledger's clock
};

struct no_such_aggregate {};

/// The aggregate's row is locked; retry soon.
struct aggregate_busy {};

/// The ledger has gone back over commits of this aggregate, as a failover to an asynchronous replica does.
struct ledger_lost {
  ledger_mark stored;
  ledger_mark seen; ///< the highest that was seen committed
  friend bool operator==(const ledger_lost&, const ledger_lost&) = default;
};

using acquire_result = std::variant<acquired, lease_held, no_such_aggregate, aggregate_busy, ledger_lost>;

/// An aggregate that is stopped because the ledger lost commits of it.
struct lost_aggregate {
  aggregate_id aggregate{};
  event_id event; ///< nil: accounts or catalog
  tenant_id tenant = default_tenant;
  ledger_lost what;
  /// That are known to be missing.
  [[nodiscard]] std::uint64_t decisions() const {
    return what.seen.seq > what.stored.seq ? what.seen.seq - what.stored.seq : 0;
  }
  friend bool operator==(const lost_aggregate&, const lost_aggregate&) = default;
};

/// The least time that remains of a lease after a renewal.
constexpr milliseconds lease_kept(milliseconds term) { return term * 2 / 3; }

/// Leases that a renewal did not keep.
struct lease_renewal {
  std::vector<aggregate_id> lost; ///< held by another owner, or by none
  std::vector<aggregate_id> busy; ///< still held, but not extended: the row is locked
  bool operator==(const lease_renewal&) const = default;
};

// -- outbox

/// Number of aggregates that one round serves at once: `limit` has room for four rows of each, at least for
/// one.
constexpr std::size_t aggregates_of_round(std::size_t limit) { return limit > 4 ? limit / 4 : limit; }
/// Rows per aggregate in a round with this many aggregates.
constexpr std::size_t rows_of_each(std::size_t limit, std::size_t aggregates) {
  return aggregates == 0 ? 0 : limit / aggregates;
}

/// Position of a row in its aggregate's order: the batch, then the position in the batch.
struct outbox_key {
  aggregate_id aggregate{};
  std::uint64_t seq = 0;
  std::uint32_t ordinal = 0;
  friend auto operator<=>(const outbox_key&, const outbox_key&) = default;
};

struct outbox_item {
  outbox_key key;
  tenant_id tenant = default_tenant;
  organizer_id organizer; ///< of the aggregate's event; nil: no organizer
  outbox_row row;
  friend bool operator==(const outbox_item&, const outbox_item&) = default;
};

/// Age bounds for deletion, at most `limit` rows per call. Undelivered outbox rows are kept.
struct prune_bounds {
  timestamp idempotency_before, receipts_before, outbox_delivered_before;
  std::size_t limit = 0;
  timestamp deliveries_before = never; ///< end time
  timestamp devices_before = never; ///< last registration
  timestamp entries_before = never; ///< end time; entries that ever had a claim are kept
  /// End of the sale; of orders that are not open. The orders are kept. Also for scans: the end of sale and
  /// event, and the arrival of the newest scan of the ticket.
  timestamp contacts_before = never;
  timestamp statistics_before = never; ///< an event's last row is kept
  timestamp pictures_before = never; ///< last stored; those that an event names are kept
  timestamp logs_before = never; ///< end of the sale; of events that have ended. The state is kept
  /// Called with the address of an erased customer, before the ledger forgets it. May be called again.
  std::function<void(const std::string& address)> on_erased = nullptr;
};

/// One transition in the life of a row, for I10. The ledger writes it for every *_created, *_opened and
/// *_moved that changes the status. entry_joined and event_ticket_issued write none, because they are many:
/// the row itself is the start. Transfers write none: their rows stay.
struct history_row {
  std::uint64_t seq = 0; ///< applied_seq of its batch
  std::string kind; ///< "event", "entry", "claim", "payment", "refund", "order", "event ticket"
  std::string key; ///< id text, or the queue number
  std::string from; ///< state name; empty for the first state
  std::string to;
  timestamp at;
  friend bool operator==(const history_row&, const history_row&) = default;
};

class ledger :
    public notice_store,
    public picture_store,
    public witness_store,
    public task_store,
    public log_store {
public:
  /// Commits each batch exactly once, as many as possible in one transaction. Returns one outcome per batch,
  /// in order; a refused batch does not affect the others. Throws ledger_unavailable or commit_unknown for
  /// the whole call.
  virtual std::vector<commit_outcome> commit(std::span<const batch> batches) = 0;

  /// Begins a process under the name `node`. Returns its incarnation, greater than that of every earlier
  /// process of the name. Raises the epoch of all that those own: nothing of theirs is committed or renewed
  /// from then on. Their leases keep out other nodes until this process takes over. Durable on return.
  virtual std::uint64_t enlist(const std::string& node) = 0;

  /// Raises the epoch, takes the lease and loads, unless another node's lease is still valid by the
  /// ledger's clock. Throws superseded for any but the latest process of the node. The accounts and catalog
  /// aggregates exist from the first migration. Without `since` it loads no rows: load() does, and no batch
  /// of an earlier owner is committed in between. Durable on return. Waits (bounded) for a transaction in
  /// flight. `seen`: what the caller knew to be committed before the call. If the row is behind it, the row
  /// is marked, and every acquire answers ledger_lost until accept_loss().
  virtual acquire_result acquire(aggregate_id aggregate, const lease_terms& lease,
                                 const std::optional<load_since>& since, const ledger_mark& seen = {}) = 0;
  /// The rows of an aggregate that the caller has acquired, on any connection.
  virtual aggregate_image load(aggregate_id aggregate, const load_since& since) = 0;

  /// Takes the aggregate regardless of its lease, without a new lease: for tools and tests.
  std::optional<acquired> acquire_unleased(aggregate_id aggregate, const load_since& since) {
    auto result = acquire(aggregate, {}, since);
    if (auto* got = std::get_if<acquired>(&result)) return std::move(*got);
    return std::nullopt;
  }

  /// Extends the leases of the tenures that `lease.owner` still holds, under the same epoch. Engines may skip
  /// leases of which lease_kept remains, so that frequent calls are cheap.
  virtual lease_renewal renew(const lease_terms& lease, std::span<const tenure> tenures) = 0;
  /// Ends the leases of tenures that `owner` still holds, so that a successor need not wait.
  virtual void release(const std::string& owner, std::span<const tenure> tenures) = 0;

  /// Aggregates with the mark, by number.
  virtual std::vector<lost_aggregate> losses() = 0;
  /// Goes on above what is lost, and removes the mark: applied_seq, epoch and cache generation are higher
  /// than any that were lost. Marks the public log. Stores `row` as a decision of its own. False if it has no
  /// mark.
  virtual bool accept_loss(aggregate_id aggregate, const audit_row& row) = 0;

  // reads without an owner: they see committed state only

  virtual std::vector<event_listing> list_events(const event_filter& filter) = 0;
  virtual access_directory directory() = 0;
  /// By tenant, organizer and customer. Large: read it only when blocks_version_setting has changed.
  virtual std::vector<block_row> blocks() = 0;
  /// Newest first.
  virtual std::vector<audit_row> audit(const audit_filter& filter) = 0;
  /// Newest first, by id.
  virtual std::vector<order_listing> list_orders(const order_filter& filter) = 0;
  /// Newest first, by id.
  virtual std::vector<event_ticket_listing> list_event_tickets(const event_ticket_filter& filter) = 0;
  /// By id.
  virtual std::vector<seat_plan_row> list_seat_plans(const seat_plan_filter& filter) = 0;
  virtual std::vector<transfer_listing> list_transfers(const transfer_filter& filter) = 0;
  /// One kind, by position.
  virtual record_page list_records(const record_filter& filter) = 0;
  /// By time, one row per step: its last one, with the highest peak and the sums of arrivals and admissions.
  virtual std::vector<statistics_row> list_statistics(const statistics_filter& filter) = 0;
  virtual sale_figures figures(aggregate_id aggregate) = 0;
  virtual open_purchase find_open_purchase(const customer_id& customer) = 0;
  /// Newest first, by id.
  virtual std::vector<dead_letter_listing> list_dead_letters(const dead_letter_filter& filter) = 0;
  /// Aggregates that must run without a request: ACTIVE and PAUSED events; any with live entries, live
  /// claims, open payments, failed ones to be asked about again now, late money, open refunds, open offers
  /// of tickets or records that are not in the public log yet; CANCELLED events with money still to refund;
  /// events where a blocked customer has paid. Excludes aggregates with a lease of another owner than
  /// `owner`.
  virtual std::vector<aggregate_id> aggregates_to_wake(const std::string& owner) = 0;
  /// Of the ended and cancelled events behind `after`: those with another number of valid event tickets than
  /// sold units, because of programs without event tickets. Without those that another owner leases.
  virtual events_to_settle find_events_to_settle(const std::string& owner, aggregate_id after) = 0;
  /// Greatest aggregate number in use, at least first_event_aggregate - 1.
  virtual aggregate_id last_aggregate() = 0;
  virtual std::vector<history_row> history(aggregate_id aggregate) = 0;
  /// All rows of an aggregate at one moment, without raising the epoch (verification, tests). Entries from
  /// line_totals::first_kept on.
  virtual aggregate_snapshot peek(aggregate_id aggregate) = 0;
  /// Empty if it was never given, or is deleted.
  virtual std::optional<entry_row> read_entry(aggregate_id aggregate, queue_number number) = 0;

  // -- outbox: for dispatchers

  /// Takes or renews the lease of every partition in `wanted` (each below outbox_partitions) that is free,
  /// expired or the owner's. Returns the partitions that the owner holds now. Throws superseded as acquire().
  virtual std::vector<std::uint32_t> lease_outbox(const lease_terms& lease,
                                                  std::span<const std::uint32_t> wanted) = 0;
  /// Undelivered rows of these partitions in lane `which`, at most `limit`. Aggregates after `after` come
  /// first, then the others, by number. From each aggregate its first rows in order, at most its share of
  /// the limit, so that an aggregate whose first row is stuck delays no other.
  virtual std::vector<outbox_item> undelivered(lane which, std::span<const std::uint32_t> partitions,
                                               std::size_t limit, aggregate_id after) = 0;
  /// Marks rows as passed through the lane; after their last lane they are delivered, at `at`. Unknown and
  /// already marked keys are ignored.
  virtual void mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) = 0;

  // -- nodes

  /// Writes the heartbeat of `self`. Returns every node with a heartbeat within `alive_for`, including
  /// `self`, by id. Deletes nodes that were silent for a day. Uses the ledger's clock; `self.seen_at` is
  /// ignored. Throws superseded as acquire(): a later process' row stays as it is.
  virtual std::vector<node_row> beat(const node_row& self, milliseconds alive_for) = 0;
  /// Orderly shutdown: the others need not wait until the heartbeat is missed. Leaves the row of another
  /// incarnation.
  virtual void leave(const std::string& node, std::uint64_t incarnation) = 0;

  /// Ends the leases of a node that a peer takes for dead, and raises their epochs. Returns the number of
  /// aggregates. `last`: the node's row as the peer read it. Does nothing if the node has written a heartbeat
  /// since or has begun anew. Without `is_silent` it also does nothing if the node has a connection to the
  /// ledger; only Postgres knows that, so the other engines do nothing then.
  virtual std::size_t end_leases(const node_row& last, bool is_silent, milliseconds term) = 0;

  /// Deletes old rows, and what is left of customers to erase (customer_row::to_erase; see erasure.hpp).
  /// Returns the number of rows, or bounds.limit while an erasure can go on at once. Called periodically.
  virtual std::size_t prune(const prune_bounds& bounds) = 0;
};

/// Declares every member of the port in an engine's class, which overrides them all.
#define FQ_LEDGER_OVERRIDES                                                                                  \
  std::vector<commit_outcome> commit(std::span<const batch> batches) override;                               \
  std::uint64_t enlist(const std::string& node) override;                                                    \
  acquire_result acquire(aggregate_id aggregate, const lease_terms& lease,                                   \
                         const std::optional<load_since>& since, const ledger_mark& seen = {}) override;     \
  aggregate_image load(aggregate_id aggregate, const load_since& since) override;                            \
  lease_renewal renew(const lease_terms& lease, std::span<const tenure> tenures) override;                   \
  void release(const std::string& owner, std::span<const tenure> tenures) override;                          \
  std::vector<lost_aggregate> losses() override;                                                             \
  bool accept_loss(aggregate_id aggregate, const audit_row& row) override;                                   \
  std::vector<event_listing> list_events(const event_filter& filter) override;                               \
  access_directory directory() override;                                                                     \
  std::vector<block_row> blocks() override;                                                                  \
  std::vector<audit_row> audit(const audit_filter& filter) override;                                         \
  std::vector<order_listing> list_orders(const order_filter& filter) override;                               \
  std::vector<event_ticket_listing> list_event_tickets(const event_ticket_filter& filter) override;          \
  std::vector<seat_plan_row> list_seat_plans(const seat_plan_filter& filter) override;                       \
  std::vector<transfer_listing> list_transfers(const transfer_filter& filter) override;                      \
  record_page list_records(const record_filter& filter) override;                                            \
  std::vector<statistics_row> list_statistics(const statistics_filter& filter) override;                     \
  sale_figures figures(aggregate_id aggregate) override;                                                     \
  open_purchase find_open_purchase(const customer_id& customer) override;                                    \
  std::vector<dead_letter_listing> list_dead_letters(const dead_letter_filter& filter) override;             \
  std::vector<aggregate_id> aggregates_to_wake(const std::string& owner) override;                           \
  events_to_settle find_events_to_settle(const std::string& owner, aggregate_id after) override;             \
  aggregate_id last_aggregate() override;                                                                    \
  std::vector<history_row> history(aggregate_id aggregate) override;                                         \
  aggregate_snapshot peek(aggregate_id aggregate) override;                                                  \
  std::optional<entry_row> read_entry(aggregate_id aggregate, queue_number number) override;                 \
  std::vector<node_row> beat(const node_row& self, milliseconds alive_for) override;                         \
  void leave(const std::string& node, std::uint64_t incarnation) override;                                   \
  std::size_t end_leases(const node_row& last, bool is_silent, milliseconds term) override;                  \
  std::vector<std::uint32_t> lease_outbox(const lease_terms& lease, std::span<const std::uint32_t> wanted)   \
    override;                                                                                                \
  std::vector<outbox_item> undelivered(lane which, std::span<const std::uint32_t> partitions,                \
                                       std::size_t limit, aggregate_id after) override;                      \
  void mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) override;                  \
  std::size_t prune(const prune_bounds& bounds) override;                                                    \
  notice_audience audience(const audience_filter& filter) override;                                          \
  std::vector<device_row> crowd(const crowd_filter& filter) override;                                        \
  void store_deliveries(std::span<const delivery_row> rows) override;                                        \
  std::vector<due_delivery> take_deliveries(const due_filter& filter, timestamp now) override;               \
  void settle_deliveries(std::span<const delivery_row> rows) override;                                       \
  std::vector<delivery_row> list_deliveries(const delivery_filter& filter) override;                         \
  bool replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice, timestamp now) override;    \
  uuid register_device(const device_row& device) override;                                                   \
  std::vector<device_row> list_devices(const uuid& holder) override;                                         \
  bool remove_device(const uuid& holder, const uuid& device) override;                                       \
  void end_device(const uuid& device, timestamp since, const std::string& reason, timestamp at) override;    \
  bool store_endpoint(const webhook_endpoint_row& endpoint) override;                                        \
  std::vector<webhook_endpoint_row> list_endpoints(tenant_id tenant) override;                               \
  bool disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since, timestamp at)      \
    override;                                                                                                \
  bool remove_endpoint(tenant_id tenant, const uuid& endpoint) override;                                     \
  bool store_picture(const picture_row& picture) override;                                                   \
  std::vector<char> find_picture(const std::string& id, picture_size size) override;                         \
  std::optional<witnessed_row> find_witnessed(const std::string& id) override;                               \
  bool store_witnessed(const witnessed_row& next, const witnessed_before& before) override;                  \
  std::vector<task_row> keep_tasks(std::span<const task_row> finished, std::uint64_t after) override;        \
  log_rows read_log(aggregate_id aggregate, const log_wish& wish) override

/// Status of migration N, for `fairqueue migrate`.
struct migration_status {
  std::uint32_t number = 0;
  std::string name;
  std::string checksum;
  bool applied = false;
};

} // namespace fq
