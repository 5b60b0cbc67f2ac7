// SPDX-License-Identifier: Apache-2.0
// The ledger of an installation: a Postgres database that nodes share, one connection per object. Opened by
// app/ and called by one detached worker, a writer or a reader; members must not be called concurrently. The
// server may be unavailable at any time: calls then throw ledger_unavailable at once, and a later call
// reconnects.
#pragma once
#include "store/port/ledger.hpp"
#include "store/postgres/postgres.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fq {

struct postgres_ledger_options {
  std::string url; ///< postgres://…, passed to libpq unchanged
  postgres_patience patience{};
  /// Monotonic clock for the pauses between connection attempts; empty: the system's.
  std::function<milliseconds()> steady_now{};
};

class postgres_ledger final : public ledger {
public:
  /// Does not connect. Throws std::invalid_argument for an invalid URL.
  explicit postgres_ledger(const postgres_ledger_options& options);
  ~postgres_ledger() override;
  postgres_ledger(const postgres_ledger&) = delete;
  postgres_ledger& operator=(const postgres_ledger&) = delete;

  /// Connects and migrates now instead of at the first call. Throws ledger_unavailable, or schema_refused
  /// for a database that this program cannot use. The other calls report both as ledger_unavailable.
  void connect();

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

  /// Reason of the last `conflict` in Postgres' words, for logs: names constraints, never values.
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }

private:
  struct session;
  /// Back-off between connection attempts; grows with each failure.
  struct pause {
    milliseconds until{0};
    milliseconds length{0};
    std::string reason;
  };

  session& connected();
  template <class Work>
  auto in_session(Work work);

  postgres_url url_;
  postgres_patience patience_;
  std::function<milliseconds()> steady_now_;
  std::unique_ptr<session> session_;
  pause pause_;
  std::string last_refusal_;
};

} // namespace fq
