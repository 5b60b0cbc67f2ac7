// SPDX-License-Identifier: Apache-2.0
#include "actors/cluster/region.hpp"

#include "domain/base/planted.hpp"
#include "domain/cluster/placement.hpp"

#include <caf/sec.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace fq {
namespace {
/// Steps left for the final hop: the request is not forwarded further.
constexpr int final_hop = 1;

/// Moves `node` to the back; the list is consumed from the back.
void move_to_back(std::vector<std::string>& nodes, const std::string& node) {
  if (const auto named = std::ranges::find(nodes, node); named != nodes.end())
    std::rotate(named, named + 1, nodes.end());
}
} // namespace

region_handle::behavior_type region(region_handle::stateful_pointer<region_state> self,
                                    const owner_services* services, restart_budget budget) {
  self->state.init(self, *services, budget);
  return self->state.behavior();
}

void region_state::init(pointer self, const owner_services& services, restart_budget budget) {
  self_ = self;
  services_ = &services;
  budget_ = budget;
  cluster_.serves = !services.has_cluster;
  self->set_down_handler([this](const caf::down_msg& down) { on_down(down); });
  self->set_exit_handler([this](caf::exit_msg& exit) {
    for (const auto& [aggregate, owner] : owners_) self_->send_exit(owner, caf::exit_reason::user_shutdown);
    for (const auto& [address, owner] : leaving_) self_->send_exit(owner, caf::exit_reason::user_shutdown);
    self_->quit(std::move(exit.reason));
  });
  if (services.has_cluster) return schedule_scan();
  scan_unowned();
}

/// Finds aggregates that must run and have no owner: at start, and after another node has died. From the
/// start on also some events with older purchases, until all were looked at once.
void region_state::scan_unowned() {
  self_->send(services_->ledgers.reader(), find_aggregates_to_wake{settle_after_});
}

region_handle::behavior_type region_state::behavior() {
  return {
    [this](const resolve_event& x) { return on_resolve(x); },
    [this](const cluster_changed& x) { on_cluster(x); },
    [this](const ledger_seen& x) {
      for (const auto& s : x.sights)
        if (services_->memory) services_->memory->saw(s);
    },
    [this](const handed_over& x) { on_handed_over(x); },
    [this](const move_event& x) { return on_move_event(x); },
    [this](const aggregates_to_wake& x) { on_wake(x); },
    [this](const timer_fired& t) {
      if (t.kind == timer_kind::flush) return retry_waiting();
      if (t.kind == timer_kind::sweep) sweep_is_due_ = false;
      scan_unowned();
    },
    [this](const list_owned&) { return owned(); },
    [this](const blocks_changed& x) { on_blocks_changed(x); },
  };
}

void region_state::on_wake(const aggregates_to_wake& found) {
  if (found.unavailable)
    return self_->delayed_send(self_, wake_retry, timer_fired{timer_kind::retry_load, 0});
  const auto steady = services_->env->steady_now();
  const auto mine = std::ranges::find(cluster_.nodes, cluster_.self, &node_row::id);
  const standing ours{mine != cluster_.nodes.end() && mine->is_draining, cluster_.is_isolated,
                      !cluster_.peers.empty()};
  std::map<aggregate_id, milliseconds> left;
  const auto take = [&](aggregate_id aggregate) {
    if (find(aggregate)) return true; // runs here
    const auto before = unowned_since_.find(aggregate);
    const auto since = before == unowned_since_.end() ? steady : before->second;
    const bool starts = may_begin() && !moving_.contains(aggregate) && takes_unowned(ours, steady - since);
    if (starts)
      start(aggregate);
    else
      left.emplace(aggregate, since);
    return starts;
  };
  for (const auto aggregate : found.aggregates) take(aggregate);
  bool runs_all = true;
  for (const auto aggregate : found.to_settle.found) runs_all = take(aggregate) && runs_all;
  if (runs_all) settle_after_ = found.to_settle.next;
  unowned_since_ = std::move(left);
  if (!planted(bug::takeover_forgotten)) schedule_scan();
}

void region_state::schedule_scan() {
  if (!std::exchange(sweep_is_due_, true))
    self_->delayed_send(self_, services_->takeover_interval, timer_fired{timer_kind::sweep, 0});
}

/// Notifies running owners. The next scan starts the other events in which a newly blocked customer has paid.
void region_state::on_blocks_changed(const blocks_changed& x) {
  // An owner that is still loading reads the lists then.
  for (const auto& [aggregate, owner] : owners_)
    self_->request(owner, forward_timeout, resolve_event{aggregate})
      .then([this, x](const event_handle& found) { self_->send(found, x); }, [](const caf::error&) {});
}

owned_aggregates region_state::owned() const {
  owned_aggregates all;
  for (const auto& [aggregate, owner] : owners_) all.aggregates.push_back(aggregate);
  all.is_leaving = !leaving_.empty();
  return all;
}

supervisor_handle region_state::find(aggregate_id aggregate) const {
  const auto i = owners_.find(aggregate);
  return i == owners_.end() ? supervisor_handle{} : i->second;
}

supervisor_handle region_state::start(aggregate_id aggregate) {
  if (auto known = find(aggregate)) return known;
  auto make_owner = [aggregate, services = services_](supervisor_handle::pointer parent,
                                                      supervisor_handle stable) {
    return parent->spawn<caf::monitored>(event_actor, aggregate, services, std::move(stable));
  };
  auto owner = self_->spawn<caf::monitored>(supervisor, services_->env, owner_factory{make_owner}, budget_);
  owners_.emplace(aggregate, owner);
  by_address_.emplace(owner.address(), aggregate);
  return owner;
}

caf::result<event_handle> region_state::on_resolve(const resolve_event& x) {
  auto p = self_->make_response_promise<event_handle>();
  answer({x.aggregate, x.is_forwarded, p, services_->env->steady_now() + resolve_life, x.returned_by});
  return p;
}

void region_state::answer(pending_resolve q) {
  if (number_of(q.aggregate) < number_of(first_event_aggregate)) return q.refuse(errc::absent);
  if (services_->env->steady_now() > q.give_up) return q.refuse(errc::unavailable);
  if (const auto moving = moving_.find(q.aggregate); moving != moving_.end()) {
    if (moving->second.asked.size() >= services_->bounds.moving) return q.refuse(errc::unavailable);
    return moving->second.asked.push_back(std::move(q));
  }
  if (const auto before = node_of(q.returned_by);
      !before.empty()) { // the former owner's node knows the successor, or still names the owner whose lease
                         // has passed
    elsewhere_.erase(q.aggregate);
    return forward(std::move(q), before, forward_hops_max);
  }
  if (const auto known = elsewhere_.find(q.aggregate); known != elsewhere_.end()) {
    const auto [until, owner, was_ours] = known->second;
    const bool is_fresh = services_->env->steady_now() < until;
    if (is_fresh && (was_ours || !q.is_forwarded)) return forward(std::move(q), owner, forward_hops_max);
    elsewhere_.erase(known); // the forwarding node may have newer information
  }
  if (q.is_forwarded || find(q.aggregate)) return answer_here(std::move(q));
  const auto node = q.returned_by
                      ? std::string{}
                      : placed_elsewhere(q.aggregate); // returned once: the ledger knows the owner
  node.empty() ? answer_here(std::move(q)) : forward(std::move(q), node, forward_hops_max);
}

owner_bounds region_state::peek_used(aggregate_id aggregate) const {
  const auto loads = loading_.find(aggregate);
  const auto moves = moving_.find(aggregate);
  return {.loading = loads == loading_.end() ? 0 : loads->second.waiting.size(),
          .moving = moves == moving_.end() ? 0 : moves->second.asked.size()};
}

/// Resolves by the local owner once it serves; one request to its supervisor serves all waiting requests.
void region_state::answer_here(pending_resolve q) {
  const auto aggregate = q.aggregate;
  if (const auto cooling = cooling_.find(aggregate); cooling != cooling_.end()) {
    if (services_->env->steady_now() < cooling->second.until) return q.refuse(cooling->second.why);
    cooling_.erase(cooling);
  }
  if (!find(aggregate)) {
    if (!may_begin()) return q.refuse(errc::not_owner);
    if (cluster_.is_ledger_away) return forward_to_others(std::move(q));
    if (owners_.size() >= owners_max) return q.refuse(errc::unavailable);
  }
  auto& [is_asked, waiting] = loading_[aggregate];
  if (waiting.size() >= services_->bounds.loading) return q.refuse(errc::unavailable);
  waiting.push_back(std::move(q));
  if (cluster_.is_ledger_away) schedule_retry(); // a serving owner answers before that
  if (std::exchange(is_asked, true)) return;
  auto owner = start(aggregate);
  self_->request(owner, resolve_timeout, resolve_event{aggregate})
    .then([this, aggregate](const event_handle& found) { served(aggregate, found); },
          [this, aggregate, owner](const caf::error& why) { not_served(aggregate, owner, why); });
}

void region_state::served(aggregate_id aggregate, const event_handle& owner) {
  for (auto& q : take_loading(aggregate))
    owner.address() == q.returned_by ? forward_to_others(std::move(q))
                                     : static_cast<void>(q.answer.deliver(owner));
}

void region_state::not_served(aggregate_id aggregate, const supervisor_handle& owner, const caf::error& why) {
  for (auto& q : take_loading(aggregate)) {
    if (why == caf::sec::request_receiver_down)
      on_supervisor_gone(std::move(q), owner);
    else if (is(why, errc::not_owner))
      forward(std::move(q), owner_in(why), final_hop);
    else
      q.answer.deliver(why == caf::sec::request_timeout ? make_error(errc::unavailable) : why);
  }
}

/// Sends the requests that wait for a local load to other nodes, which may reach the ledger.
void region_state::expire_loading() {
  std::vector<pending_resolve> all;
  for (auto& [aggregate, l] : loading_)
    for (auto& q : std::exchange(l.waiting, {})) all.push_back(std::move(q));
  for (auto& q : all) forward_to_others(std::move(q));
}

std::vector<region_state::pending_resolve> region_state::take_loading(aggregate_id aggregate) {
  auto asked = loading_.extract(aggregate);
  return asked ? std::move(asked.mapped().waiting) : std::vector<pending_resolve>{};
}

/// This node cannot answer: its owner's lease has passed, or it cannot load without the ledger. A node that
/// reaches the ledger acquires the event or knows the owner.
void region_state::forward_to_others(pending_resolve q) {
  if (q.is_forwarded) return q.refuse(errc::unavailable);
  auto order = by_place(q.aggregate, cluster_.nodes);
  std::erase(order, cluster_.self);
  std::ranges::reverse(order);
  forward_in_turn(std::move(q), std::move(order));
}

/// Asks `nodes` in sequence, from the back.
void region_state::forward_in_turn(pending_resolve q, std::vector<std::string> nodes) {
  if (services_->env->steady_now() >= q.give_up) return q.refuse(errc::unavailable);
  while (!nodes.empty() && !at(nodes.back())) nodes.pop_back();
  if (nodes.empty()) return cluster_.is_ledger_away ? q.refuse(errc::unavailable) : retry_once(std::move(q));
  const auto there = at(nodes.back());
  nodes.pop_back();
  self_->request(there, forward_timeout, resolve_event{q.aggregate, true})
    .then(
      [this, q, nodes](const event_handle& found) mutable {
        found.address() == q.returned_by ? forward_in_turn(std::move(q), std::move(nodes))
                                         : static_cast<void>(q.answer.deliver(found));
      },
      [this, q, nodes](const caf::error& why) mutable {
        for (const auto end : {errc::absent, errc::ledger_lost})
          if (is(why, end)) return q.refuse(end);
        const auto owner = is(why, errc::not_owner) ? owner_in(why) : std::string{};
        // The other node still names this node as the owner: its information is slightly old.
        if (owner == cluster_.self)
          return cluster_.is_ledger_away ? retry_later(std::move(q)) : retry_once(std::move(q));
        move_to_back(nodes, owner);
        forward_in_turn(std::move(q), std::move(nodes));
      });
}

/// The supervisor stopped while the request was in flight: resolve again once its down message is here.
void region_state::on_supervisor_gone(pending_resolve q, const supervisor_handle& gone) {
  if (find(q.aggregate) == gone) return stopping_[q.aggregate].push_back(std::move(q));
  answer(std::move(q));
}

// -- other nodes

void region_state::on_cluster(const cluster_changed& x) {
  cluster_ = x;
  if (cluster_.is_ledger_away && !loading_.empty()) schedule_retry(); // a serving owner answers before that
  const auto steady = services_->env->steady_now();
  std::erase_if(elsewhere_,
                [&](const auto& known) { return known.second.until <= steady || !at(known.second.owner); });
  expire_moves();
  hand_over_all();
}

region_handle region_state::at(const std::string& node) const {
  const auto peer = std::ranges::find(cluster_.peers, node, &node_peer::node);
  return peer == cluster_.peers.end() ? region_handle{} : caf::actor_cast<region_handle>(peer->region);
}

/// The other node of this owner; empty: none that is connected.
std::string region_state::node_of(const caf::actor_addr& owner) const {
  if (!owner || owner.node() == self_->node()) return {};
  const auto peer = std::ranges::find_if(
    cluster_.peers, [&](const node_peer& p) { return p.region->node() == owner.node(); });
  return peer == cluster_.peers.end() ? std::string{} : peer->node;
}

std::string region_state::placed_elsewhere(aggregate_id aggregate) const {
  if (cluster_.peers.empty()) return {};
  auto node = home_of(aggregate, cluster_.nodes);
  return node == cluster_.self ? std::string{} : node;
}

void region_state::cache_owner(aggregate_id aggregate, const std::string& owner, bool was_ours) {
  elsewhere_[aggregate] = {services_->env->steady_now() + owner_cache_life, owner, was_ours};
}

// -- moving

void region_state::expire_moves() {
  std::vector<aggregate_id> late;
  for (const auto& [aggregate, m] : moving_)
    if (services_->env->steady_now() >= m.give_up) late.push_back(aggregate);
  for (const auto aggregate : late) { // the owner may still hand the event over
    auto moved = moving_.extract(aggregate);
    cancel_move(aggregate, moved.mapped(), caf::sec::request_timeout);
    for (auto& q : moved.mapped().asked) answer(std::move(q));
  }
}

caf::result<ack_reply> region_state::on_move_event(const move_event& x) {
  auto asked = self_->make_response_promise<ack_reply>();
  if (find(x.aggregate) || x.is_forwarded) {
    move_owned(asked, x);
    return asked;
  }
  self_->request(region_handle{self_}, resolve_life, resolve_event{x.aggregate})
    .then(
      [this, asked, x](const event_handle& owner) {
        if (find(x.aggregate)) return move_owned(asked, x);
        auto nodes = by_place(x.aggregate, cluster_.nodes);
        move_to_back(nodes, node_of(owner.address()));
        forward_move(asked, x, std::move(nodes));
      },
      [asked](const caf::error& why) mutable {
        asked.deliver(make_error(is(why, errc::absent) ? errc::absent : errc::unavailable));
      });
  return asked;
}

/// Forwards the move to the one of `nodes` that owns the event, from the back. A node without an answer ends
/// the search.
void region_state::forward_move(caf::typed_response_promise<ack_reply> asked, const move_event& x,
                                std::vector<std::string> nodes) {
  while (!nodes.empty() && !at(nodes.back())) nodes.pop_back();
  if (nodes.empty()) return static_cast<void>(asked.deliver(make_error(errc::unavailable)));
  const auto there = at(nodes.back());
  nodes.pop_back();
  self_->request(there, forwarded_move_timeout, move_event{x.aggregate, x.to, true})
    .then([asked](const ack_reply& done) mutable { asked.deliver(done); },
          [this, asked, x, nodes](const caf::error& why) mutable {
            if (is(why, errc::not_owner)) return forward_move(asked, x, std::move(nodes));
            // `unavailable`: it did not move. Any other error: unknown.
            asked.deliver(is(why, errc::unavailable) ? make_error(errc::unavailable)
                                                     : make_error(caf::sec::request_timeout));
          });
}

/// Asks `node`, which is said to hold the lease or is the placement. If it names another node, that one is
/// asked next, up to `steps` times.
void region_state::forward(pending_resolve q, const std::string& node, int hops) {
  const auto there = q.is_forwarded ? region_handle{} : at(node);
  if (!there) {
    q.answer.deliver(make_not_owner(node));
    return;
  }
  self_->request(there, forward_timeout, resolve_event{q.aggregate, true})
    .then(
      [this, q, hops](event_handle& found) mutable {
        if (found.address() != q.returned_by) return static_cast<void>(q.answer.deliver(std::move(found)));
        // That node is not up to date yet; the ledger may be.
        hops <= final_hop ? retry_once(std::move(q)) : answer_here(std::move(q));
      },
      [this, q, node, hops](caf::error& why) mutable { on_forward_failed(std::move(q), node, hops, why); });
}

void region_state::on_forward_failed(pending_resolve q, const std::string& node, int hops,
                                     const caf::error& why) {
  for (const auto end : {errc::absent, errc::ledger_lost})
    if (is(why, end)) return q.refuse(end);
  const auto known = elsewhere_.find(q.aggregate);
  const bool was_given_away =
    known != elsewhere_.end() && known->second.was_ours && services_->env->steady_now() < known->second.until;
  if (hops <= final_hop || was_given_away) return retry_later(std::move(q));
  const auto owner = is(why, errc::not_owner) ? owner_in(why) : std::string{};
  if (owner == node || !at(owner)) return answer_here(std::move(q)); // resolve by the ledger
  cache_owner(q.aggregate, owner, false);
  forward(std::move(q), owner, hops - 1);
}

/// Retries shortly: the event is moving and the asked node did not know yet.
void region_state::retry_later(pending_resolve q) {
  if (to_retry_.size() >= services_->bounds.moving || services_->env->steady_now() >= q.give_up)
    return q.refuse(errc::unavailable);
  to_retry_.push_back(std::move(q));
  schedule_retry();
}

void region_state::schedule_retry() {
  if (!std::exchange(retry_is_due_, true))
    self_->delayed_send(self_, resolve_retry_pause, timer_fired{timer_kind::flush, 0});
}

/// Retries and accepts any owner then: it may serve again.
void region_state::retry_once(pending_resolve q) {
  q.returned_by = nullptr;
  retry_later(std::move(q));
}

void region_state::retry_waiting() {
  retry_is_due_ = false;
  if (cluster_.is_ledger_away) expire_loading();
  for (auto& q : std::exchange(to_retry_, {})) answer(std::move(q));
}

void region_state::on_down(const caf::down_msg& down) {
  const auto i = by_address_.find(down.source);
  if (i == by_address_.end()) {
    leaving_.erase(down.source);
    return;
  }
  const auto steady = services_->env->steady_now();
  if (is(down.reason, errc::unavailable)) cooling_[i->second] = {steady + cool_down, errc::unavailable};
  const bool is_lost = is(down.reason, errc::ledger_lost);
  if (is_lost) cooling_[i->second] = {steady + lost_cool_down, errc::ledger_lost};
  if (is(down.reason, errc::not_owner)) cache_owner(i->second, owner_in(down.reason), false);
  // Deadlines continue without requests: after a failure, scan again for aggregates that must run.
  const bool ended_well = is(down.reason, errc::absent) || is(down.reason, errc::not_owner)
                          || down.reason == caf::exit_reason::user_shutdown;
  if (!ended_well)
    self_->delayed_send(self_,
                        is_lost                              ? lost_cool_down
                        : is(down.reason, errc::unavailable) ? cool_down
                                                             : wake_retry,
                        timer_fired{timer_kind::retry_load, 0});
  const auto aggregate = i->second;
  owners_.erase(aggregate);
  by_address_.erase(i);
  end_move({aggregate, false});
  if (auto asked = stopping_.extract(aggregate))
    for (auto& q : asked.mapped()) answer(std::move(q));
}

} // namespace fq
