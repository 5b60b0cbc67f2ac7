// SPDX-License-Identifier: Apache-2.0
// One process of the simulated server: its actors, its ledger connection, freezing and ending.
#pragma once
#include "tests/sim/ledger_connection.hpp"
#include "tests/sim/mesh_node.hpp"
#include "tests/sim/notices.hpp"
#include "tests/sim/office.hpp"
#include "tests/sim/slow_link.hpp"
#include "tests/sim/watcher.hpp"

#include "actors/cluster/region.hpp"
#include "actors/outbox/courier.hpp"
#include "actors/outbox/fan_out.hpp"
#include "actors/payments/payments.hpp"
#include "actors/storage/cache_worker.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fq::sim {

class process;

/// Only actors are jobs here.
inline caf::scheduled_actor& actor_of(caf::resumable* job) {
  return static_cast<caf::scheduled_actor&>(*job);
}

/// Maps actors to processes: an actor belongs to its parent's process. Fans and operators belong to none.
class homes {
public:
  /// Assigns all actors spawned since the last call to `p`.
  void settle(caf::actor_id latest, process* p) {
    if (latest >= by_id_.size()) by_id_.resize(latest + 1, p);
  }
  [[nodiscard]] process* of(caf::actor_id actor) const {
    return actor < by_id_.size() ? by_id_[actor] : nullptr;
  }

private:
  std::vector<process*> by_id_;
};

class process {
public:
  /// `env`: the machine's clock. `env` and `w` outlive the process.
  process(caf::scheduler::test_coordinator& sched, world& w, std::string node, sim_environment& env);

  /// Ends every actor of the process before any other job runs. `killed`: the ledger connection is cut,
  /// leases expire on their own. `is_silent`: other nodes get no connection error.
  void end(homes& h, bool killed, bool is_silent = false);

  [[nodiscard]] bool has_ended() const { return !region_; }
  [[nodiscard]] const region_handle& region() const { return region_; }
  [[nodiscard]] office_handles offered() const { return office_ ? office_->handles() : office_handles{}; }
  [[nodiscard]] supervisor_handle supervisor() const { return supervisor(world_.aggregate); }
  [[nodiscard]] event_handle owner() const;
  /// The owner's state, if it serves; else null.
  [[nodiscard]] event_state* serving() const;
  /// How much of each bound of the sale is used.
  [[nodiscard]] owner_bounds used() const;
  /// Null: not meshed.
  [[nodiscard]] mesh_node* meshed() { return mesh_ ? &*mesh_ : nullptr; }
  [[nodiscard]] const watcher& watches() const;
  /// Cuts the ledger connection until then.
  void cut_from_ledger(milliseconds until) { connection_.cut_until(until); }
  [[nodiscard]] bool is_cut_from_ledger() const { return connection_.is_cut_off(); }
  /// For the checks; see lease_watch.
  [[nodiscard]] const std::string& name() const { return connection_.process(); }
  void rename(std::string name) { connection_.rename(std::move(name)); }
  [[nodiscard]] bool has_begun() const { return connection_.has_begun(); }
  /// An actor whose end must end the process.
  [[nodiscard]] caf::actor some_global();

  // -- freezing: jobs do not run; timers fire after the freeze
  void freeze(milliseconds until) { frozen_until_ = until; }
  [[nodiscard]] bool is_frozen() const { return frozen_until_ >= milliseconds{0}; }
  [[nodiscard]] milliseconds frozen_until() const { return frozen_until_; }
  /// Keeps a job until the freeze ends.
  void set_aside(caf::resumable* job) { set_aside_.push_back(job); }
  void go_on();

private:
  void spawn_consumers(const ledger_workers& ledgers);
  void spawn_origin(const std::string& node, sim_environment& env);
  consumer_handle spawn_couriers(const ledger_workers& ledgers);
  consumer_handle spawn_consumer(lane which, const ledger_workers& ledgers);
  [[nodiscard]] supervisor_handle supervisor(aggregate_id aggregate) const;
  [[nodiscard]] std::vector<supervisor_handle> supervisors() const;
  void end_owner(homes& h, const supervisor_handle& of);
  template <class Look>
  void finish(homes& h, const caf::actor& victim, Look look);
  [[nodiscard]] caf::actor somebody_left(const homes& h) const;

  caf::scheduler::test_coordinator& sched_;
  world& world_;
  ledger_connection connection_;
  std::shared_ptr<ledger_memory> memory_ = std::make_shared<ledger_memory>();
  cache_metrics metrics_;
  owner_services owners_;
  sim_channel channel_;
  fan_out_services fan_out_;
  std::deque<courier_services> couriers_;
  sim_mail_port mail_port_;
  mail_consumer_services mail_;
  payments_services payments_;
  ledger_worker_handle worker_;
  caf::actor link_;
  gateway_worker_handle gateway_worker_;
  payments_handle payments_actor_;
  region_handle region_;
  std::optional<office> office_;
  std::optional<mesh_node> mesh_;
  std::vector<caf::actor> others_; ///< actors without a name
  milliseconds frozen_until_{-1};
  std::vector<caf::resumable*> set_aside_;
};

} // namespace fq::sim
