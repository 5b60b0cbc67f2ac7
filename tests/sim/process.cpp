// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/process.hpp"

#include "tests/sim/edge.hpp"
#include "tests/sim/origin.hpp"
#include "tests/sim/outbox.hpp"

#include "actors/base/supervisor.hpp"
#include "actors/outbox/dispatcher.hpp"
#include "actors/sale/event_actor.hpp"
#include "actors/storage/ledger_worker.hpp"
#include "actors/storage/session_reader.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

namespace fq::sim {
namespace {

/// The state of a living typed actor of this process. Called at every step: without a dynamic_cast, which
/// took a fifth of a sale's time.
template <class State, class Handle>
State* state_of(const Handle& handle) {
  auto* actor = static_cast<typename Handle::template stateful_pointer<State>>(
    caf::actor_cast<caf::abstract_actor*>(handle));
  return actor == nullptr || actor->getf(caf::abstract_actor::is_terminated_flag) ? nullptr : &actor->state;
}

} // namespace

process::process(caf::scheduler::test_coordinator& sched, world& w, std::string node, sim_environment& env) :
    sched_(sched), world_(w), connection_(w, node), channel_(w), mail_port_(w) {
  auto& system = sched.system();
  const auto& o = w.options;
  const auto doubt = o.mesh.on ? std::make_shared<lease_doubt>() : nullptr;
  ledger_worker_settings settings{
    .memory = memory_, .doubt = doubt, .prune_interval = milliseconds{3'600'000}};
  if (o.lease_term.count() > 0) settings.lease = {node, o.lease_term};
  worker_ = system.spawn(ledger_worker, static_cast<ledger*>(&connection_), static_cast<environment*>(&env),
                         std::move(settings));
  caf::actor_config config{system.dummy_execution_unit()};
  link_ = caf::make_actor<slow_link, caf::actor>(system.next_actor_id(), system.node(), &system, config,
                                                 caf::actor_cast<caf::strong_actor_ptr>(worker_), &w,
                                                 &sched.clock(), true);
  const ledger_workers ledgers{caf::actor_cast<ledger_worker_handle>(link_)};
  gateway_worker_ = system.spawn(sim_gateway_worker, &w);
  payments_.env = &env;
  payments_.gateways.emplace("sim", gateway_worker_);
  payments_.retry = {3, milliseconds{50}, milliseconds{400}};
  payments_.failures_to_open = 5;
  payments_.open_for = milliseconds{800};
  payments_.answer_timeout = milliseconds{1'500};
  payments_actor_ = system.spawn(payments, &payments_);
  owners_ = {.env = &env,
             .sessions = w.sessions,
             .ledgers = ledgers,
             .payments = payments_actor_,
             .rules = o.rules,
             .idle_after = o.idle_after,
             .reconciliation_interval = o.reconciliation_interval,
             .memory = memory_,
             .takeover_interval = o.takeover_interval,
             .has_cluster = o.mesh.on,
             .statistics_step = o.statistics_step,
             .bounds = o.bounds};
  if (o.has_origins) owners_.vouch_interval = milliseconds{500};
  if (o.people.blocks > 0)
    owners_.blocked_at = [&w](tenant_id, const organizer_id&) {
      return blocked_customers{w.blocked, nullptr};
    };
  owners_.rules.pace = std::make_shared<refund_pace>([&env] { return env.steady_now(); });
  if (w.mirror != nullptr) {
    owners_.cache = system.spawn(cache_worker, w.mirror, owners_.env, &metrics_);
    others_.push_back(caf::actor_cast<caf::actor>(owners_.cache));
  }
  if (o.has_dispatcher) spawn_consumers(ledgers);
  region_ = system.spawn(
    fq::region, &owners_,
    restart_budget{o.restarts_in_budget, milliseconds{20'000}, milliseconds{20}, milliseconds{1'000}});
  mail_.region = region_;
  if (o.directory.on) office_.emplace(w, system, env, ledgers);
  if (o.mesh.on) mesh_.emplace(w, system, node, *this, owners_, region_, offered(), doubt);
  if (o.has_origins) spawn_origin(node, env);
}

void process::spawn_consumers(const ledger_workers& ledgers) {
  auto& system = sched_.system();
  for (const auto which : {lane::mail, lane::notices}) { // no bus here: that lane stays empty
    const auto consumer = spawn_consumer(which, ledgers);
    others_.push_back(caf::actor_cast<caf::actor>(consumer));
    others_.push_back(
      caf::actor_cast<caf::actor>(system.spawn(dispatcher, ledgers, consumer, dispatcher_settings{which})));
  }
}

consumer_handle process::spawn_consumer(lane which, const ledger_workers& ledgers) {
  auto& system = sched_.system();
  if (which == lane::notices && world_.options.has_couriers) return spawn_couriers(ledgers);
  if (which != lane::mail || !world_.options.mail.on) return system.spawn(sim_consumer, &world_, which);
  mail_ = mail_services_of(*owners_.env, mail_port_);
  return system.spawn(mail_consumer, static_cast<const mail_consumer_services*>(&mail_));
}

void process::spawn_origin(const std::string& node, sim_environment& env) {
  auto& system = sched_.system();
  session_reader_handle reader;
  if (world_.mirror != nullptr) {
    reader = system.spawn(session_reader, world_.mirror, owners_.env);
    others_.push_back(caf::actor_cast<caf::actor>(reader));
  }
  others_.push_back(caf::actor_cast<caf::actor>(
    system.spawn<origin>(&world_, node, static_cast<environment*>(&env), region_, reader)));
}

/// Returns the fan-out.
consumer_handle process::spawn_couriers(const ledger_workers& ledgers) {
  auto& system = sched_.system();
  for (const auto way : {channel::webhook, channel::fcm}) {
    auto& services = couriers_.emplace_back();
    services.env = owners_.env;
    services.ledgers = ledgers;
    services.way = way;
    services.port = &channel_;
    services.max_in_flight = 4;
    services.visibility_timeout = milliseconds{4'000};
    others_.push_back(
      caf::actor_cast<caf::actor>(system.spawn(courier, static_cast<const courier_services*>(&services))));
  }
  fan_out_.ledgers = ledgers;
  return system.spawn(fan_out, static_cast<const fan_out_services*>(&fan_out_));
}

supervisor_handle process::supervisor(aggregate_id aggregate) const {
  auto* r = state_of<region_state>(region_);
  return r == nullptr ? supervisor_handle{} : r->find(aggregate);
}

/// All supervisors, also those of events that moved away.
std::vector<supervisor_handle> process::supervisors() const {
  std::vector<supervisor_handle> all;
  for (const auto aggregate : world_.store->aggregates())
    if (auto s = supervisor(aggregate)) all.push_back(s);
  if (const auto* r = state_of<region_state>(region_))
    for (const auto& [address, s] : r->leaving()) all.push_back(s);
  return all;
}

const watcher& process::watches() const {
  return dynamic_cast<const edge&>(*caf::actor_cast<caf::abstract_actor*>(mesh_->edge())).watches();
}

event_handle process::owner() const {
  const auto s = supervisor();
  auto* state = s ? state_of<supervisor_state>(s) : nullptr;
  return state == nullptr ? event_handle{} : state->owner();
}

event_state* process::serving() const {
  const auto e = owner();
  auto* state = e ? state_of<event_state>(e) : nullptr;
  return state == nullptr || state->peek() == nullptr ? nullptr : state;
}

caf::actor process::some_global() {
  if (office_ && chance(world_.rng, 500)) return office_->some_owner();
  return chance(world_.rng, 500) ? caf::actor_cast<caf::actor>(payments_actor_)
                                 : caf::actor_cast<caf::actor>(worker_);
}

owner_bounds process::used() const {
  owner_bounds all{0, 0, 0, 0, 0, 0};
  if (const auto* owner = serving()) all = owner->peek_used();
  if (const auto* r = state_of<region_state>(region_)) {
    const auto waiting = r->peek_used(world_.aggregate);
    all.loading = waiting.loading;
    all.moving = waiting.moving;
  }
  return all;
}

void process::go_on() {
  frozen_until_ = milliseconds{-1};
  sched_.jobs.insert(sched_.jobs.end(), set_aside_.begin(), set_aside_.end());
  set_aside_.clear();
}

/// Runs only `victim` until it is dead. `look` may meanwhile find its last child. A victim that has not run
/// yet may still create children before it dies.
template <class Look>
void process::finish(homes& h, const caf::actor& victim, Look look) {
  caf::anon_send_exit(victim, caf::exit_reason::kill);
  look();
  while (sched_.prioritize(victim)) {
    sched_.try_run_once();
    h.settle(sched_.system().latest_actor_id(), this);
    look();
  }
}

/// An actor of this process whose parent is dead and which does not know it yet.
caf::actor process::somebody_left(const homes& h) const {
  for (auto* job : sched_.jobs)
    if (h.of(actor_of(job).id()) == this) return caf::actor_cast<caf::actor>(actor_of(job).address());
  return {};
}

void process::end_owner(homes& h, const supervisor_handle& of) {
  event_handle last_owner;
  finish(h, caf::actor_cast<caf::actor>(of), [&] {
    auto* state = state_of<supervisor_state>(of);
    if (state != nullptr && state->owner()) last_owner = state->owner();
  });
  if (last_owner) finish(h, caf::actor_cast<caf::actor>(last_owner), [] {});
}

void process::end(homes& h, bool killed, bool is_silent) {
  go_on();
  if (killed) connection_.cut();
  if (killed && mesh_) mesh_->leave(is_silent);
  std::map<caf::actor_id, supervisor_handle> last;
  finish(h, caf::actor_cast<caf::actor>(region_), [&] {
    for (const auto& s : supervisors()) last[s.id()] = s;
  });
  for (const auto& [id, supervisor] : last) end_owner(h, supervisor);
  if (mesh_)
    for (const auto& each : mesh_->actors()) others_.push_back(each);
  if (office_)
    for (const auto& each : office_->actors()) others_.push_back(each);
  others_.push_back(caf::actor_cast<caf::actor>(worker_));
  others_.push_back(caf::actor_cast<caf::actor>(gateway_worker_));
  others_.push_back(caf::actor_cast<caf::actor>(payments_actor_));
  for (const auto& victim : others_) finish(h, victim, [] {});
  while (auto orphan = somebody_left(h)) finish(h, orphan, [] {});
  if (!killed && mesh_) mesh_->leave(false);
  if (mesh_) mesh_->forget();
  if (office_) office_->forget();
  others_.clear();
  worker_ = nullptr;
  link_ = nullptr;
  gateway_worker_ = nullptr;
  payments_actor_ = nullptr;
  region_ = nullptr;
  payments_.gateways.clear();
  owners_.ledgers.clear();
  fan_out_.ledgers.clear();
  mail_.region = nullptr;
  for (auto& c : couriers_) c.ledgers.clear();
  owners_.payments = nullptr;
  owners_.cache = nullptr;
}

} // namespace fq::sim
