// SPDX-License-Identifier: Apache-2.0
// Faults of the simulation: of processes, nodes, the ledger and the network.
#include "tests/sim/sale_simulation.hpp"

namespace fq::sim {

// -- faults -----------------------------------------------------------------------------------------------

commit_fault simulation::fault_of(std::span<const batch> batches) {
  if (!world_.chaos || disk_) return {};
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

/// A tool or a node that ignores leases takes the aggregate over and leaves; sometimes accounts and catalog.
void simulation::raise_epoch() {
  try {
    if (directory_ && chance(world_.rng, 500)) {
      const auto office = chance(world_.rng, 500) ? accounts_aggregate : catalog_aggregate;
      world_.rival_epochs[office] = store_.acquire_unleased(office, never)->epoch;
      return;
    }
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

/// A second process begins under the name of a living one, which is not told: a host that is cut off from
/// its scheduler, or a copied data folder. The earlier one may be frozen or cut off meanwhile.
void simulation::start_twin(node& n) {
  if (earlier_ || !n.runs->has_begun() || n.dies_at >= milliseconds{0}) return;
  auto& rng = world_.rng;
  const auto term = world_.options.lease_term;
  earlier_ = std::move(n.runs);
  earlier_->rename(n.name + std::to_string(++twins_));
  leases_.has_twin(n.name, earlier_->name());
  offer(world_.regions.size() - 1, earlier_.get());
  start_process(n);
  if (chance(rng, 400)) earlier_->freeze(now() + between(rng, term / 2, term * 3));
  if (chance(rng, 300)) earlier_->cut_from_ledger(now() + between(rng, term / 2, term * 3));
  earlier_ends_at_ = chance(rng, 600) ? now() + between(rng, term, term * 6) : milliseconds::max();
  check_.reached(rare::twin_began);
}

void simulation::tend_earlier() {
  if (earlier_->is_frozen() && earlier_->frozen_until() <= now()) earlier_->go_on();
  if (earlier_ends_at_ <= now()) end_earlier(chance(world_.rng, 300));
}

void simulation::end_earlier(bool killed) {
  offer(world_.regions.size() - 1, nullptr);
  earlier_->end(homes_, killed);
  ended_.push_back(std::move(earlier_));
}

/// The ledger goes back; then a process ends, on two nodes for good and if possible the one that serves.
void simulation::tend_ledger() {
  const auto& l = world_.options.loss;
  const auto t = now() - began_at_;
  if (t >= l.kept_at && !std::exchange(is_kept_, true)) store_.sync();
  if (t >= l.back_at && !std::exchange(has_gone_back_, true)) {
    store_.crash();
    loss_.went_back();
  }
  if (t < l.ends_at || !loss_.has_lost() || std::exchange(has_ended_one_, true)) return;
  const auto serves =
    std::ranges::find_if(nodes_, [](const node& x) { return x.runs->serving() != nullptr; });
  auto& victim = serves == nodes_.end() ? nodes_.front() : *serves;
  end_process(victim, true);
  victim.back_at = nodes_.size() > 1 ? milliseconds::max() : now();
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

/// A step of some seconds, or of an hour; or back to the right time.
milliseconds simulation::clock_step() {
  auto& rng = world_.rng;
  if (chance(rng, 250)) return milliseconds{0};
  const auto span =
    chance(rng, 400) ? milliseconds{3'600'000} : between(rng, milliseconds{100}, milliseconds{5'000});
  return chance(rng, 500) ? span : -span;
}

void simulation::step_clocks() {
  const auto& c = world_.options.clocks;
  if (per_100000(c.node_steps)) {
    nodes_[world_.rng() % nodes_.size()].env.skew = clock_step();
    check_.reached(rare::node_clock_stepped);
  }
  if (!per_100000(c.ledger_steps)) return;
  world_.ledger_skew = clock_step();
  world_.ledger_ahead = std::max(world_.ledger_ahead, world_.ledger_skew);
  check_.reached(rare::ledger_clock_stepped);
}

void simulation::strike() {
  const auto& f = world_.options.faults;
  tend_nodes();
  if (auto& n = nodes_[world_.rng() % nodes_.size()]; n.runs) strike(n);
  if (per_100000(f.rival_owner)) raise_epoch();
  if (f.twin > 0)
    if (auto& n = nodes_[world_.rng() % nodes_.size()]; n.runs && per_100000(f.twin)) start_twin(n);
  if (per_100000(f.gateway_outage))
    gateway_.down_until = now() + between(world_.rng, milliseconds{500}, milliseconds{6'000});
  if (world_.options.loss.on) tend_ledger();
  if (disk_) disk_->strike();
  step_clocks();
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
  if (disk_) disk_->calm();
  gateway_.down_until = world_.options.faults.gateway_stays_away ? now() + gateway_away : milliseconds{0};
  if (net_) net_->heal();
  if (earlier_) {
    earlier_->go_on();
    earlier_->cut_from_ledger(milliseconds{0});
  }
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

} // namespace fq::sim
