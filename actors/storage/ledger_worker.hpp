// SPDX-License-Identifier: Apache-2.0
// Wraps a ledger for owners. Group commit: one transaction for all waiting batches, so throughput grows with
// load while latency stays near one fsync. Detached in production because a ledger blocks; an ordinary actor
// in simulations.
#pragma once
#include "actors/base/aggregate_clock.hpp"
#include "actors/base/task_history.hpp"
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/catalog_messages.hpp"
#include "actors/protocol/cluster_messages.hpp"
#include "actors/protocol/directory_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/protocol/log_messages.hpp"
#include "actors/protocol/outbox_messages.hpp"
#include "actors/storage/incarnation.hpp"
#include "actors/storage/ledger_memory.hpp"
#include "actors/storage/limits.hpp"
#include "domain/base/environment.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fq {

struct ledger_worker_settings {
  lease_terms lease{}; ///< for acquired aggregates; without an incarnation
  /// Of this process, shared by its workers; null: the worker's own.
  std::shared_ptr<incarnation> process = nullptr;
  /// Of this process, shared by its workers; null: the worker's own.
  std::shared_ptr<ledger_memory> memory = nullptr;
  std::shared_ptr<const lease_doubt> doubt = nullptr; ///< in its leases; null: none
  milliseconds prune_interval{30'000}; ///< 0: this worker does not prune
  milliseconds entries_life{90ll * 24 * 60 * 60 * 1000}; ///< of ended entries; see ledger::prune
  milliseconds contacts_life{0}; ///< of orders after the end of their sale; 0: for ever
  milliseconds logs_life{730ll * 24 * 60 * 60 * 1000}; ///< of public logs after the end of their sale
  milliseconds statistics_life{400ll * 24 * 60 * 60 * 1000}; ///< of rows of statistics; see ledger::prune
  mail_eraser_handle mail_eraser = {}; ///< null: no mail is kept in files
  std::atomic<bool>* reachable = nullptr; ///< set after every call, for /readyz
  /// Log lines: ledger unavailable or back, a batch refused; called on any thread.
  std::function<void(const std::string&)> note = nullptr;
  /// What a person must look at, once: this process was superseded, an aggregate is stopped. On any thread.
  std::function<void(const std::string&)> alarm = nullptr;
  /// The worker that reads the rows of acquired aggregates, so that they delay no commit; null: this one.
  ledger_worker_handle loader{};
  task_history* tasks = nullptr; ///< that this worker stores and reads; null: none
};

class ledger_worker_state {
public:
  static inline const char* name = "ledger_worker";
  using pointer = ledger_worker_handle::stateful_pointer<ledger_worker_state>;

  /// Releases its leases: a successor need not wait.
  ~ledger_worker_state();
  void init(pointer self, ledger& engine, environment& env, ledger_worker_settings settings);
  ledger_worker_handle::behavior_type behavior();

private:
  struct waiting {
    batch_ptr content;
    owner_handle owner;
  };
  struct held_lease {
    owner_handle owner;
    std::uint64_t epoch = 0;
    std::shared_ptr<lease_horizon> horizon;
  };
  void on_commit(const commit_batch& x);
  event_list_reply list(const list_events& x);
  audit_reply list(const list_audit& x);
  order_list_reply list(const fq::list_orders& x);
  held_tickets_reply list(const list_held_tickets& x);
  transfers_reply list(const fq::list_transfers& x);
  records_reply list(const fq::list_records& x);
  purchase_found find(const fq::find_open_purchase& x);
  statistics_reply list(const fq::list_statistics& x);
  tenant_plans_reply list(const list_tenant_plans& x);
  dead_letters_reply list(const fq::list_dead_letters& x);
  void read_directory();
  void read_blocks();
  void beat(const beat_node& x);
  leases_ended end(const end_leases_of& x);
  std::uint64_t holder_ = 0; ///< of the epochs that this process begins; see ledger_sight
  std::string beats_for_; ///< the node whose heartbeats this worker writes; empty: none
  void flush();
  void settle(const std::vector<waiting>& group, const std::vector<commit_outcome>& outcomes);
  [[nodiscard]] ledger_mark seen_of(aggregate_id aggregate) const;
  void compare(const batch& b, const ledger_mark& before, commit_outcome& outcome) const;
  void on_lost(aggregate_id aggregate, const ledger_lost& lost) const;
  losses_accepted accept(const accept_losses& x);
  void fail(const std::vector<waiting>& group);
  void acquire(const acquire_aggregate& x);
  void load(load_acquired x);
  entry_read read(const fq::read_entry& x);
  void find_unowned(const find_aggregates_to_wake& x);
  void find_last(const find_last_aggregate& x);
  void release(const release_aggregate& x);
  void renew();
  void take_outbox(const fq::take_outbox& x);
  void mark_outbox(const fq::mark_outbox& x);
  ack_reply done(const std::function<void()>& work);
  ack_reply found(const std::function<bool()>& work);
  audience_found find(const find_audience& x);
  devices_reply find(const find_crowd& x);
  deliveries_taken take(const fq::take_deliveries& x);
  count_reply disable(const fq::disable_endpoint& x);
  deliveries_reply list(const fq::list_deliveries& x);
  device_reply add(const fq::register_device& x);
  devices_reply list(const fq::list_devices& x);
  ack_reply store(const fq::store_deliveries& x);
  ack_reply store(const fq::store_endpoint& x);
  ack_reply store(const fq::store_picture& x);
  picture_found find(const fq::find_picture& x);
  log_read find(const fq::read_log& x);
  witnessed_found find(const fq::find_witnessed& x);
  witnessed_stored store(const fq::store_witnessed& x);
  bool has_its_share(const webhook_endpoint_row& mine);
  endpoints_reply list(const fq::list_endpoints& x);
  void peek(const peek_aggregate& x);
  void prune();
  void store_tasks();
  void on_timer(const timer_fired& t);
  template <class Reply>
  void answer(Reply reply);
  void note(const std::string& what) const;
  bool reached(const std::function<void()>& work);
  void on_superseded();
  [[nodiscard]] lease_terms lease(); ///< of this process; throws as the ledger does, and superseded
  [[nodiscard]] bool is_superseded() const { return settings_.process->is_superseded(); }
  [[nodiscard]] std::vector<tenure> tenures() const;

  pointer self_ = nullptr;
  ledger* ledger_ = nullptr;
  environment* env_ = nullptr;
  ledger_worker_settings settings_;
  bool is_reached_ = true; ///< result of the last call
  /// Row ages use the owners' clock, independent of jumps of the wall clock.
  std::optional<aggregate_clock> clock_;
  std::map<aggregate_id, held_lease> leased_; ///< acquired by this worker and not yet released
  std::vector<waiting> waiting_;
  bool flush_is_due_ = false;
};

ledger_worker_handle::behavior_type ledger_worker(
  ledger_worker_handle::stateful_pointer<ledger_worker_state> self, ledger* engine, environment* env,
  ledger_worker_settings settings);

} // namespace fq
