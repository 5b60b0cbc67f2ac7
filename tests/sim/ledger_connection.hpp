// SPDX-License-Identifier: Apache-2.0
// One process's connection to the memory ledger: injects failed calls, reports outcomes to the checkers, and
// cuts the connection when the process is killed.
#pragma once
#include "tests/sim/world.hpp"

#include <map>
#include <string>

namespace fq::sim {

/// Tracks independently which node owns the sale (I17). No node may take it while another node's lease lasts,
/// and no former owner may answer a request that was sent after the takeover.
class lease_watch {
public:
  explicit lease_watch(world& w) : world_(w) {}
  void taken(const std::string& node, milliseconds term);
  void renewed(const std::string& node, milliseconds term);
  void released(const std::string& node);
  /// A tool took the sale and ignored the lease.
  void broken();
  [[nodiscard]] bool is_held_by(const std::string& node) const { return holder_ == node; }
  [[nodiscard]] bool is_elsewhere(const std::string& node) const {
    return !holder_.empty() && holder_ != node;
  }

  struct asking {
    std::uint64_t takes = 0;
    bool elsewhere = false;
  };
  /// State of a fan's request to `node`, for answered().
  [[nodiscard]] asking asked(const std::string& node) const;
  void answered(const asking& a, const std::string& node) const;
  /// The same, and checks the owner actor: after each takeover only one actor answers.
  void answered(const asking& a, const std::string& node, caf::actor_id owner);

private:
  world& world_;
  std::string holder_, last_holder_; ///< holder_ empty: no owner
  milliseconds until_{0}; ///< end of the lease, in the ledger's steady time
  milliseconds unaware_until_{0}; ///< the owner may trust its lease until then although a tool took the sale
  std::uint64_t takes_ = 0;
  std::map<std::uint64_t, caf::actor_id> answers_; ///< answering owner by number of takes
};

class ledger_connection final : public ledger {
public:
  ledger_connection(world& w, std::string node) : world_(w), node_(std::move(node)) {}
  /// Fails every call from now on.
  void cut() { is_cut_ = true; }
  /// Fails every call until `steady`.
  void cut_until(milliseconds steady) { cut_until_ = steady; }
  [[nodiscard]] bool is_cut_off() const { return world_.env->steady_now() < cut_until_; }

  std::vector<commit_outcome> commit(std::span<const batch> batches) override;
  acquire_result acquire(aggregate_id aggregate, const lease_terms& lease, timestamp since) override;
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

private:
  void pass() const; ///< throws if the connection is cut
  void go_out() const; ///< throws if the request is lost
  void come_back() const; ///< throws if the answer is lost
  void note(const acquire_result& result, const lease_terms& lease) const;

  world& world_;
  std::string node_;
  bool is_cut_ = false;
  milliseconds cut_until_{0};
};

} // namespace fq::sim
