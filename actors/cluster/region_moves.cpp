// SPDX-License-Identifier: Apache-2.0
// The region's moves: rebalancing, draining, operators' requests.
#include "actors/cluster/region.hpp"
#include "domain/base/planted.hpp"
#include "domain/cluster/placement.hpp"

#include <utility>
#include <vector>

namespace fq {

/// Rebalances: moves events above this node's share to nodes below theirs, a few at a time.
void region_state::hand_over_all() {
  if (cluster_.leaves_to_successors) return leave_all();
  const auto steady = services_->env->steady_now();
  std::erase_if(move_refused_until_, [steady](const auto& s) { return s.second <= steady; });
  if (!is_draining() && steady < next_rebalancing_) return;
  auto nodes = cluster_.nodes;
  for (auto& n : nodes)
    if (n.id == cluster_.self) n.owners = static_cast<std::uint32_t>(owners_.size());
  std::vector<rebalancing_move> in_flight;
  for (const auto& [aggregate, moved] : moving_) in_flight.push_back({aggregate, moved.to});
  std::vector<aggregate_id> may_go;
  for (const auto& [aggregate, owner] : owners_)
    if (!moving_.contains(aggregate) && (is_draining() || !move_refused_until_.contains(aggregate)))
      may_go.push_back(aggregate);
  for (const auto& [aggregate, to] :
       rebalancing_moves(cluster_.self, nodes, in_flight, may_go, moves_in_flight_max)) {
    if (!at(to)) continue;
    next_rebalancing_ = steady + rebalancing_pause;
    move(aggregate, to, is_draining());
  }
}

bool region_state::is_draining() const {
  const auto mine = std::ranges::find(cluster_.nodes, cluster_.self, &node_row::id);
  return mine != cluster_.nodes.end() && mine->is_draining;
}

/// False: nodes of another kind serve the aggregates that do not run here.
bool region_state::may_begin() const { return cluster_.serves && !cluster_.leaves_to_successors; }

/// Hands over without naming a successor (wire version change).
void region_state::leave_all() {
  for (const auto& [aggregate, owner] : owners_) {
    if (moving_.size() >= moves_in_flight_max) return;
    if (!moving_.contains(aggregate)) move(aggregate, {}, true);
  }
}

void region_state::move(aggregate_id aggregate, const std::string& to, bool is_forced) {
  moving_[aggregate] = {to, {}, services_->env->steady_now() + move_timeout, {}, {}};
  self_->request(owners_.at(aggregate), forward_timeout, resolve_event{aggregate})
    .then(
      [this, aggregate, to, is_forced](const event_handle& owner) {
        if (const auto moving = moving_.find(aggregate); moving != moving_.end())
          moving->second.owner = owner.address();
        self_->send(owner, hand_over{to, is_forced});
      },
      [this, aggregate](const caf::error&) {
        end_move({aggregate, false});
      });
}

void region_state::move_owned(caf::typed_response_promise<ack_reply> asked, const move_event& x) {
  const auto owner = find(x.aggregate);
  if (!owner) return static_cast<void>(asked.deliver(make_error(errc::not_owner)));
  self_
    ->request(owner, forward_timeout,
              resolve_event{x.aggregate}) // the owner may be about to learn that another node has the lease
    .then([this, asked, x](const event_handle&) { move_serving(asked, x); },
          [asked](const caf::error& why) mutable {
            asked.deliver(make_error(is(why, errc::unavailable) ? errc::unavailable : errc::not_owner));
          });
}

void region_state::move_serving(caf::typed_response_promise<ack_reply> asked, const move_event& x) {
  // It has moved meanwhile.
  if (!find(x.aggregate)) return static_cast<void>(asked.deliver(make_error(errc::not_owner)));
  if (x.to == cluster_.self) return static_cast<void>(asked.deliver(ack_reply{}));
  if (!at(x.to) || moving_.contains(x.aggregate))
    return static_cast<void>(asked.deliver(make_error(errc::unavailable)));
  move(x.aggregate, x.to, true);
  moving_[x.aggregate].told.push_back(std::move(asked));
}

/// From the owner that hands over, or from another region: the aggregate was handed to this node. Both
/// may cross.
void region_state::on_handed_over(const handed_over& x) {
  const auto moving = moving_.find(x.aggregate);
  const auto sender = caf::actor_cast<caf::actor_addr>(self_->current_sender());
  if (moving != moving_.end() && sender && moving->second.owner == sender) return end_move(x);
  if (x.is_done) elsewhere_.erase(x.aggregate);
}

void region_state::end_move(const handed_over& x) {
  auto moved = moving_.extract(x.aggregate);
  if (!moved) return;
  x.is_done ? finish_move(x.aggregate, moved.mapped())
            : cancel_move(x.aggregate, moved.mapped(), make_error(errc::unavailable));
  for (auto& q : moved.mapped().asked) answer(std::move(q));
  if (x.is_done) hand_over_all();
}

void region_state::cancel_move(aggregate_id aggregate, pending_move& moved, const caf::error& why) {
  move_refused_until_[aggregate] = services_->env->steady_now() + move_pause;
  for (auto& asked : moved.told) asked.deliver(why);
}

/// Its supervisor stops automatically when requests to the former owner have ceased.
void region_state::finish_move(aggregate_id aggregate, pending_move& moved) {
  if (const auto owner = owners_.find(aggregate); owner != owners_.end()) {
    by_address_.erase(owner->second.address());
    leaving_.emplace(owner->second.address(), owner->second);
    owners_.erase(owner);
  }
  if (!planted(bug::takes_back_given)) cache_owner(aggregate, moved.to, true);
  if (services_->links) services_->links->given_away.fetch_add(1, std::memory_order_relaxed);
  for (auto& n : cluster_.nodes) { // until the next heartbeats
    if (n.id == cluster_.self && n.owners > 0) --n.owners;
    if (n.id == moved.to) ++n.owners;
  }
  notify_successor(aggregate, moved);
}

/// Starts the successor even without requests, because deadlines continue. Operators get their answer when it
/// serves; if that fails, the event is handed over all the same.
void region_state::notify_successor(aggregate_id aggregate, pending_move& moved) {
  const auto tell = [told = std::exchange(moved.told, {})] {
    for (auto asked : told) asked.deliver(ack_reply{});
  };
  const auto there = at(moved.to);
  if (!there) return tell();
  self_->send(there, handed_over{aggregate, true});
  self_->request(there, forward_timeout, resolve_event{aggregate, true})
    .then([tell](const event_handle&) { tell(); }, [tell](const caf::error&) { tell(); });
}

} // namespace fq
