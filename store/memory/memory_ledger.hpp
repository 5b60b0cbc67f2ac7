// SPDX-License-Identifier: Apache-2.0
// The ledger in memory: reference for all other engines and store of the simulation, with injectable faults.
// Deliberately simple: sorted vectors, linear checks, an undo list. One thread at a time.
#pragma once
#include "store/port/erasure.hpp"
#include "store/port/ledger.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fq {

/// Fault of one call of commit().
struct commit_fault {
  enum class kind : std::uint8_t {
    none,
    unavailable, ///< throws ledger_unavailable; nothing applied
    busy, ///< the rows are locked: every batch of the call returns busy; nothing applied
    unknown_applied, ///< applied at once, then throws commit_unknown
    unknown_lost, ///< throws commit_unknown; never applied
    /// Throws commit_unknown. The transaction keeps its locks and commits after `calls` further calls, or
    /// before the first call that touches one of its aggregates (a resubmission, an acquire or a renewal
    /// waits for it).
    unknown_late,
    /// Throws commit_unknown. The request is delayed and executes after `calls` further calls, whatever was
    /// committed or acquired meanwhile; then only its guard decides.
    unknown_delayed,
  };
  kind what = kind::none;
  std::uint32_t calls =
    0; ///< further calls of commit, acquire, renew, release, lease_outbox and mark_delivered
};

/// Called before every call; empty functions: no faults. Deterministic if the functions are.
struct ledger_faults {
  std::function<commit_fault(std::span<const batch>)> on_commit{};
  std::function<bool(aggregate_id)> acquire_fails{}; ///< true: ledger_unavailable, the epoch is not raised
};

struct memory_ledger_options {
  ledger_faults faults{};
  /// False: commits are visible, but crash() loses them until sync(). Only to show the effect of unsynced
  /// commits.
  bool sync_each_commit = true;
  /// A planted bug for the simulation: accepts batches of any epoch.
  bool skip_epoch_guard = false;
  /// Called with every batch when it is applied, for a checker.
  std::function<void(const batch&)> on_applied{};
  std::function<timestamp()> now; ///< the store's clock, by which leases end
};

class memory_ledger final : public ledger {
public:
  explicit memory_ledger(memory_ledger_options options);
  ~memory_ledger() override;
  memory_ledger(const memory_ledger&) = delete;
  memory_ledger& operator=(const memory_ledger&) = delete;

  FQ_LEDGER_OVERRIDES;

  // -- for tests: committed state without a copy; pointers are valid until the next call that writes

  [[nodiscard]] std::vector<aggregate_id> aggregates() const;
  [[nodiscard]] bool is_lost(aggregate_id aggregate) const;
  [[nodiscard]] const aggregate_head* head(aggregate_id aggregate) const;
  [[nodiscard]] const aggregate_image* committed(aggregate_id aggregate) const;
  [[nodiscard]] const std::vector<history_row>* committed_history(aggregate_id aggregate) const;
  [[nodiscard]] const ticket_type_row* find_ticket_type(aggregate_id aggregate, std::uint32_t ordinal) const;
  [[nodiscard]] const entry_row* find_entry(aggregate_id aggregate, queue_number number) const;
  [[nodiscard]] const claim_row* find_claim(aggregate_id aggregate, const claim_id& id) const;
  [[nodiscard]] const payment_row* find_payment(aggregate_id aggregate, const payment_id& id) const;
  [[nodiscard]] const refund_row* find_refund(aggregate_id aggregate, const refund_id& id) const;
  /// Empty: it has none.
  [[nodiscard]] std::string lease_owner(aggregate_id aggregate) const;
  /// Of the latest process of `node`; 0: none has begun.
  [[nodiscard]] std::uint64_t incarnation_of(const std::string& node) const;

  /// What is noted and not in the public log yet.
  [[nodiscard]] const std::vector<noted_rows>* committed_notes(aggregate_id aggregate) const;

  /// Number of calls with an unknown, still undecided commit.
  [[nodiscard]] std::size_t in_air() const { return air_.size(); }
  /// Applies all commits in flight, oldest first (the quiet phase of a simulation).
  void settle();
  /// Makes all earlier commits survive crash(). Has an effect only if sync_each_commit is false.
  void sync();
  /// The store's machine loses power: commits in flight and unsynced commits are lost.
  void crash();

private:
  struct held_lease {
    std::string owner; ///< empty: none
    timestamp until;
    /// Whether another owner than `who` holds it at `now`. An empty `who` ignores leases.
    [[nodiscard]] bool keeps_out(const std::string& who, timestamp now) const;
  };
  struct stored_outbox_row {
    std::uint64_t seq = 0;
    std::uint32_t ordinal = 0;
    outbox_row content;
    timestamp delivered_at;
  };
  struct aggregate_state {
    aggregate_head head;
    tenant_id tenant = default_tenant;
    held_lease lease;
    std::optional<ledger_mark> lost; ///< the highest that was seen committed, if the ledger has gone back
    milliseconds clock_lag{0}; ///< see acquired
    aggregate_image image;
    std::vector<history_row> history;
    std::vector<audit_row> audit;
    std::vector<dead_letter_row> dead_letters; ///< by id; the image has the open letters
    std::vector<stored_outbox_row> outbox; ///< by seq and ordinal
    std::vector<statistics_row> statistics; ///< by time; the image has the last one
    std::vector<noted_rows> noted; ///< by place
    std::vector<log_tile_row> log_tiles; ///< by key; the image has the state
  };
  [[nodiscard]] std::set<aggregate_id> owned_by(const std::string& node) const;
  [[nodiscard]] milliseconds silence_of(const held_lease& lease, milliseconds term) const;
  /// The whole durable state; sync() copies it.
  struct durable {
    std::map<aggregate_id, aggregate_state> aggregates;
    std::set<std::string> payment_references;
    std::set<std::pair<std::string, std::string>> receipts;
    std::array<held_lease, outbox_partitions> partitions;
    std::map<std::string, node_row> nodes;
    std::map<std::string, std::uint64_t> incarnations; ///< of the latest process, by node
    std::map<uuid, device_row> devices;
    std::map<uuid, webhook_endpoint_row> endpoints;
    std::map<std::pair<uuid, uuid>, delivery_row> deliveries; ///< by target and notice
    std::map<customer_id, erasure> erasures; ///< those under way
    std::vector<seat_plan_row> seat_plans; ///< by id
    std::map<std::pair<std::string, tenant_id>, picture_row> pictures; ///< by id and tenant
    std::map<std::string, witnessed_row> witnessed; ///< by id
    std::deque<task_row> tasks; ///< by id
  };
  struct undecided {
    std::vector<batch> batches;
    std::uint32_t calls_left = 0;
    bool holds_locks = false;
  };
  class applier;
  class eraser;

  commit_outcome apply(const batch& b);
  std::vector<commit_outcome> apply_all(std::span<const batch> batches);
  template <class RowsOf, class TimeOf, class Forget>
  std::size_t prune_rows(RowsOf rows_of, TimeOf time_of_row, timestamp before, std::size_t most,
                         Forget forget);
  std::size_t prune_notices(const prune_bounds& bounds, std::size_t limit);
  std::size_t prune_pictures(timestamp before, std::size_t most);
  std::size_t prune_entries(timestamp before, std::size_t most);
  std::size_t prune_statistics(timestamp before, std::size_t most);
  std::size_t prune_logs(timestamp before, std::size_t most);
  std::size_t prune_personal(const prune_bounds& bounds, std::size_t most);
  void pass_a_call(const std::set<aggregate_id>& touched);
  void refuse_earlier(const std::string& node, std::uint64_t incarnation) const;
  [[nodiscard]] const aggregate_state* find(aggregate_id aggregate) const;

  memory_ledger_options options_;
  durable state_;
  durable synced_; ///< only used without sync_each_commit
  std::vector<undecided> air_;
};

} // namespace fq
