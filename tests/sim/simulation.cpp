// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include "fan.hpp"
#include "slow_link.hpp"

#include "actors/event_actor.hpp"
#include "actors/ledger_worker.hpp"
#include "actors/payments.hpp"
#include "actors/region.hpp"
#include "actors/supervisor.hpp"
#include "domain/planted.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <iostream>
#include <optional>

namespace fq::sim {
namespace {

constexpr aggregate_id sale_aggregate = first_event_aggregate;
constexpr milliseconds recovery{16'000};    ///< after faults stop: back-off, cool-down, reload, resubmission
constexpr milliseconds last_claims{22'000}; ///< after faults stop, fans begin nothing new
constexpr milliseconds quiet_span{48'000};
constexpr std::uint64_t steps_max = 400'000;

/// The memory ledger, with the outcomes told to the checker.
class watched_ledger final : public ledger {
public:
  watched_ledger(memory_ledger& inner, checker& check) : inner_(inner), check_(check) {}

  std::vector<commit_outcome> commit(std::span<const batch> batches) override {
    auto outcomes = inner_.commit(batches);
    for (std::size_t i = 0; i < batches.size(); ++i)
      if (batches[i].aggregate == sale_aggregate) check_.settled(batches[i], outcomes[i]);
    return outcomes;
  }
  std::optional<acquired> acquire(aggregate_id aggregate, timestamp since) override {
    auto got = inner_.acquire(aggregate, since);
    if (got && aggregate == sale_aggregate) check_.epoch_raised(got->epoch);
    return got;
  }
  std::vector<event_listing> list_events(const event_filter& f) override { return inner_.list_events(f); }
  std::vector<aggregate_id> aggregates_to_wake() override { return inner_.aggregates_to_wake(); }
  aggregate_id last_aggregate() override { return inner_.last_aggregate(); }
  std::vector<history_row> history(aggregate_id a) override { return inner_.history(a); }
  aggregate_image peek(aggregate_id a) override { return inner_.peek(a); }
  std::size_t prune(timestamp i, timestamp r, std::size_t n) override { return inner_.prune(i, r, n); }

private:
  memory_ledger& inner_;
  checker& check_;
};

struct test_config : caf::actor_system_config {
  test_config() {
    add_message_types<caf::id_block::fairqueue>();
    set("scheduler.policy", caf::atom("testing"));
    set("logger.verbosity", caf::atom("quiet"));
  }
};

/// The organizer: pauses and resumes, changes numbers, sometimes ends or cancels the sale.
caf::behavior organizer(caf::event_based_actor* self, world* w);

/// Learns how supervisors ended.
caf::behavior witness(caf::event_based_actor* self, checker* check) {
  self->set_down_handler([check](const caf::down_msg& down) {
    if (is(down.reason, errc::unavailable)) check->reached(rare::restart_budget_spent);
    if (down.reason == caf::exit_reason::user_shutdown) check->reached(rare::passivated);
  });
  return {[self](const caf::strong_actor_ptr& supervisor) {
    self->monitor(caf::actor_cast<caf::actor>(supervisor));
  }};
}

/// State of a living typed actor.
template <class Handle, class State>
State* state_of(const Handle& handle) {
  auto* actor = dynamic_cast<std::remove_pointer_t<typename Handle::template stateful_pointer<State>>*>(
      caf::actor_cast<caf::abstract_actor*>(handle));
  return actor == nullptr || actor->getf(caf::abstract_actor::is_terminated_flag) ? nullptr : &actor->state;
}

/// What one process of the server consists of.
struct process {
  owner_services owners;
  payments_services payments;
  ledger_worker_handle worker;
  caf::actor link;
  gateway_worker_handle gateway_worker;
  payments_handle payments_actor;
  region_handle region;
};

class simulation {
public:
  simulation(std::uint64_t seed, bool trace);
  ~simulation();
  outcome run();

private:
  void close();
  void create_event();
  void start_process();
  void end_process();
  template <class Look>
  void finish(const caf::actor& victim, Look look);
  void crash_process();
  bool step();
  bool run_job();
  void raise_epoch();
  void strike(); ///< perhaps a fault, between two steps
  void kill(const caf::actor& victim) { caf::anon_send_exit(victim, caf::exit_reason::kill); }
  [[nodiscard]] supervisor_handle supervisor() const;
  [[nodiscard]] event_handle owner() const;
  commit_fault fault_of(std::span<const batch> batches);
  void mix(std::uint64_t x) { hash_ ^= x + 0x9e3779b97f4a7c15ull + (hash_ << 6) + (hash_ >> 2); }
  [[nodiscard]] milliseconds now() { return env_.steady_now(); }
  void show_supervisor();
  void check_liveness();
  void check_memory();
  void begin_quiet();
  [[nodiscard]] bool failed() const { return !check_.violation().empty(); }
  bool per_100000(std::uint32_t rate) { return rate != 0 && world_.rng() % 100'000 < rate; }

  test_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& sched_;
  sim_environment env_;
  world world_;
  memory_ledger store_;
  checker check_;
  watched_ledger ledger_;
  gateway_books gateway_;
  session_keys sessions_;
  std::vector<std::unique_ptr<process>>
      processes_; ///< earlier ones stay: late messages may still look at their services
  std::vector<caf::actor> people_;
  caf::actor witness_;
  std::optional<milliseconds> lag_; ///< of the aggregate's time when the quiet phase has settled
  caf::actor_id watched_ = 0; ///< the supervisor that the witness has been shown last
  milliseconds process_dies_at_{-1};
  std::uint64_t hash_ = 0, steps_ = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> unknown_; ///< (epoch, to_seq) of commits left in the air
};

memory_ledger_options store_options(std::function<commit_fault(std::span<const batch>)> on_commit,
                                    std::function<bool(aggregate_id)> acquire_fails,
                                    std::function<void(const batch&)> on_applied) {
  memory_ledger_options o;
  o.faults.on_commit = std::move(on_commit);
  o.faults.acquire_fails = std::move(acquire_fails);
  o.on_applied = std::move(on_applied);
  o.skip_epoch_guard = planted(bug::skip_epoch_guard);
  return o;
}

session_keys some_keys() {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(0x5a);
  return session_keys{secret_key{bytes}};
}

simulation::simulation(std::uint64_t seed, bool trace)
    : system_(config_),
      sched_(dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())),
      env_(sched_.clock(), seed),
      store_(store_options([this](std::span<const batch> b) { return fault_of(b); },
                           [this](aggregate_id) {
                             return world_.chaos
                                    && chance(world_.rng, world_.options.faults.acquire_unavailable);
                           },
                           [this](const batch& b) {
                             if (unknown_.erase({b.epoch, b.to_seq}) != 0)
                               check_.reached(rare::unknown_commit_landed_late);
                             check_.applied(b);
                           })),
      check_(store_, sale_aggregate, options_of(seed).rules.verdict_grace),
      ledger_(store_, check_),
      gateway_(world_),
      sessions_(some_keys()) {
  system_.await_actors_before_shutdown(false); // close() looks for who is left
  sched_.clock().current_time += std::chrono::hours{1};
  world_.options = options_of(seed);
  world_.rng.seed(seed ^ 0x5151);
  world_.env = &env_;
  world_.check = &check_;
  world_.gateway = &gateway_;
  world_.sessions = &sessions_;
  world_.aggregate = sale_aggregate;
  world_.trace = trace;
  create_event();
  start_process();
  const auto& o = world_.options;
  for (std::uint32_t i = 0; i < o.fans; ++i) people_.push_back(system_.spawn<fan>(&world_, i));
  people_.push_back(system_.spawn(sim_courier, &world_));
  people_.push_back(witness_ = system_.spawn(witness, &check_));
  if (o.organizer_acts) people_.push_back(system_.spawn(organizer, &world_));
}

simulation::~simulation() { close(); }

/// Ends everybody. Whoever is still there then has outlived parent and process.
void simulation::close() {
  if (processes_.empty()) return;
  for (auto& p : people_) kill(p);
  people_.clear();
  witness_ = nullptr;
  world_.region = nullptr;
  end_process();
  sched_.clock().cancel_all();
  while (sched_.has_job()) sched_.try_run_once();
  processes_.clear();
  if (system_.registry().running() != 0)
    check_.fail("I14", "an actor outlived its supervisor and its process");
}

/// As the catalog would, through the ledger, without faults.
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
  e.sale_start = e.queue_opens_at;
  e.sale_end = t + o.sale_length;
  e.queue = o.queue;
  e.claim_ttl = o.claim_ttl;
  e.claims_per_customer = o.claims_per_customer;
  e.created_at = e.updated_at = t;
  std::vector<ticket_type_row> types;
  for (std::uint32_t i = 0; i < o.ticket_types; ++i) {
    types.push_back({i, env_.make_id(t, sale_aggregate), "Type", o.price, o.total, 0, 0, 2, true});
    world_.ticket_types.push_back(types.back().id);
  }
  if (auto no = validate(e, types)) check_.fail("simulation", "invalid options: " + no.detail);
  batch b;
  b.aggregate = catalog_aggregate;
  b.epoch = store_.acquire(catalog_aggregate, never)->epoch;
  b.to_seq = 1;
  b.at = t;
  b.content.emplace_back(event_created{std::move(e), std::move(types)});
  ledger_.commit(std::span{&b, 1});
  world_.chaos = true;
}

// -- processes --------------------------------------------------------------------------------------------

void simulation::start_process() {
  auto p = std::make_unique<process>();
  p->worker = system_.spawn(ledger_worker, static_cast<ledger*>(&ledger_), static_cast<environment*>(&env_),
                            milliseconds{3'600'000});
  caf::actor_config config{system_.dummy_execution_unit()};
  p->link = caf::make_actor<slow_link, caf::actor>(system_.next_actor_id(), system_.node(), &system_, config,
                                                   caf::actor_cast<caf::strong_actor_ptr>(p->worker), &world_,
                                                   &sched_.clock(), true);
  p->gateway_worker = system_.spawn(sim_gateway_worker, &world_);
  p->payments.env = &env_;
  p->payments.gateways.emplace("sim", p->gateway_worker);
  p->payments.retry = {3, milliseconds{50}, milliseconds{400}};
  p->payments.failures_to_open = 5;
  p->payments.open_for = milliseconds{800};
  p->payments.answer_timeout = milliseconds{1'500};
  p->payments_actor = system_.spawn(payments, &p->payments);
  p->owners = {.env = &env_,
               .sessions = &sessions_,
               .ledger = caf::actor_cast<ledger_worker_handle>(p->link),
               .payments = p->payments_actor,
               .rules = world_.options.rules,
               .idle_after = world_.options.idle_after};
  p->region = system_.spawn(region, &p->owners,
                            restart_budget{world_.options.restarts_in_budget, milliseconds{20'000},
                                           milliseconds{20}, milliseconds{1'000}});
  world_.region = p->region;
  processes_.push_back(std::move(p));
}

/// Runs only `victim` until it is dead; what `look` finds meanwhile may be its last child.
template <class Look>
void simulation::finish(const caf::actor& victim, Look look) {
  kill(victim);
  look();
  while (sched_.prioritize(victim)) {
    sched_.try_run_once();
    look();
  }
}

/// Every actor of the process is gone before anything else runs, parents before children.
void simulation::end_process() {
  auto& p = *processes_.back();
  supervisor_handle last_supervisor;
  event_handle last_owner;
  finish(caf::actor_cast<caf::actor>(p.region), [&] {
    if (auto s = supervisor()) last_supervisor = s;
  });
  if (last_supervisor)
    finish(caf::actor_cast<caf::actor>(last_supervisor), [&] {
      auto* state = state_of<supervisor_handle, supervisor_state>(last_supervisor);
      if (state != nullptr && state->owner()) last_owner = state->owner();
    });
  std::vector<caf::actor> others{caf::actor_cast<caf::actor>(p.worker),
                                 caf::actor_cast<caf::actor>(p.gateway_worker),
                                 caf::actor_cast<caf::actor>(p.payments_actor)};
  if (last_owner) others.push_back(caf::actor_cast<caf::actor>(last_owner));
  for (const auto& victim : others) finish(victim, [] {});
  p.worker = nullptr;
  p.link = nullptr;
  p.gateway_worker = nullptr;
  p.payments_actor = nullptr;
  p.region = nullptr;
  p.payments.gateways.clear();
  p.owners.ledger = nullptr;
  p.owners.payments = nullptr;
}

void simulation::crash_process() {
  check_.reached(rare::process_crashed);
  process_dies_at_ = milliseconds{-1};
  end_process();
  start_process();
}

supervisor_handle simulation::supervisor() const {
  auto* r = state_of<region_handle, region_state>(processes_.back()->region);
  return r == nullptr ? supervisor_handle{} : r->find(sale_aggregate);
}

event_handle simulation::owner() const {
  const auto s = supervisor();
  auto* state = s ? state_of<supervisor_handle, supervisor_state>(s) : nullptr;
  return state == nullptr ? event_handle{} : state->owner();
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
  if (chance(rng, f.commit_applied_unknown)) return {commit_fault::kind::unknown_applied, 0};
  if (chance(rng, f.commit_lost_unknown)) return {commit_fault::kind::unknown_lost, 0};
  if (chance(rng, f.commit_late)) return in_air(commit_fault::kind::unknown_late);
  if (chance(rng, f.commit_delayed)) return in_air(commit_fault::kind::unknown_delayed);
  return {};
}

/// Another node takes the aggregate over and is gone again.
void simulation::raise_epoch() {
  try {
    const auto taken = ledger_.acquire(sale_aggregate, never);
    check_.rival_took(taken->epoch);
  } catch (const ledger_unavailable&) {} // not this time
}

void simulation::strike() {
  const auto& f = world_.options.faults;
  if (steps_ % 16 == 0) show_supervisor();
  if (process_dies_at_ >= milliseconds{0} && now() >= process_dies_at_) return crash_process();
  if (per_100000(f.kill_owner))
    if (auto e = owner()) kill(caf::actor_cast<caf::actor>(e));
  if (per_100000(f.kill_supervisor))
    if (auto s = supervisor()) kill(caf::actor_cast<caf::actor>(s));
  if (per_100000(f.kill_payments) && process_dies_at_ < milliseconds{0}) {
    // A global actor ends only by a defect; the root sees it and the process ends, a little later.
    auto& p = *processes_.back();
    kill(chance(world_.rng, 500) ? caf::actor_cast<caf::actor>(p.payments_actor)
                                 : caf::actor_cast<caf::actor>(p.worker));
    process_dies_at_ = now() + between(world_.rng, milliseconds{0}, milliseconds{50});
  }
  if (per_100000(f.rival_owner)) raise_epoch();
  if (per_100000(f.gateway_outage))
    gateway_.down_until = now() + between(world_.rng, milliseconds{500}, milliseconds{6'000});
  if (f.wall_clock_jumps && per_100000(20))
    env_.skew = -between(world_.rng, milliseconds{0}, milliseconds{5'000});
  if (per_100000(f.crash_process)) crash_process();
}

// -- steps ------------------------------------------------------------------------------------------------

bool simulation::run_job() {
  auto& jobs = sched_.jobs;
  std::swap(jobs.front(), jobs[world_.rng() % jobs.size()]);
  if (auto* actor = dynamic_cast<caf::scheduled_actor*>(jobs.front())) {
    mix(actor->id());
    if (world_.trace)
      if (auto* element = actor->peek_at_next_mailbox_element())
        std::cout << now().count() << " ms  " << actor->name() << "#" << actor->id() << "  "
                  << caf::to_string(element->copy_content_to_message()) << "\n";
  }
  return sched_.try_run_once();
}

bool simulation::step() {
  const bool jobs = sched_.has_job(), timers = sched_.has_pending_timeout();
  if (!jobs && !timers) return false;
  check_.step = ++steps_;
  // In the quiet phase nothing lags: time goes on when nobody has work.
  const bool time_passes =
      timers && (!jobs || (world_.chaos && world_.rng() % world_.options.steps_per_timer == 0));
  if (!time_passes) return run_job();
  sched_.trigger_timeout();
  mix(static_cast<std::uint64_t>(now().count()));
  return true;
}

void simulation::show_supervisor() {
  const auto s = supervisor();
  if (!s || s.id() == watched_) return;
  watched_ = s.id();
  caf::anon_send(witness_, caf::actor_cast<caf::strong_actor_ptr>(s));
}

/// By the aggregate's own time, which stood still while the ledger was away and must go on now.
void simulation::check_liveness() {
  const auto e = owner();
  auto* state = e ? state_of<event_handle, event_state>(e) : nullptr;
  const auto time = state == nullptr ? never : state->peek_now();
  const auto lag = is_set(time) ? env_.wall_now() - time : milliseconds{0};
  if (!lag_) lag_ = lag;
  if (lag > *lag_) check_.fail("I13", "the aggregate's time stands still");
  check_.check_liveness(env_.wall_now() - lag);
}

/// What the owner remembers is what the ledger holds.
void simulation::check_memory() {
  const auto e = owner();
  auto* state = e ? state_of<event_handle, event_state>(e) : nullptr;
  const auto* memory = state == nullptr ? nullptr : state->peek();
  if (memory == nullptr) return; // passivated
  const auto& counts = memory->queue().counts();
  const auto model = check_.counts();
  if (memory->stock().types() != store_.committed(sale_aggregate)->ticket_types
      || memory->event() != check_.event() || counts.waiting != model.waiting
      || counts.admitted != model.admitted || memory->claims().counts().live != model.claims_live
      || memory->claims().counts().confirmed != model.claims_confirmed
      || memory->payments().open_count() != model.payments_open)
    check_.fail("I11", "the owner's memory is not what the ledger holds");
}

void simulation::begin_quiet() {
  world_.chaos = false;
  store_.settle();
  const bool skewed = env_.skew != milliseconds{0};
  env_.skew = milliseconds{0};
  gateway_.down_until = milliseconds{0};
  if (process_dies_at_ >= milliseconds{0} || skewed || world_.options.faults.wall_clock_jumps
      || chance(world_.rng, 300))
    crash_process();
}

outcome simulation::run() {
  const auto start = now();
  if (world_.trace) std::cout << describe(world_.options) << "\n";
  while (!failed() && now() - start < world_.options.chaos && steps_ < steps_max && step()) strike();
  if (!failed()) begin_quiet();
  const auto calm = now();
  while (!failed() && now() - calm < quiet_span && steps_ < steps_max && step()) {
    world_.closing = now() - calm > last_claims;
    if (steps_ % 16 == 0) show_supervisor();
    if (!sched_.has_job() && now() - calm > recovery) check_liveness();
  }
  if (!failed() && steps_ >= steps_max) check_.fail("I14", "the sale did not come to rest");
  if (!failed()) check_.check_end();
  if (!failed()) check_memory();
  if (!failed()) gateway_.check_end(check_);
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

// -- the organizer ----------------------------------------------------------------------------------------

template <class Message>
void ask_owner(caf::event_based_actor* self, world* w, Message message) {
  self->request(w->region, seconds{5}, resolve_event{w->aggregate})
      .then(
          [=](const event_handle& owner) {
            self->request(owner, seconds{5}, message).then([](const event_reply&) {}, [](caf::error&) {});
          },
          [](caf::error&) {});
}

event_patch some_patch(world* w) {
  event_patch p;
  const auto& now = w->check->event();
  if (chance(w->rng, 500)) {
    ticket_type_patch t;
    t.id = w->ticket_types[w->rng() % w->ticket_types.size()];
    t.total = {true, between(w->rng, 1, 20)};
    p.ticket_types.push_back(t);
  } else if (now.queue.concurrency != 0) {
    p.concurrency = {true, static_cast<std::uint32_t>(between(w->rng, 1, 10))};
  } else {
    p.batch_size = {true, static_cast<std::uint32_t>(between(w->rng, 1, 8))};
  }
  return p;
}

caf::behavior organizer(caf::event_based_actor* self, world* w) {
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::sweep, 0});
  return {[=](const timer_fired&) {
    self->delayed_send(self, between(w->rng, milliseconds{300}, milliseconds{3'000}),
                       timer_fired{timer_kind::sweep, 0});
    const auto& o = w->options;
    const auto turn = [=](event_trigger t) { ask_owner(self, w, turn_event{w->event, w->organizer, t}); };
    if (w->check->event().status == event_status::paused) return turn(event_trigger::resume);
    if (!w->chaos) return;
    if (o.organizer_may_end && chance(w->rng, 40)) return turn(event_trigger::end);
    if (o.organizer_may_cancel && chance(w->rng, 60)) return turn(event_trigger::cancel);
    if (chance(w->rng, 250)) return turn(event_trigger::pause);
    ask_owner(self, w, patch_event{w->event, w->organizer, some_patch(w)});
  }};
}

} // namespace

outcome run_sale(std::uint64_t seed, bool trace) {
  simulation sale{seed, trace};
  return sale.run();
}

} // namespace fq::sim
