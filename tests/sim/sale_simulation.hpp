// SPDX-License-Identifier: Apache-2.0
// One simulated sale: its machines, people, faults and checks. Parts: simulation.cpp (world, processes,
// steps), simulation_faults.cpp, simulation_checks.cpp.
#pragma once
#include "tests/sim/simulation.hpp"

#include "tests/sim/access_watch.hpp"
#include "tests/sim/box_office.hpp"
#include "tests/sim/clerk.hpp"
#include "tests/sim/disk_ledger.hpp"
#include "tests/sim/fan.hpp"
#include "tests/sim/gate.hpp"
#include "tests/sim/ledger_connection.hpp"
#include "tests/sim/loss_watch.hpp"
#include "tests/sim/mail_watch.hpp"
#include "tests/sim/mesh_operator.hpp"
#include "tests/sim/notices.hpp"
#include "tests/sim/organizer.hpp"
#include "tests/sim/outbox.hpp"
#include "tests/sim/process.hpp"
#include "tests/sim/watched_cache.hpp"

#include "actors/protocol/system_config.hpp"
#include "domain/base/planted.hpp"

#include <caf/actor_system.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <iostream>
#include <optional>

namespace fq::sim {

inline constexpr aggregate_id sale_aggregate = first_event_aggregate;
inline constexpr milliseconds recovery{
  16'000}; ///< after the faults: back-off, cool-down, reload, resubmission
inline constexpr milliseconds last_claims{22'000}; ///< after the faults: fans start nothing new
inline constexpr milliseconds quiet_span{48'000};
inline constexpr milliseconds log_grows_within{4'000}; ///< after it, for the last records of the public log
inline constexpr milliseconds gateway_away{
  28'000}; ///< after the faults, if the gateway stays away: orders of late fans must not wait for it
inline constexpr milliseconds look_interval{1'000}; ///< between two comparisons of the cache
inline constexpr milliseconds load_time{100}; ///< of an owner, without faults
inline constexpr milliseconds on_the_move{500}; ///< of a sale between two nodes, without faults
inline constexpr milliseconds move_takes{3'000}; ///< maximum, without faults
inline constexpr milliseconds reconnects_within{5'000}; ///< of a node to the others, without obstacles
inline constexpr milliseconds opened_long_ago{11 * 60'000}; ///< such a sale may move although no node leaves
inline constexpr milliseconds read_within{5'000}; ///< by a directory, without faults
inline constexpr std::uint64_t steps_max = 600'000;

struct test_config : system_config {
  test_config() {
    set("scheduler.policy", caf::atom("testing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

/// A machine of the cluster: its process and its clock.
struct node {
  std::string name;
  sim_environment env;
  std::unique_ptr<process> runs{}; ///< null: down
  milliseconds dies_at{-1}; ///< a global actor has ended; the process follows
  milliseconds back_at{0}; ///< end of the downtime
  milliseconds awake_since{0}; ///< end of the last freeze
  milliseconds drained_at{-1}; ///< it hands its events over, then shuts down
  caf::actor_id watched = 0; ///< last supervisor that the witness monitors
};

class simulation {
public:
  simulation(const sale_options& o, bool trace);
  ~simulation();
  outcome run();

private:
  // -- the world
  void create_event();
  void set_plan(const event_plan_row& plan, timestamp t);
  std::uint64_t acquire_catalog();
  void begin_people();
  void close();
  void start_process(node& n);
  void end_process(node& n, bool killed);
  void offer(std::size_t place, const process* p);
  void crash_process(node& n);
  void stop_process(node& n, bool killed);
  void create_bystanders();
  void tend_nodes(); ///< runs what is due on them
  void show_supervisors();

  // -- faults
  commit_fault fault_of(std::span<const batch> batches);
  void strike(); ///< may inject a fault between two steps
  void strike(node& n);
  void freeze(node& n, milliseconds span);
  void raise_epoch();
  void start_twin(node& n);
  void tend_earlier();
  void tend_ledger();
  void end_earlier(bool killed);
  void begin_quiet();
  void lose_owner();
  void move_sale();
  void strike_mesh();
  void step_clocks();
  [[nodiscard]] milliseconds clock_step();
  void drain(node& n);
  [[nodiscard]] milliseconds takeover_time() const;
  bool per_100000(std::uint32_t rate) { return rate != 0 && world_.rng() % 100'000 < rate; }
  void kill(const caf::actor& victim) { caf::anon_send_exit(victim, caf::exit_reason::kill); }

  // -- steps
  bool step();
  bool run_job();
  void run_chaos();
  void run_quiet();
  /// For the public log.
  [[nodiscard]] bool records_wait() const;

  // -- what must hold when nothing fails
  [[nodiscard]] event_state* serving();
  void scan_unowned();
  void check_served(const event_state* owner);
  void check_liveness(const event_state& owner);
  void check_watchers(const event_state& owner);
  void check_memory();
  void check_bounds();
  void check_bounds(const process& p);
  void check_end();
  void check_directories();

  void mix(std::uint64_t x) { hash_ ^= x + 0x9e3779b97f4a7c15ull + (hash_ << 6) + (hash_ >> 2); }
  std::uint64_t epoch_seen_ = 0; ///< of the last liveness check
  timestamp owned_since_; ///< latest possible load time of that epoch's owner
  [[nodiscard]] milliseconds now() { return env_.steady_now(); }
  [[nodiscard]] bool failed() const { return !check_.violation().empty() || loss_.is_over(); }
  [[nodiscard]] memory_ledger_options store_options(bool goes_back);

  test_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& sched_;
  sim_environment env_;
  world world_;
  memory_ledger store_;
  checker check_;
  lease_watch leases_;
  loss_watch loss_;
  outbox_watch outbox_;
  access_watch access_;
  mail_watch mails_;
  gateway_books gateway_;
  session_keys sessions_;
  std::optional<disk_ledger> disk_;
  std::optional<watched_cache> cache_;
  std::optional<mesh> net_;
  std::optional<place_history> places_;
  std::optional<notice_watch> notices_;
  std::optional<directory_watch> directory_;
  std::optional<letter_watch> letters_;
  std::vector<node> nodes_;
  std::unique_ptr<process> earlier_; ///< has a twin at its node; null: none
  milliseconds earlier_ends_at_{0};
  std::uint64_t twins_ = 0;
  milliseconds began_at_{0};
  bool is_kept_ = false, has_gone_back_ = false, has_ended_one_ = false; ///< see tend_ledger
  homes homes_;
  /// kept alive, so that an actor that outlives its process is reported and does not crash
  std::vector<std::unique_ptr<process>> ended_;
  std::vector<caf::actor> people_;
  caf::actor witness_;
  milliseconds started_at_{0};
  milliseconds lag_seen_at_{0}, committed_at_{0}; ///< steady time; committed_at_: of the latest commit
  std::optional<milliseconds> lag_; ///< lag of the aggregate's time once the quiet phase has settled
  milliseconds next_look_{0};
  milliseconds served_at_{0}; ///< last time at which an owner served
  milliseconds idle_at_{0}; ///< last time without an owner and without need of one
  std::uint64_t hash_ = 0, steps_ = 0;
  /// (epoch, to_seq) of commits with unknown outcome
  std::set<std::pair<std::uint64_t, std::uint64_t>> unknown_;
};

} // namespace fq::sim
