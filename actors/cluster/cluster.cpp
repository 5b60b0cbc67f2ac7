// SPDX-License-Identifier: Apache-2.0
#include "actors/cluster/cluster.hpp"

#include "actors/base/errors.hpp"
#include "actors/cluster/limits.hpp"
#include "domain/base/environment.hpp"
#include "domain/base/planted.hpp"

#include <algorithm>
#include <utility>

namespace fq {
namespace {

bool is_same(const node_peer& a, const node_peer& b) {
  return a.region == b.region && a.catalog == b.catalog && a.accounts == b.accounts;
}
} // namespace

cluster_handle::behavior_type cluster(cluster_handle::stateful_pointer<cluster_state> self,
                                      const cluster_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void cluster_state::init(pointer self, const cluster_services& services) {
  self_ = self;
  services_ = &services;
  self->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
  self->send(self, timer_fired{timer_kind::beat, 0});
}

cluster_handle::behavior_type cluster_state::behavior() {
  return {
    [this](const greet& x) { return on_greet(x); },
    [this](const list_nodes&) { return nodes(); },
    [this](const drain_node&) {
      is_draining_ = true;
      return ack_reply{};
    },
    [this](const nodes_seen& x) { on_seen(x); },
    [this](const node_dialed& x) { on_dialed(x); },
    [this](const timer_fired& t) { t.kind == timer_kind::lapse ? end_lost() : beat(); },
  };
}

// -- heartbeats

void cluster_state::beat() {
  if (is_superseded_) return;
  ++beats_;
  note_run();
  check_ledger();
  tell_sights();
  self_->delayed_send(self_, services_->beat_interval, timer_fired{timer_kind::beat, 0});
  self_->request(services_->region, owned_count_timeout, list_owned{})
    .then(
      [this](const owned_aggregates& owned) {
        send_beat(static_cast<std::uint32_t>(owned.aggregates.size()));
      },
      [](const caf::error&) {
      }); // region busy: skip this heartbeat; without heartbeats the node counts as dead
}

void cluster_state::send_beat(std::uint32_t owners) {
  if (services_->links) {
    services_->links->owned = owners;
    services_->links->is_draining = is_draining_;
  }
  beat_node sign;
  owners_ = owners;
  sign.self = own_row();
  sign.alive_for = services_->alive_for;
  sign.begun = services_->env->steady_now();
  if (!asked_at_) asked_at_ = sign.begun;
  self_->send(services_->ledgers.of(accounts_aggregate), std::move(sign));
}

/// A new peer gets all that is remembered, in parts.
void cluster_state::tell_sights() {
  if (!services_->memory || planted(bug::gossip_forgotten)) return;
  for (const auto& [node, peer] : peers_)
    if (ledger_seen news{services_->memory->news(told_[node], sights_per_beat_max)}; !news.sights.empty())
      self_->send(caf::actor_cast<region_handle>(peer.region), std::move(news));
}

/// The ledger may also hang without an error.
void cluster_state::check_ledger() {
  const bool is_away =
    asked_at_ && services_->env->steady_now() - *asked_at_ > ledger_patience_beats * services_->beat_interval;
  if (std::exchange(is_ledger_away_, is_away) == is_away) return;
  note(is_away ? "the ledger does not answer" : "the ledger answers again");
  publish();
}

void cluster_state::on_seen(const nodes_seen& x) {
  incarnation_ = x.incarnation;
  if (x.is_superseded) return give_way();
  if (x.is_unavailable) return; // connections are kept without the ledger
  asked_at_.reset();
  if (services_->doubt) services_->doubt->beat(x.begun);
  check_ledger();
  nodes_ = x.nodes;
  if (services_->links) services_->links->nodes = static_cast<std::uint32_t>(nodes_.size());
  update_serving_claim();
  const auto lives = [this](const std::string& node) {
    return std::ranges::find(nodes_, node, &node_row::id) != nodes_.end();
  };
  std::erase_if(failures_, [&](const auto& known) { return !lives(known.first); });
  if (services_->links) services_->links->forget_others(lives);
  forget_outdated();
  for (const auto& node : nodes_)
    if (services_->node < node.id && !peers_.contains(node.id)) dial(node);
  const auto steady = services_->env->steady_now();
  const auto before = std::exchange(beat_begun_, x.begun);
  const bool was_missing = !before || steady - *before > services_->alive_for - services_->beat_interval;
  watch_.read(services_->node, nodes_, steady, services_->beat_interval, was_missing);
  end_lost();
  publish();
}

// -- lost nodes

/// Ends the leases of nodes that are not connected: at once if the ledger has lost them too, else once they
/// are silent. A node that cannot know of this one trusts its leases to their end.
void cluster_state::end_lost() {
  doubt_leases();
  for (const auto& [id, node] : watch_.others()) {
    if (peers_.contains(id) || !node.knows_us) continue;
    self_
      ->request(services_->ledgers.of(accounts_aggregate), end_leases_timeout,
                end_leases_of{node.row, node.is_silent()})
      .then(
        [this, lost = id](const leases_ended& x) {
          if (x.leases == 0) return;
          note("ended the leases of " + lost + ", which is gone");
          self_->send(services_->region, timer_fired{timer_kind::retry_load, 0});
        },
        [](const caf::error&) {});
  }
}

/// If this node is not connected to another one, that one may end its leases: they are trusted for a shorter
/// time than the other one waits.
void cluster_state::doubt_leases() {
  if (!services_->doubt) return;
  // watch_, not nodes_: a node that is missing in the last reading may come back.
  const bool is_whole =
    std::ranges::all_of(watch_.others(), [this](const auto& node) { return peers_.contains(node.first); });
  if (!is_whole) {
    whole_since_.reset();
    return services_->doubt->apart(services_->beat_interval * trusted_apart_tenths / 10);
  }
  if (!whole_since_) whole_since_ = services_->env->steady_now();
  services_->doubt->whole(*whole_since_);
}

/// If this process stood still, others may have ended its leases: they need a look.
void cluster_state::note_run() {
  const auto steady = services_->env->steady_now();
  const auto before = std::exchange(ran_at_, steady);
  if (!services_->doubt) return;
  if (before && steady - *before > 2 * services_->beat_interval) services_->doubt->stood_still(steady);
  services_->doubt->runs(steady + services_->beat_interval * trusted_run_tenths / 10);
}

void cluster_state::update_serving_claim() {
  const auto steady = services_->env->steady_now();
  const bool is_first = !last_heartbeat_;
  const bool was_away = !is_first && steady - *last_heartbeat_ > services_->alive_for;
  last_heartbeat_ = steady;
  if (was_away) blind_until_ = steady + services_->alive_for;
  const auto before =
    std::exchange(claim_, claim_after(claim_, own_row(), nodes_, {was_away, steady < blind_until_}));
  if (claim_.serves && !before.serves) has_served_ = true;
  // Publishes a change of the serving claim without waiting for the next heartbeat.
  if (claim_.is_made && !claim_.serves && (!before.is_made || claim_.is_seen != before.is_seen))
    send_beat(owners_);
  if (claim_.serves && !before.serves) note("we serve");
  if (!claim_.is_made && (is_first || before.is_made))
    note("nodes of another wire version, or with other keys, serve: we wait until they leave");
}

node_row cluster_state::identity() const {
  node_row row;
  row.id = services_->node;
  row.address = services_->address;
  row.wire_version = services_->speaks;
  row.keys = services_->keys;
  return row;
}

node_row cluster_state::own_row() const {
  auto row = identity();
  row.owners = owners_;
  row.is_settled = claim_.serves && reachability().is_settled(beats_ <= patience_beats);
  row.is_draining = is_draining_;
  row.serves = claim_.is_made;
  return row;
}

// -- connections

void cluster_state::dial(const node_row& node) {
  if (node.address.empty()) return;
  if (node.wire_version != services_->speaks) {
    failures_[node.id] = "it speaks wire version " + std::to_string(node.wire_version) + ", we "
                         + std::to_string(services_->speaks);
    return;
  }
  if (node.keys != services_->keys) {
    failures_[node.id] = "it has other keys: copy <data_dir>/keys of one node to all";
    return;
  }
  if (!dialing_.insert(node.id).second) return;
  self_->send(services_->dialer, dial_node{node, {own_peer(), services_->speaks}});
}

void cluster_state::on_dialed(const node_dialed& x) {
  dialing_.erase(x.node);
  if (is_superseded_) return;
  auto failure = x.failure;
  if (failure.empty() && (x.peer.node != x.node || !is_genuine(x.peer)))
    failure = "it says that it is another node";
  if (failure.empty()) return add_peer(x.peer);
  if (std::exchange(failures_[x.node], failure) != failure)
    note("no connection to " + x.node + ": " + failure);
}

caf::result<greeting> cluster_state::on_greet(const greet& x) {
  if (x.wire_version != services_->speaks || x.from.node.empty() || x.from.node == services_->node)
    return make_error(errc::unavailable);
  if (is_superseded_ || incarnation_ == 0 || is_outdated(x.from) || !is_genuine(x.from) || !is_asker(x.from))
    return make_error(errc::unavailable);
  add_peer(x.from);
  return greeting{own_peer()};
}

void cluster_state::add_peer(const node_peer& peer) {
  if (is_outdated(peer)) return;
  failures_.erase(peer.node);
  if (const auto known = peers_.find(peer.node); known != peers_.end()) {
    if (is_same(known->second, peer)) return;
    self_->demonitor(known->second.region->address()); // of an earlier process
  }
  peers_[peer.node] = peer;
  told_.erase(peer.node);
  if (services_->links) services_->links->connected(peer.node, peer.region->node());
  self_->monitor(peer.region);
  note("connected to " + peer.node);
  doubt_leases();
  publish();
}

void cluster_state::on_down(const caf::down_msg& down) {
  const auto lost =
    std::ranges::find_if(peers_, [&](const auto& p) { return p.second.region->address() == down.source; });
  if (lost == peers_.end() || planted(bug::lost_peer_kept)) return;
  remove_peer(lost);
  publish();
}

/// A node may still be connected as its earlier process, perhaps with other keys.
void cluster_state::forget_outdated() {
  for (const auto& node : nodes_) {
    const auto known = peers_.find(node.id);
    if (known == peers_.end()) continue;
    if (is_of_one_kind(node, identity()) && !is_outdated(known->second)) continue;
    self_->demonitor(known->second.region->address());
    remove_peer(known);
  }
}

/// The ledger or a connection shows a later process of the peer's node.
bool cluster_state::is_outdated(const node_peer& peer) const {
  const auto row = std::ranges::find(nodes_, peer.node, &node_row::id);
  const auto known = peers_.find(peer.node);
  return (row != nodes_.end() && peer.incarnation < row->incarnation)
         || (known != peers_.end() && peer.incarnation < known->second.incarnation);
}

/// The peer's actors are in one process, and that process may call itself by this name.
bool cluster_state::is_genuine(const node_peer& peer) const {
  if (peer.node.empty() || !peer.region || !peer.catalog || !peer.accounts) return false;
  const auto process = peer.region->node();
  return peer.catalog->node() == process && peer.accounts->node() == process
         && (!services_->speaks_for || services_->speaks_for(process, peer.node));
}

/// The greeting comes from the process that it is about.
bool cluster_state::is_asker(const node_peer& peer) const {
  const auto& asker = self_->current_sender();
  return asker && asker->node() == peer.region->node();
}

/// A later process has this node's name: own nothing, forward nothing, until the process ends.
void cluster_state::give_way() {
  if (std::exchange(is_superseded_, true)) return;
  claim_ = {};
  nodes_.clear();
  watch_.clear();
  while (!peers_.empty()) {
    self_->demonitor(peers_.begin()->second.region->address());
    remove_peer(peers_.begin());
  }
  publish();
}

void cluster_state::remove_peer(std::map<std::string, node_peer>::iterator peer) {
  note("lost " + peer->first);
  if (services_->links) services_->links->lost(peer->first);
  peers_.erase(peer);
  doubt_leases();
  self_->delayed_send(self_, services_->beat_interval / 5, timer_fired{timer_kind::lapse, 0});
}

void cluster_state::publish() {
  cluster_changed now;
  now.self = services_->node;
  for (const auto& node : nodes_)
    if (node.id == services_->node || peers_.contains(node.id)) now.nodes.push_back(node);
  for (const auto& [id, peer] : peers_) now.peers.push_back(peer);
  now.is_isolated = reachability().is_isolated();
  now.is_ledger_away = is_ledger_away_;
  now.serves = claim_.serves;
  now.leaves_to_successors = (has_served_ && !claim_.serves) || leaves_to_successors(own_row(), nodes_);
  if (services_->links) services_->links->serves = now.serves && !now.leaves_to_successors;
  self_->send(services_->region, now);
  self_->send(services_->catalog, now);
  self_->send(services_->accounts, now);
}

reach cluster_state::reachability() const {
  return reach_of(identity(), nodes_, [this](const std::string& node) { return peers_.contains(node); });
}

void cluster_state::note(const std::string& what) const {
  if (services_->note) services_->note(what);
}

node_peer cluster_state::own_peer() const {
  return {services_->node, caf::actor_cast<caf::strong_actor_ptr>(services_->region),
          caf::actor_cast<caf::strong_actor_ptr>(services_->catalog),
          caf::actor_cast<caf::strong_actor_ptr>(services_->accounts), incarnation_};
}

nodes_reply cluster_state::nodes() const {
  nodes_reply all;
  for (const auto& node : nodes_) {
    const auto failure = failures_.find(node.id);
    all.nodes.push_back({node, node.id == services_->node, peers_.contains(node.id),
                         failure == failures_.end() ? std::string{} : failure->second});
  }
  return all;
}

} // namespace fq
