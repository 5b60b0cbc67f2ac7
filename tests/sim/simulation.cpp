// SPDX-License-Identifier: Apache-2.0
#include "domain/seats/plan_text.hpp"
#include "tests/sim/hall.hpp"
#include "tests/sim/log_check.hpp"
#include "tests/sim/sale_simulation.hpp"

namespace fq::sim {

// -- the world --------------------------------------------------------------------------------------------

namespace {

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

session_keys some_keys() {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(0x5a);
  return session_keys{secret_key{bytes}};
}

} // namespace

memory_ledger_options simulation::store_options(bool goes_back) {
  memory_ledger_options o;
  o.faults.on_commit = [this](std::span<const batch> b) { return fault_of(b); };
  o.faults.acquire_fails = [this](aggregate_id) {
    return world_.chaos && chance(world_.rng, world_.options.faults.acquire_unavailable);
  };
  o.on_applied = [this](const batch& b) {
    if (loss_.has_lost()) {
      if (b.aggregate == sale_aggregate) loss_.applied();
      return;
    }
    if (unknown_.erase({b.epoch, b.to_seq}) != 0) check_.reached(rare::unknown_commit_landed_late);
    if (b.aggregate == sale_aggregate) committed_at_ = now();
    check_.applied(b);
    gateway_.applied(b, check_);
    mails_.applied(b);
    outbox_.applied(b);
    access_.applied(b);
    if (cache_) cache_->applied(b);
    if (places_) places_->applied(b);
    if (notices_) notices_->applied(b);
    if (directory_) directory_->applied(b);
    if (letters_) letters_->applied(b);
  };
  o.now = [this] { return world_.ledger_now(); };
  o.sync_each_commit = !goes_back;
  o.skip_epoch_guard = planted(bug::skip_epoch_guard);
  return o;
}

simulation::simulation(const sale_options& options, bool trace) :
    system_(config_),
    sched_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())),
    env_(sched_.clock(), options.seed),
    store_(store_options(options.loss.on)),
    check_(store_, sale_aggregate, options.rules),
    leases_(world_),
    loss_(world_),
    outbox_(world_),
    access_(world_),
    mails_(world_),
    gateway_(world_),
    sessions_(some_keys()) {
  system_.await_actors_before_shutdown(false); // close() reports actors that are left
  sched_.clock().current_time += std::chrono::hours{1};
  started_at_ = now();
  world_.options = options;
  world_.rng.seed(options.seed ^ 0x5151);
  world_.env = &env_;
  world_.check = &check_;
  world_.leases = &leases_;
  world_.loss = &loss_;
  world_.outbox = &outbox_;
  world_.access = &access_;
  world_.gateway = &gateway_;
  world_.store = &store_;
  world_.sessions = &sessions_;
  world_.aggregate = sale_aggregate;
  world_.trace = trace;
  const auto& o = world_.options;
  world_.chaos = false;
  if (o.disk.on) world_.disk = &disk_.emplace(world_, store_);
  if (o.has_cache) world_.mirror = &cache_.emplace(world_);
  if (o.directory.on) world_.directory = &directory_.emplace(world_);
  if (o.mail.on) world_.letters = &letters_.emplace(world_);
  create_event();
  if (o.mesh.on) {
    world_.net = &net_.emplace(world_, system_, sched_.clock());
    world_.places = &places_.emplace(world_);
    world_.edges.resize(o.nodes);
    create_bystanders();
  }
  if (o.has_couriers) {
    world_.notices = &notices_.emplace(world_);
    notices_->create_targets();
    people_.push_back(world_.targets = system_.spawn(sim_targets, &world_));
  }
  world_.regions.resize(o.nodes + (o.faults.twin > 0 ? 1 : 0));
  world_.offices.resize(world_.regions.size());
  world_.process_of = [this](caf::actor_id owner) {
    const auto* of = homes_.of(owner);
    return of == nullptr ? std::string{"?"} : of->name();
  };
  nodes_.reserve(o.nodes); // processes reference their machine's clock
  generator drifts{o.seed ^ 0xd41f7};
  for (std::uint32_t i = 0; i < o.nodes; ++i)
    nodes_.push_back({node_name(i),
                      {sched_.clock(), o.seed + (std::uint64_t{i + 1} << 32), // env_ has seed itself
                       between(drifts, -o.clocks.drift, o.clocks.drift)}});
  for (auto& n : nodes_) start_process(n);
  begin_people();
  homes_.settle(system_.latest_actor_id(), nullptr);
}

void simulation::begin_people() {
  const auto& o = world_.options;
  for (std::uint32_t i = 0; i < o.fans; ++i) people_.push_back(system_.spawn<fan>(&world_, i));
  for (std::uint32_t i = 0; i < o.checkout.late_fans; ++i)
    people_.push_back(
      system_.spawn<fan>(&world_, o.fans + i, o.chaos + between(world_.rng, recovery, last_claims)));
  people_.push_back(system_.spawn(sim_courier, &world_));
  people_.push_back(witness_ = system_.spawn(witness, &check_));
  people_.push_back(system_.spawn(organizer, &world_));
  if (o.checkout.on) people_.push_back(system_.spawn(box_office, &world_));
  if (o.checkout.on) people_.push_back(system_.spawn(gate, &world_));
  if (o.mesh.move > 0) people_.push_back(system_.spawn(mesh_operator, &world_));
  if (o.directory.on) people_.push_back(system_.spawn<clerk>(&world_));
}

simulation::~simulation() { close(); }

/// Ends all actors. An actor that remains has outlived its parent and process.
void simulation::close() {
  if (nodes_.empty()) return;
  world_.calm_from = milliseconds::max();
  for (auto& p : people_) kill(p);
  people_.clear();
  witness_ = nullptr;
  world_.targets = nullptr;
  if (earlier_) end_earlier(true);
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

std::uint64_t simulation::acquire_catalog() {
  return ask_ledger(world_, [](ledger& l) { return l.acquire_unleased(catalog_aggregate, never); })->epoch;
}

/// Does the catalog's work directly in the ledger, without faults.
void simulation::create_event() {
  const auto& o = world_.options;
  world_.chaos = false;
  const auto t = env_.wall_now();
  event_row e;
  e.id = world_.event = env_.make_id(t, sale_aggregate);
  e.aggregate = sale_aggregate;
  e.kind = o.kind;
  e.organizer = world_.organizer = env_.make_id(t, accounts_aggregate);
  e.name = "Simulated sale";
  e.status = event_status::active;
  e.queue_opens_at = t + milliseconds{chance(world_.rng, 200) ? 1'500 : 0};
  if (o.mesh.opens_early) e.queue_opens_at = t - opened_long_ago;
  if (o.lobby.on) {
    e.queue_opens_at = t + o.lobby.length;
    e.lobby.opens_at = t - milliseconds{1};
    e.lobby.draw = o.lobby.draws ? draw_kind::at_opening : draw_kind::none;
    e.lobby.party_max = o.lobby.party_max;
    if (o.lobby.has_beacon) e.lobby.beacon = beacon_kind::announced;
    if (o.lobby.has_beacon) e.lobby.announced = "The lottery's numbers.";
  }
  if (o.kind == event_kind::sale) {
    e.currency = "NGN";
    e.sale_start = e.queue_opens_at + o.sale_delay;
    e.sale_end = t + o.sale_length;
  }
  e.queue = o.queue;
  e.waiting_list = o.waiting_list;
  e.claim_ttl = o.claim_ttl;
  e.claims_per_customer = o.claims_per_customer;
  e.guests = o.checkout.guests > 0;
  e.created_at = e.updated_at = t;
  std::vector<ticket_type_row> types;
  for (std::uint32_t i = 0; i < o.ticket_types + o.access.hidden; ++i) {
    const bool hidden = i >= o.ticket_types;
    const auto price = o.checkout.on && i > 0 ? o.price * 2 : o.price;
    const auto total = hidden ? std::max<std::int64_t>(o.total / 4, 1) : o.total;
    types.push_back(
      {i, env_.make_id(t, sale_aggregate), "Type", price, total, 0, 0, o.max_per_order, true, hidden});
    if (i > 0 && o.type_delay.count() > 0) types.back().sale_from = e.sale_start + o.type_delay;
  }
  if (auto no = validate(e, types)) check_.fail("simulation", "invalid options: " + no.detail);
  world_.draft.kind = event_kind::sale;
  world_.draft.name = "Draft";
  world_.draft.currency = "NGN";
  world_.draft.queue_opens_at = world_.draft.sale_start = t + std::chrono::hours{1};
  world_.draft.sale_end = t + std::chrono::hours{2};
  batch b;
  b.aggregate = catalog_aggregate;
  b.epoch = acquire_catalog();
  b.to_seq = 1;
  b.at = t;
  const auto plan = hall_of(o, types);
  b.content.emplace_back(event_created{std::move(e), std::move(types)});
  ask_ledger(world_, [&](ledger& l) { return l.commit({&b, 1}); });
  if (plan) set_plan(*plan, t);
  world_.chaos = true;
}

/// As the event's organizer.
void simulation::set_plan(const event_plan_row& plan, timestamp t) {
  world_.hall = plan_of_text(plan.content);
  batch b;
  b.aggregate = sale_aggregate;
  b.epoch = ask_ledger(world_, [](ledger& l) { return l.acquire_unleased(sale_aggregate, never); })->epoch;
  b.to_seq = 1;
  b.at = t;
  b.content.emplace_back(std::in_place_type<event_plan_set>, event_plan_set{plan});
  ask_ledger(world_, [&](ledger& l) { return l.commit({&b, 1}); });
}

/// Creates other sales without activity: they give nodes a share to rebalance.
void simulation::create_bystanders() {
  world_.chaos = false;
  for (std::uint32_t i = 0; i < world_.options.mesh.bystanders; ++i) {
    const aggregate_id aggregate{number_of(sale_aggregate) + 1 + i};
    event_row e = check_.event();
    e.kind = event_kind::sale;
    e.currency = "NGN";
    e.aggregate = aggregate;
    e.id = env_.make_id(env_.wall_now(), aggregate);
    e.queue_opens_at = e.sale_start = env_.wall_now() - opened_long_ago;
    e.sale_end = env_.wall_now() + milliseconds{3'600'000};
    world_.bystanders.push_back(aggregate);
    batch b;
    b.aggregate = catalog_aggregate;
    b.epoch = acquire_catalog();
    b.from_seq = i + 1;
    b.to_seq = i + 2;
    b.at = env_.wall_now();
    std::vector<ticket_type_row> types{{0, env_.make_id(b.at, aggregate), "Type", 1, 1, 0, 0, 1, true}};
    b.content.emplace_back(event_created{std::move(e), std::move(types)});
    if (ask_ledger(world_, [&](ledger& l) { return l.commit({&b, 1}); }).front() != commit_outcome::committed)
      check_.fail("simulation", "a bystander was not created");
  }
  world_.chaos = true;
}

// -- processes --------------------------------------------------------------------------------------------

void simulation::start_process(node& n) {
  homes_.settle(system_.latest_actor_id(), nullptr);
  loss_.begun();
  n.runs = std::make_unique<process>(sched_, world_, n.name, n.env);
  homes_.settle(system_.latest_actor_id(), n.runs.get());
  offer(static_cast<std::size_t>(&n - nodes_.data()), n.runs.get());
  if (net_) world_.edges[static_cast<std::size_t>(&n - nodes_.data())] = n.runs->meshed()->edge();
}

/// People ask this process at this place from now on; null: no process answers.
void simulation::offer(std::size_t place, const process* p) {
  world_.regions[place] = p == nullptr ? region_handle{} : p->region();
  world_.offices[place] = p == nullptr ? office_handles{} : p->offered();
}

void simulation::end_process(node& n, bool killed) {
  offer(static_cast<std::size_t>(&n - nodes_.data()), nullptr);
  if (net_) world_.edges[static_cast<std::size_t>(&n - nodes_.data())] = nullptr;
  n.dies_at = n.drained_at = milliseconds{-1};
  loss_.ended();
  n.runs->end(homes_, killed, net_ && strikes(world_.rng, world_.options.mesh.silent_death));
  if (disk_) disk_->end_process(killed);
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
  if (earlier_) tend_earlier();
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
    if (disk_ && disk_->must_end()) stop_process(n, true);
    if (n.runs && n.drained_at >= milliseconds{0} && n.drained_at <= now()) stop_process(n, false);
  }
  if (steps_ % 16 == 0) show_supervisors();
  if (world_.options.small_bounds && steps_ % 4 == 0) check_bounds();
}

void simulation::show_supervisors() {
  for (auto& n : nodes_) {
    const auto s = n.runs ? n.runs->supervisor() : supervisor_handle{};
    if (!s || s.id() == n.watched) continue;
    n.watched = s.id();
    caf::anon_send(witness_, caf::actor_cast<caf::strong_actor_ptr>(s));
  }
}

// -- steps ------------------------------------------------------------------------------------------------

bool simulation::run_job() {
  auto& jobs = sched_.jobs;
  std::swap(jobs.front(), jobs[world_.rng() % jobs.size()]);
  auto& actor = actor_of(jobs.front());
  auto* home = homes_.of(actor.id());
  if (home != nullptr && home->is_frozen()) {
    home->set_aside(jobs.front());
    jobs.pop_front();
    return true;
  }
  if (home != nullptr && home->has_ended()) {
    check_.fail("I14", "an actor outlived its process");
    return false;
  }
  mix(actor.id());
  if (world_.trace)
    if (auto* element = actor.peek_at_next_mailbox_element())
      std::cout << now().count() << " ms  " << actor.name() << "#" << actor.id() << "  "
                << caf::to_string(element->copy_content_to_message()) << "\n";
  const bool ran = sched_.try_run_once();
  homes_.settle(system_.latest_actor_id(), home);
  return ran;
}

bool simulation::step() {
  const bool jobs = sched_.has_job(), timers = sched_.has_pending_timeout();
  if (!jobs && !timers) return false;
  check_.step = ++steps_;
  check_.right_time = env_.wall_now() + world_.ledger_ahead + world_.drift_within(now() - started_at_);
  // In the quiet phase time advances only when no jobs are left.
  const bool time_passes =
    timers && (!jobs || (world_.chaos && world_.rng() % world_.options.steps_per_timer == 0));
  if (!time_passes) return run_job();
  sched_.trigger_timeout();
  mix(static_cast<std::uint64_t>(now().count()));
  return true;
}

void simulation::run_chaos() {
  began_at_ = now();
  while (!failed() && now() - began_at_ < world_.options.chaos && steps_ < steps_max && step()) strike();
}

bool simulation::records_wait() const {
  const auto* notes = store_.committed_notes(sale_aggregate);
  return notes != nullptr && !notes->empty();
}

void simulation::run_quiet() {
  const auto calm = now();
  auto loses_owner_at = calm + recovery + between(world_.rng, milliseconds{0}, milliseconds{4'000});
  auto moves_at = net_ ? calm + recovery : milliseconds::max();
  auto breaks_at = net_ ? moves_at + move_takes : milliseconds::max();
  if (net_) loses_owner_at += move_takes + reconnects_within;
  const auto goes_on = [&] {
    return now() - calm < quiet_span || (records_wait() && now() - calm < quiet_span + log_grows_within);
  };
  while (!failed() && goes_on() && steps_ < steps_max && step()) {
    world_.closing = now() - calm > last_claims;
    tend_nodes();
    if (sched_.has_job() || now() < world_.calm_from || loss_.has_lost()) continue;
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
  result.log = log_files(store_, sale_aggregate);
  close();
  result.violation = check_.violation();
  result.hash = hash_;
  result.steps = steps_;
  result.sold = check_.sold();
  result.reached = check_.reached();
  return result;
}

outcome run_sale(const sale_options& o, bool trace) {
  simulation sale{o, trace};
  return sale.run();
}

outcome run_sale(std::uint64_t seed, bool trace) { return run_sale(options_of(seed), trace); }

} // namespace fq::sim
