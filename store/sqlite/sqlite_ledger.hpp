// SPDX-License-Identifier: Apache-2.0
// The embedded ledger: one SQLite file in WAL mode, one connection. Owners' commits are synced (FULL).
// Opened by app/ and called by one ledger worker; members, including reads, must not be called concurrently.
#pragma once
#include "store/port/file_lock.hpp"
#include "store/port/ledger.hpp"
#include "store/sqlite/migrations.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fq {

struct sqlite_ledger_options {
  std::filesystem::path file; ///< its folder must exist; "<file>.lock" is created beside it
  std::uint32_t cache_mib = 128; ///< page cache, filled on demand
  /// WAL pages that trigger a checkpoint in the committing thread. A larger value is faster, but that commit
  /// waits longer.
  std::uint32_t checkpoint_pages = 4'000;
  milliseconds busy_timeout{5'000}; ///< for a lock held by a tool on the same file
};

class sqlite_ledger final : public ledger {
public:
  /// Locks, opens and migrates. Throws ledger_locked (in use), schema_refused (newer, altered or foreign
  /// file) or ledger_unavailable.
  explicit sqlite_ledger(const sqlite_ledger_options& options);
  ~sqlite_ledger() override;
  sqlite_ledger(const sqlite_ledger&) = delete;
  sqlite_ledger& operator=(const sqlite_ledger&) = delete;

  std::vector<commit_outcome> commit(std::span<const batch> batches) override;
  acquire_result acquire(aggregate_id aggregate, const lease_terms& lease,
                         timestamp idempotency_since) override;
  lease_renewal renew(const lease_terms& lease, std::span<const aggregate_id> aggregates) override;
  void release(const std::string& owner, std::span<const aggregate_id> aggregates) override;

  std::vector<event_listing> list_events(const event_filter& filter) override;
  access_directory directory() override;
  std::vector<block_row> blocks() override;
  std::vector<audit_row> audit(const audit_filter& filter) override;
  std::vector<order_listing> list_orders(const order_filter& filter) override;
  std::vector<dead_letter_listing> list_dead_letters(const dead_letter_filter& filter) override;
  std::vector<aggregate_id> aggregates_to_wake(const std::string& owner) override;
  aggregate_id last_aggregate() override;
  std::vector<history_row> history(aggregate_id aggregate) override;
  aggregate_snapshot peek(aggregate_id aggregate) override;

  std::vector<node_row> beat(const node_row& self, milliseconds alive_for) override;
  void leave(const std::string& node) override;
  std::vector<std::uint32_t> lease_outbox(const lease_terms& lease,
                                          std::span<const std::uint32_t> wanted) override;
  std::vector<outbox_item> undelivered(lane which, std::span<const std::uint32_t> partitions,
                                       std::size_t limit, aggregate_id after) override;
  void mark_delivered(lane which, std::span<const outbox_key> keys, timestamp at) override;
  std::size_t prune(const prune_bounds& bounds) override;

  notice_audience audience(std::span<const uuid> holders, std::span<const tenant_id> tenants) override;
  std::vector<device_row> crowd(const crowd_filter& filter) override;
  void store_deliveries(std::span<const delivery_row> rows) override;
  std::vector<due_delivery> take_deliveries(const due_filter& filter, timestamp now) override;
  void settle_deliveries(std::span<const delivery_row> rows) override;
  std::vector<delivery_row> list_deliveries(const delivery_filter& filter) override;
  bool replay_delivery(tenant_id tenant, const uuid& target, const uuid& notice, timestamp now) override;
  uuid register_device(const device_row& device) override;
  std::vector<device_row> list_devices(const uuid& holder) override;
  bool remove_device(const uuid& holder, const uuid& device) override;
  void end_device(const uuid& device, timestamp since, const std::string& reason, timestamp at) override;
  bool store_endpoint(const webhook_endpoint_row& endpoint) override;
  std::vector<webhook_endpoint_row> list_endpoints(tenant_id tenant) override;
  bool disable_endpoint(const uuid& endpoint, const std::string& reason, timestamp since,
                        timestamp at) override;
  bool remove_endpoint(tenant_id tenant, const uuid& endpoint) override;

  /// "ok", or the findings of SQLite's integrity check. Reads the whole file.
  std::string check_integrity();
  /// Reason of the last `conflict` in SQLite's words, for logs: names constraints, never values.
  [[nodiscard]] const std::string& last_refusal() const;

private:
  struct connection;
  std::optional<std::vector<commit_outcome>> commit_together(std::span<const batch> batches);
  std::vector<commit_outcome> commit_isolated(std::span<const batch> batches);

  std::unique_ptr<connection> connection_;
};

} // namespace fq
