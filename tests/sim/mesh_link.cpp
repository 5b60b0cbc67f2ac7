// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/mesh_link.hpp"

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>

#include <algorithm>

namespace fq::sim {
namespace {

std::size_t other(std::size_t side) { return 1 - side; }

} // namespace

// -- proxies ----------------------------------------------------------------------------------------------

mesh_proxy::mesh_proxy(caf::actor_config& config, std::shared_ptr<mesh_link> link, std::size_t side,
                       process_no leads_to, caf::strong_actor_ptr target) :
    caf::monitorable_actor(config),
    link_(link),
    side_(side),
    leads_to_(leads_to),
    target_(std::move(target)) {}

/// As in CAF, messages to an actor behind a lost connection are dropped silently.
void mesh_proxy::enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) {
  if (const auto link = link_.lock()) link->send(side_, target_, std::move(element));
}

mesh_link::mesh_link(mesh& net, process_no one, process_no other) :
    net_(net), ends_{{{one, true, false, {}, {}}, {other, true, false, {}, {}}}} {}

bool mesh_link::joins(process_no one, process_no other) const {
  return (ends_[0].who == one && ends_[1].who == other) || (ends_[0].who == other && ends_[1].who == one);
}

caf::strong_actor_ptr mesh_link::seen_from(std::size_t side, const caf::strong_actor_ptr& handle) {
  if (!handle) return nullptr;
  const auto* proxy = dynamic_cast<const mesh_proxy*>(handle->get());
  if (proxy == nullptr) return proxy_of(side, handle);
  if (proxy->leads_to() == ends_[side].who) return proxy->target(); // the actor belongs to this process
  // An actor of a third process: uses the direct connection to that process, if any. CAF would also route
  // through the other end, without a monitor.
  const auto direct = net_.find(ends_[side].who, proxy->leads_to());
  return direct ? direct->proxy_of(direct->side_of(ends_[side].who), proxy->target()) : nullptr;
}

/// One proxy per actor and connection; it ends with either.
caf::strong_actor_ptr mesh_link::proxy_of(std::size_t side, const caf::strong_actor_ptr& actor) {
  auto& known = ends_[side].proxies[actor->id()];
  if (known) return known;
  const auto there = ends_[other(side)].who;
  caf::actor_config config{net_.system().dummy_execution_unit()};
  known = caf::make_actor<mesh_proxy, caf::strong_actor_ptr>(actor->id(), net_.id_of(there), &net_.system(),
                                                             config, shared_from_this(), side, there, actor);
  const auto proxy = known;
  actor->get()->attach_functor([link = weak_from_this(), side, id = actor->id()](const caf::error& reason) {
    if (const auto alive = link.lock()) alive->on_exit(side, id, reason);
  });
  return proxy;
}

/// The actor behind a proxy at `side` has ended; the notification travels like any message.
void mesh_link::on_exit(std::size_t side, caf::actor_id id, const caf::error& reason) {
  if (!ends_[other(side)].is_open) return;
  net_.later(arrival(other(side)), [link = shared_from_this(), side, id, reason] {
    auto& here = link->ends_[side];
    if (!here.is_open || link->ends_[other(side)].is_silent) return;
    const auto ended = here.proxies.extract(id);
    if (ended)
      static_cast<caf::monitorable_actor*>(ended.mapped()->get())->cleanup(caf::error{reason}, nullptr);
  });
}

// -- messages ---------------------------------------------------------------------------------------------

/// Arrival time of a message that leaves `from` now: after all earlier messages.
milliseconds mesh_link::arrival(std::size_t from) {
  auto& last = ends_[from].last;
  return last = std::max(last, net_.now() + net_.delay());
}

void mesh_link::send(std::size_t from, const caf::strong_actor_ptr& target,
                     caf::mailbox_element_ptr element) {
  if (!ends_[from].is_open) return;
  auto& w = net_.in_world();
  const auto& faults = w.options.mesh;
  const parcel p{target, element->sender, element->mid, element->copy_content_to_message()};
  // Faults that TCP does not have, but a proxy or a hanging peer does: lost, duplicated or late requests,
  // lost answers. One-way messages stay complete and in order, as over TCP: a subscribe or unsubscribe is
  // sent once and its loss cannot be detected.
  const bool is_request = p.id.is_request();
  if (w.chaos && (is_request || p.id.is_response()) && strikes(w.rng, faults.lost))
    return w.check->reached(rare::message_lost);
  const bool is_late = w.chaos && is_request && strikes(w.rng, faults.late);
  dispatch(from, p, is_late ? between(w.rng, milliseconds{1}, faults.late_by) : milliseconds{0});
  if (!w.chaos || !is_request || !strikes(w.rng, faults.twice)) return;
  w.check->reached(rare::message_twice);
  dispatch(from, p, between(w.rng, milliseconds{1}, faults.late_by));
}

/// `extra`: delay that lets other messages overtake this one.
void mesh_link::dispatch(std::size_t from, const parcel& p, milliseconds extra) {
  net_.later(arrival(from) + extra, [link = shared_from_this(), from, p] {
    if (!link->ends_[from].is_silent) link->arrive(other(from), p);
  });
}

void mesh_link::arrive(std::size_t to, const parcel& p) {
  if (!ends_[to].is_open) return;
  p.target->enqueue(seen_from(to, p.sender), p.id, received(to, p.content), nullptr);
}

/// The message as `side` reads it from the wire: CAF's proxies take the place of handles.
caf::message mesh_link::received(std::size_t side, const caf::message& sent) {
  if (sent.match_elements<event_handle>()) {
    const auto seen = seen_from(side, caf::actor_cast<caf::strong_actor_ptr>(sent.get_as<event_handle>(0)));
    return caf::make_message(caf::actor_cast<event_handle>(seen));
  }
  auto read = net_.carry(sent);
  const auto peer = [&](node_peer& p, const node_peer& from) {
    p.region = seen_from(side, from.region);
    p.catalog = seen_from(side, from.catalog);
    p.accounts = seen_from(side, from.accounts);
  };
  if (read.match_elements<greet>()) peer(read.get_mutable_as<greet>(0).from, sent.get_as<greet>(0).from);
  if (read.match_elements<greeting>())
    peer(read.get_mutable_as<greeting>(0).from, sent.get_as<greeting>(0).from);
  return read;
}

// -- closing ----------------------------------------------------------------------------------------------

void mesh_link::reset() {
  auto& w = net_.in_world();
  for (const std::size_t from : {0, 1}) {
    if (!chance(w.rng, 500)) ends_[from].is_silent = true; // messages in flight are lost
    const auto at = ends_[from].is_silent ? net_.now() + net_.delay() : arrival(from);
    net_.later(at, [link = shared_from_this(), to = other(from)] { link->close_awake(to); });
  }
}

void mesh_link::silence(std::size_t from) {
  if (std::exchange(ends_[from].is_silent, true)) return;
  net_.later(net_.now() + net_.in_world().options.mesh.connection_timeout,
             [link = shared_from_this(), to = other(from)] { link->close_awake(to); });
}

void mesh_link::stall(std::size_t from, milliseconds span) {
  ends_[from].last = std::max(ends_[from].last, net_.now() + span);
}

void mesh_link::close_awake(std::size_t side) {
  if (!ends_[side].is_open) return;
  const auto still = net_.stands_still(ends_[side].who);
  if (still == milliseconds{0}) return close(side);
  net_.later(net_.now() + still + milliseconds{1},
             [link = shared_from_this(), side] { link->close_awake(side); });
}

void mesh_link::close(std::size_t side) {
  if (!std::exchange(ends_[side].is_open, false)) return;
  net_.in_world().check->reached(rare::link_broken);
  const auto proxies = std::exchange(ends_[side].proxies, {});
  for (const auto& [id, proxy] : proxies)
    static_cast<caf::monitorable_actor*>(proxy->get())
      ->cleanup(caf::exit_reason::remote_link_unreachable, nullptr);
  tell_end(side);
}

void mesh_link::abandon(std::size_t side, bool is_silent) {
  if (is_silent) ends_[side].is_silent = true;
  close(side);
}

/// The close travels as the last message of the connection. If it cannot arrive, the other end times out.
void mesh_link::tell_end(std::size_t from) {
  if (!ends_[other(from)].is_open) return;
  const auto at =
    ends_[from].is_silent ? net_.now() + net_.in_world().options.mesh.connection_timeout : arrival(from);
  net_.later(at, [link = shared_from_this(), to = other(from)] { link->close_awake(to); });
}

} // namespace fq::sim
