// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/simulation.hpp"

#include "tests/sim/box_office.hpp"
#include "tests/sim/fan.hpp"
#include "tests/sim/ledger_connection.hpp"
#include "tests/sim/mail_watch.hpp"
#include "tests/sim/mesh_operator.hpp"
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
namespace {

constexpr aggregate_id sale_aggregate = first_event_aggregate;
constexpr milliseconds recovery{16'000}; ///< after the faults: back-off, cool-down, reload, resubmission
constexpr milliseconds last_claims{22'000}; ///< after the faults: fans start nothing new
constexpr milliseconds quiet_span{48'000};
constexpr milliseconds gateway_away{
  28'000}; ///< after the faults, if the gateway stays away: orders of late fans must not wait for it
constexpr milliseconds look_interval{1'000}; ///< between two comparisons of the cache
constexpr milliseconds load_time{100}; ///< of an owner, without faults
constexpr milliseconds on_the_move{500}; ///< of a sale between two nodes, without faults
constexpr milliseconds move_takes{3'000}; ///< maximum, without faults
constexpr milliseconds reconnects_within{5'000}; ///< of a node to the others, without obstacles
constexpr milliseconds opened_long_ago{11 * 60'000}; ///< such a sale may move although no node leaves
constexpr std::uint64_t steps_max = 600'000;

struct test_config : system_config {
  test_config() {
    set("scheduler.policy", caf::atom("testing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

/// Records how supervisors ended.
caf::behavior witness(caf::event_based_actor* self, checker* check) {
  self->set_down_handler([check](const caf::down_msg& down) {
    if (is(down.reason, errc::unavailable)) check->reached(rare::restart_budget_spent);
    if (down.reason == caf::exit_reason::user_shutdown) check->reached(rare::passivated);
  });
  return {[self](const caf::strong_actor_ptr& supervisor) {
    self->monitor(caf::actor_cast<caf::actor>(supervisor));
  }};
}

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
  simulation(std::uint64_t seed, bool trace);
  ~simulation();
  outcome run();

private:
  // -- the world
  void create_event();
  void close();
  void start_process(node& n);
  void end_process(node& n, bool killed);
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
  void begin_quiet();
  void lose_owner();
  void move_sale();
  void strike_mesh();
  void drain(node& n);
  [[nodiscard]] milliseconds takeover_time() const;
  bool per_100000(std::uint32_t rate) { return rate != 0 && world_.rng() % 100'000 < rate; }
  void kill(const caf::actor& victim) { caf::anon_send_exit(victim, caf::exit_reason::kill); }

  // -- steps
  bool step();
  bool run_job();
  void run_chaos();
  void run_quiet();

  // -- what must hold when nothing fails
  [[nodiscard]] event_state* serving();
  void scan_unowned();
  void check_served(const event_state* owner);
  void check_liveness(const event_state& owner);
  void check_watchers();
  void check_memory();
  void check_end();

  void mix(std::uint64_t x) { hash_ ^= x + 0x9e3779b97f4a7c15ull + (hash_ << 6) + (hash_ >> 2); }
  std::uint64_t epoch_seen_ = 0; ///< of the last liveness check
  timestamp owned_since_; ///< latest possible load time of that epoch's owner
  [[nodiscard]] milliseconds now() { return env_.steady_now(); }
  [[nodiscard]] bool failed() const { return !check_.violation().empty(); }
  [[nodiscard]] memory_ledger_options store_options();

  test_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& sched_;
  sim_environment env_;
  world world_;
  memory_ledger store_;
  checker check_;
  lease_watch leases_;
  outbox_watch outbox_;
  mail_watch mails_;
  gateway_books gateway_;
  session_keys sessions_;
  std::optional<watched_cache> cache_;
  std::optional<mesh> net_;
  std::optional<place_history> places_;
  std::vector<node> nodes_;
  homes homes_;
  /// kept alive, so that an actor that outlives its process is reported and does not crash
  std::vector<std::unique_ptr<process>> ended_;
  std::vector<caf::actor> people_;
  caf::actor witness_;
  std::optional<milliseconds> lag_; ///< lag of the aggregate's time once the quiet phase has settled
  milliseconds next_look_{0};
  milliseconds served_at_{0}; ///< last time at which an owner served
  std::uint64_t hash_ = 0, steps_ = 0;
  /// (epoch, to_seq) of commits with unknown outcome
  std::set<std::pair<std::uint64_t, std::uint64_t>> unknown_;
};

// -- the world --------------------------------------------------------------------------------------------

session_keys some_keys() {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(0x5a);
  return session_keys{secret_key{bytes}};
}

memory_ledger_options simulation::store_options() {
  memory_ledger_options o;
  o.faults.on_commit = [this](std::span<const batch> b) { return fault_of(b); };
  o.faults.acquire_fails = [this](aggregate_id) {
    return world_.chaos && chance(world_.rng, world_.options.faults.acquire_unavailable);
  };
  o.on_applied = [this](const batch& b) {
    if (unknown_.erase({b.epoch, b.to_seq}) != 0) check_.reached(rare::unknown_commit_landed_late);
    check_.applied(b);
    gateway_.applied(b, check_);
    mails_.applied(b);
    outbox_.applied(b);
    if (cache_) cache_->applied(b);
    if (places_) places_->applied(b);
  };
  o.now = [this] { return env_.wall_now(); };
  o.skip_epoch_guard = planted(bug::skip_epoch_guard);
  return o;
}

simulation::simulation(std::uint64_t seed, bool trace) :
    system_(config_),
    sched_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())),
    env_(sched_.clock(), seed),
    store_(store_options()),
    check_(store_, sale_aggregate, options_of(seed).rules),
    leases_(world_),
    outbox_(world_),
    mails_(world_),
    gateway_(world_),
    sessions_(some_keys()) {
  system_.await_actors_before_shutdown(false); // close() reports actors that are left
  sched_.clock().current_time += std::chrono::hours{1};
  world_.options = options_of(seed);
  world_.rng.seed(seed ^ 0x5151);
  world_.env = &env_;
  world_.check = &check_;
  world_.leases = &leases_;
  world_.outbox = &outbox_;
  world_.gateway = &gateway_;
  world_.store = &store_;
  world_.sessions = &sessions_;
  world_.aggregate = sale_aggregate;
  world_.trace = trace;
  const auto& o = world_.options;
  if (o.has_cache) world_.mirror = &cache_.emplace(world_);
  create_event();
  if (o.mesh.on) {
    world_.net = &net_.emplace(world_, system_, sched_.clock());
    world_.places = &places_.emplace(world_);
    world_.edges.resize(o.nodes);
    create_bystanders();
  }
  world_.regions.resize(o.nodes);
  nodes_.reserve(o.nodes); // processes reference their machine's clock
  for (std::uint32_t i = 0; i < o.nodes; ++i)
    nodes_.push_back({node_name(i), {sched_.clock(), seed + (std::uint64_t{i} << 32)}});
  for (auto& n : nodes_) start_process(n);
  for (std::uint32_t i = 0; i < o.fans; ++i) people_.push_back(system_.spawn<fan>(&world_, i));
  for (std::uint32_t i = 0; i < o.checkout.late_fans; ++i)
    people_.push_back(
      system_.spawn<fan>(&world_, o.fans + i, o.chaos + between(world_.rng, recovery, last_claims)));
  people_.push_back(system_.spawn(sim_courier, &world_));
  people_.push_back(witness_ = system_.spawn(witness, &check_));
  if (o.organizer_acts) people_.push_back(system_.spawn(organizer, &world_));
  if (o.checkout.on) people_.push_back(system_.spawn(box_office, &world_));
  if (o.mesh.move > 0) people_.push_back(system_.spawn(mesh_operator, &world_));
  homes_.settle(system_.latest_actor_id(), nullptr);
}

simulation::~simulation() { close(); }

/// Ends all actors. An actor that remains has outlived its parent and process.
void simulation::close() {
  if (nodes_.empty()) return;
  world_.calm_from = milliseconds::max();
  for (auto& p : people_) kill(p);
  people_.clear();
  witness_ = nullptr;
  for (auto& n : nodes_)
    if (n.runs) end_process(n, true);
  nodes_.clear();
  sched_.clock().cancel_all();
  while (sched_.has_job()) sched_.try_run_once();
  net_.reset();
  ended_.clear();
  if (system_.registry().running() != 0)
    check_.fail("I14", "an actor outlived its supervisor and its process");
}

/// Does the catalog's work directly in the ledger, without faults.
void simulation::create_event() {
  const auto& o = world_.options;
  world_.chaos = false;
  const auto t = env_.wall_now();
  event_row e;
  e.id = world_.event = env_.make_id(t, sale_aggregate);
  e.aggregate = sale_aggregate;
  e.organizer = world_.organizer = env_.make_id(t, accounts_aggregate);
  e.name = "Simulated sale";
  e.currency = "NGN";
  e.status = event_status::active;
  e.queue_opens_at = t + milliseconds{chance(world_.rng, 200) ? 1'500 : 0};
  if (o.mesh.opens_early) e.queue_opens_at = t - opened_long_ago;
  e.sale_start = e.queue_opens_at;
  e.sale_end = t + o.sale_length;
  e.queue = o.queue;
  e.claim_ttl = o.claim_ttl;
  e.claims_per_customer = o.claims_per_customer;
  e.created_at = e.updated_at = t;
  std::vector<ticket_type_row> types;
  for (std::uint32_t i = 0; i < o.ticket_types; ++i) {
    const auto price = o.checkout.on && i > 0 ? o.price * 2 : o.price;
    types.push_back({i, env_.make_id(t, sale_aggregate), "Type", price, o.total, 0, 0, 2, true});
    world_.ticket_types.push_back(types.back().id);
  }
  if (auto no = validate(e, types)) check_.fail("simulation", "invalid options: " + no.detail);
  batch b;
  b.aggregate = catalog_aggregate;
  b.epoch = store_.acquire_unleased(catalog_aggregate, never)->epoch;
  b.to_seq = 1;
  b.at = t;
  b.content.emplace_back(event_created{std::move(e), std::move(types)});
  store_.commit(std::span{&b, 1});
  world_.chaos = true;
}

/// Creates other sales without activity: they give nodes a share to rebalance.
void simulation::create_bystanders() {
  world_.chaos = false;
  for (std::uint32_t i = 0; i < world_.options.mesh.bystanders; ++i) {
    const aggregate_id aggregate{number_of(sale_aggregate) + 1 + i};
    event_row e = check_.event();
    e.aggregate = aggregate;
    e.id = env_.make_id(env_.wall_now(), aggregate);
    e.queue_opens_at = e.sale_start = env_.wall_now() - opened_long_ago;
    e.sale_end = env_.wall_now() + milliseconds{3'600'000};
    world_.bystanders.push_back(aggregate);
    batch b;
    b.aggregate = catalog_aggregate;
    b.epoch = store_.acquire_unleased(catalog_aggregate, never)->epoch;
    b.from_seq = i + 1;
    b.to_seq = i + 2;
    b.at = env_.wall_now();
    std::vector<ticket_type_row> types{{0, env_.make_id(b.at, aggregate), "Type", 1, 1, 0, 0, 1, true}};
    b.content.emplace_back(event_created{std::move(e), std::move(types)});
    if (store_.commit(std::span{&b, 1}).front() != commit_outcome::committed)
      check_.fail("simulation", "a bystander was not created");
  }
  world_.chaos = true;
}

// -- processes --------------------------------------------------------------------------------------------

void simulation::start_process(node& n) {
  homes_.settle(system_.latest_actor_id(), nullptr);
  n.runs = std::make_unique<process>(sched_, world_, n.name, n.env);
  homes_.settle(system_.latest_actor_id(), n.runs.get());
  world_.regions[static_cast<std::size_t>(&n - nodes_.data())] = n.runs->region();
  if (net_) world_.edges[static_cast<std::size_t>(&n - nodes_.data())] = n.runs->meshed()->edge();
}

void simulation::end_process(node& n, bool killed) {
  world_.regions[static_cast<std::size_t>(&n - nodes_.data())] = nullptr;
  if (net_) world_.edges[static_cast<std::size_t>(&n - nodes_.data())] = nullptr;
  n.dies_at = n.drained_at = milliseconds{-1};
  n.runs->end(homes_, killed, net_ && strikes(world_.rng, world_.options.mesh.silent_death));
  ended_.push_back(std::move(n.runs));
}

/// Kills a process, or stops it in order, so that it releases its leases. With two nodes, one may stay down
/// for a while.
void simulation::crash_process(node& n) {
  check_.reached(rare::process_crashed);
  stop_process(n, !chance(world_.rng, 250));
}

void simulation::stop_process(node& n, bool killed) {
  end_process(n, killed);
  const bool stays_away = nodes_.size() > 1 && world_.chaos && chance(world_.rng, 500);
  n.back_at =
    now()
    + (stays_away ? between(world_.rng, milliseconds{0}, world_.options.lease_term * 2) : milliseconds{0});
  if (!stays_away) start_process(n);
}

void simulation::tend_nodes() {
  for (auto& n : nodes_) {
    if (!n.runs) {
      if (n.back_at <= now()) start_process(n);
      continue;
    }
    if (n.runs->is_frozen() && n.runs->frozen_until() <= now()) {
      n.runs->go_on();
      n.awake_since = now();
      if (net_ && !world_.chaos) world_.calm_from = std::max(world_.calm_from, now());
    }
    if (n.dies_at >= milliseconds{0} && n.dies_at <= now()) crash_process(n);
    if (n.runs && n.drained_at >= milliseconds{0} && n.drained_at <= now()) stop_process(n, false);
  }
  if (steps_ % 16 == 0) show_supervisors();
}

void simulation::show_supervisors() {
  for (auto& n : nodes_) {
    const auto s = n.runs ? n.runs->supervisor() : supervisor_handle{};
    if (!s || s.id() == n.watched) continue;
    n.watched = s.id();
    caf::anon_send(witness_, caf::actor_cast<caf::strong_actor_ptr>(s));
  }
}

// -- faults -----------------------------------------------------------------------------------------------

commit_fault simulation::fault_of(std::span<const batch> batches) {
  if (!world_.chaos) return {};
  const auto& f = world_.options.faults;
  auto& rng = world_.rng;
  const auto calls = static_cast<std::uint32_t>(rng() % 4);
  const auto in_air = [&](commit_fault::kind what) {
    for (const auto& b : batches) unknown_.emplace(b.epoch, b.to_seq);
    return commit_fault{what, calls};
  };
  if (chance(rng, f.commit_unavailable)) return {commit_fault::kind::unavailable, 0};
  if (chance(rng, f.commit_busy)) return {commit_fault::kind::busy, 0};
  if (chance(rng, f.commit_applied_unknown)) return {commit_fault::kind::unknown_applied, 0};
  if (chance(rng, f.commit_lost_unknown)) return {commit_fault::kind::unknown_lost, 0};
  if (chance(rng, f.commit_late)) return in_air(commit_fault::kind::unknown_late);
  if (chance(rng, f.commit_delayed)) return in_air(commit_fault::kind::unknown_delayed);
  return {};
}

/// A tool or a node that ignores leases takes the aggregate over and leaves.
void simulation::raise_epoch() {
  try {
    const auto taken = store_.acquire_unleased(sale_aggregate, never);
    check_.rival_took(taken->epoch);
    leases_.broken();
  } catch (const ledger_unavailable&) {} // skip this time
}

void simulation::freeze(node& n, milliseconds span) {
  n.runs->freeze(now() + span);
  if (net_) net_->has_frozen(n.runs->meshed()->number());
  check_.reached(rare::process_frozen);
}

/// Injects faults between nodes, and between one node and the ledger.
void simulation::strike_mesh() {
  const auto& o = world_.options;
  net_->strike();
  auto& n = nodes_[world_.rng() % nodes_.size()];
  if (!n.runs) return;
  if (per_100000(o.mesh.ledger_cut) && !n.runs->is_cut_from_ledger()) {
    n.runs->cut_from_ledger(now() + between(world_.rng, o.lease_term / 2, o.lease_term * 3));
    check_.reached(rare::ledger_cut);
  }
  if (per_100000(o.mesh.drain) && n.drained_at < milliseconds{0}) drain(n);
}

void simulation::drain(node& n) {
  n.runs->meshed()->drain();
  n.drained_at = now() + between(world_.rng, milliseconds{300}, milliseconds{3'000});
  check_.reached(rare::node_drained);
}

void simulation::strike() {
  const auto& f = world_.options.faults;
  tend_nodes();
  if (auto& n = nodes_[world_.rng() % nodes_.size()]; n.runs) strike(n);
  if (per_100000(f.rival_owner)) raise_epoch();
  if (per_100000(f.gateway_outage))
    gateway_.down_until = now() + between(world_.rng, milliseconds{500}, milliseconds{6'000});
  if (cache_) cache_->strike();
  if (net_) strike_mesh();
}

void simulation::strike(node& n) {
  const auto& f = world_.options.faults;
  if (per_100000(f.kill_owner))
    if (auto e = n.runs->owner()) kill(caf::actor_cast<caf::actor>(e));
  if (per_100000(f.kill_supervisor))
    if (auto s = n.runs->supervisor()) kill(caf::actor_cast<caf::actor>(s));
  if (per_100000(f.kill_payments) && n.dies_at < milliseconds{0}) {
    // Only a bug can end a global actor. The root notices, and the process ends a little later.
    kill(n.runs->some_global());
    n.dies_at = now() + between(world_.rng, milliseconds{0}, milliseconds{50});
  }
  if (f.wall_clock_jumps && per_100000(20))
    n.env.skew = -between(world_.rng, milliseconds{0}, milliseconds{5'000});
  const auto term = std::max(world_.options.lease_term, milliseconds{1'000});
  if (per_100000(f.freeze) && !n.runs->is_frozen()) freeze(n, between(world_.rng, term / 2, term * 3));
  if (per_100000(f.crash_process)) crash_process(n);
}

void simulation::begin_quiet() {
  world_.chaos = false;
  store_.settle();
  gateway_.down_until = world_.options.faults.gateway_stays_away ? now() + gateway_away : milliseconds{0};
  if (net_) net_->heal();
  for (auto& n : nodes_) {
    if (n.runs && n.runs->is_frozen()) n.runs->go_on();
    if (n.runs) n.runs->cut_from_ledger(milliseconds{0});
    const bool restarts = n.drained_at >= milliseconds{0} || n.dies_at >= milliseconds{0}
                          || world_.options.faults.wall_clock_jumps || chance(world_.rng, 300);
    n.env.skew = milliseconds{0};
    if (n.runs && restarts) crash_process(n);
    if (!n.runs) start_process(n);
  }
  world_.calm_from = now() + recovery;
}

/// Ends one of two processes permanently, or freezes it, without other faults. The other must take over when
/// the lease has expired and it polls.
void simulation::lose_owner() {
  const auto& o = world_.options;
  const auto n = std::ranges::find_if(nodes_, [](const node& x) { return x.runs->serving() != nullptr; });
  if (n == nodes_.end()) return; // the sale is over
  world_.calm_from = now() + takeover_time();
  lag_.reset();
  if (chance(world_.rng, 500)) return freeze(*n, o.lease_term * 2 + o.takeover_interval * 2);
  end_process(*n, true);
  n->back_at = milliseconds::max();
}

/// The operator moves the sale to another node; no request may be refused.
void simulation::move_sale() {
  const auto at = std::ranges::find_if(nodes_, [](const node& x) { return x.runs->serving() != nullptr; });
  if (at == nodes_.end()) return; // the sale is over
  const auto here = static_cast<std::size_t>(at - nodes_.begin());
  const auto to = (here + 1 + world_.rng() % (nodes_.size() - 1)) % nodes_.size();
  homes_.settle(system_.latest_actor_id(), nullptr);
  people_.push_back(system_.spawn(sale_mover, &world_, node_name(to)));
  homes_.settle(system_.latest_actor_id(), nullptr);
}

/// Maximum time until another node serves. In a mesh a node claims an unowned event only at its second poll,
/// and a node without connections waits until the others count as dead. Then watchers subscribe again.
milliseconds simulation::takeover_time() const {
  const auto& o = world_.options;
  if (!net_) return o.lease_term + o.takeover_interval + load_time;
  const auto alone = std::max(o.mesh.connection_timeout, o.mesh.alive_for) + o.mesh.beat_interval * 2;
  return std::max(o.lease_term, alone) + o.takeover_interval * 3 + load_time * 5;
}

// -- steps ------------------------------------------------------------------------------------------------

bool simulation::run_job() {
  auto& jobs = sched_.jobs;
  std::swap(jobs.front(), jobs[world_.rng() % jobs.size()]);
  auto* home = homes_.of(jobs.front());
  if (home != nullptr && home->is_frozen()) {
    home->set_aside(jobs.front());
    jobs.pop_front();
    return true;
  }
  if (home != nullptr && home->has_ended()) {
    check_.fail("I14", "an actor outlived its process");
    return false;
  }
  if (auto* actor = dynamic_cast<caf::scheduled_actor*>(jobs.front())) {
    mix(actor->id());
    if (world_.trace)
      if (auto* element = actor->peek_at_next_mailbox_element())
        std::cout << now().count() << " ms  " << actor->name() << "#" << actor->id() << "  "
                  << caf::to_string(element->copy_content_to_message()) << "\n";
  }
  const bool ran = sched_.try_run_once();
  homes_.settle(system_.latest_actor_id(), home);
  return ran;
}

bool simulation::step() {
  const bool jobs = sched_.has_job(), timers = sched_.has_pending_timeout();
  if (!jobs && !timers) return false;
  check_.step = ++steps_;
  // In the quiet phase time advances only when no jobs are left.
  const bool time_passes =
    timers && (!jobs || (world_.chaos && world_.rng() % world_.options.steps_per_timer == 0));
  if (!time_passes) return run_job();
  sched_.trigger_timeout();
  mix(static_cast<std::uint64_t>(now().count()));
  return true;
}

void simulation::run_chaos() {
  const auto start = now();
  while (!failed() && now() - start < world_.options.chaos && steps_ < steps_max && step()) strike();
}

void simulation::run_quiet() {
  const auto calm = now();
  auto loses_owner_at = calm + recovery + between(world_.rng, milliseconds{0}, milliseconds{4'000});
  auto moves_at = net_ ? calm + recovery : milliseconds::max();
  auto breaks_at = net_ ? moves_at + move_takes : milliseconds::max();
  if (net_) loses_owner_at += move_takes + reconnects_within;
  while (!failed() && now() - calm < quiet_span && steps_ < steps_max && step()) {
    world_.closing = now() - calm > last_claims;
    tend_nodes();
    if (sched_.has_job() || now() < world_.calm_from) continue;
    scan_unowned();
    if (now() >= moves_at) {
      moves_at = milliseconds::max();
      move_sale();
    }
    if (now() >= breaks_at) {
      breaks_at = milliseconds::max();
      world_.calm_from = now();
      net_->break_all();
    }
    if (nodes_.size() == 1 || now() < loses_owner_at) continue;
    lose_owner();
    loses_owner_at = milliseconds::max();
  }
}

// -- what must hold when nothing fails --------------------------------------------------------------------

/// The state of the only serving owner, without frozen processes.
event_state* simulation::serving() {
  event_state* found = nullptr;
  for (auto& n : nodes_) {
    auto* state = n.runs && !n.runs->is_frozen() ? n.runs->serving() : nullptr;
    if (state != nullptr && found != nullptr) check_.fail("I17", "two processes serve the sale");
    if (state != nullptr) found = state;
  }
  return found;
}

/// Runs when no jobs are left and everything should have recovered.
void simulation::scan_unowned() {
  const auto* owner = serving();
  check_served(owner);
  if (owner == nullptr) return;
  check_liveness(*owner);
  if (net_) check_watchers();
  if (!cache_ || now() < next_look_ || now() < world_.calm_from + world_.options.reconciliation_interval)
    return;
  next_look_ = now() + look_interval;
  cache_->check_equal(owner->peek_now());
}

void simulation::check_served(const event_state* owner) {
  if (owner != nullptr) served_at_ = now();
  if (owner != nullptr || (net_ && now() <= std::max(served_at_, world_.calm_from) + on_the_move)) return;
  const auto must_run = store_.aggregates_to_wake({});
  if (std::ranges::find(must_run, sale_aggregate) != must_run.end())
    check_.fail("I13", "the sale must run, and no process runs it");
}

/// Uses the aggregate's own time, which stopped while the ledger was unavailable and must advance now.
void simulation::check_liveness(const event_state& owner) {
  const auto lag = env_.wall_now() - owner.peek_now();
  if (!lag_) lag_ = lag;
  if (lag > *lag_) check_.fail("I13", "the aggregate's time stands still");
  const auto t = env_.wall_now() - lag;
  if (const auto epoch = store_.head(sale_aggregate)->epoch; epoch != epoch_seen_) {
    epoch_seen_ = epoch;
    owned_since_ = t;
  }
  check_.check_liveness(t, owned_since_);
}

void simulation::check_watchers() {
  for (const auto& n : nodes_)
    if (n.runs && !n.runs->is_frozen())
      n.runs->watches().check_calm(n.name, std::max(world_.calm_from, n.awake_since));
}

/// Checks that the owner's memory equals the ledger.
void simulation::check_memory() {
  auto* state = serving();
  if (state == nullptr) return; // passivated
  const auto& memory = *state->peek();
  const auto& counts = memory.queue().counts();
  const auto model = check_.counts();
  if (memory.stock().types() != store_.committed(sale_aggregate)->ticket_types
      || memory.event() != check_.event() || counts.waiting != model.waiting
      || counts.admitted != model.admitted || memory.claims().counts().live != model.claims_live
      || memory.claims().counts().confirmed != model.claims_confirmed
      || memory.payments().open_count() != model.payments_open || memory.orders().all() != check_.orders()
      || memory.promo_codes().all() != store_.committed(sale_aggregate)->promo_codes)
    check_.fail("I11", "the owner's memory is not what the ledger holds");
}

void simulation::check_end() {
  if (steps_ >= steps_max) return check_.fail("I14", "the sale did not come to rest");
  check_.check_end();
  check_memory();
  if (world_.options.has_dispatcher) outbox_.check_end();
  mails_.check_end();
  gateway_.check_end(check_);
}

outcome simulation::run() {
  const auto start = now();
  if (world_.trace) std::cout << describe(world_.options) << "\n";
  run_chaos();
  if (!failed()) begin_quiet();
  if (!failed()) run_quiet();
  if (!failed()) check_end();
  mix(check_.digest());
  outcome result;
  result.virtual_time = now() - start;
  close();
  result.violation = check_.violation();
  result.hash = hash_;
  result.steps = steps_;
  result.sold = check_.sold();
  result.reached = check_.reached();
  return result;
}

} // namespace

outcome run_sale(std::uint64_t seed, bool trace) {
  simulation sale{seed, trace};
  return sale.run();
}

} // namespace fq::sim
