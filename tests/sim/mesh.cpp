// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/mesh.hpp"

#include "tests/sim/mesh_link.hpp"
#include "tests/sim/process.hpp"

#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>

#include <algorithm>

namespace fq::sim {

/// Wakes the mesh when an event is due.
class mesh_clock final : public caf::monitorable_actor {
public:
  mesh_clock(caf::actor_config& config, mesh* net) : caf::monitorable_actor(config), net_(net) {}
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override { net_->run_due(); }

private:
  mesh* net_;
};

mesh::mesh(world& w, caf::actor_system& system, caf::detail::test_actor_clock& clock) :
    world_(w), system_(system), clock_(clock), wire_(system) {
  caf::actor_config config{system.dummy_execution_unit()};
  alarm_ = caf::make_actor<mesh_clock, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system,
                                                              config, this);
}

mesh::~mesh() = default;

// -- time -------------------------------------------------------------------------------------------------

void mesh::later(milliseconds at, std::function<void()> what) {
  at = std::max(at, now());
  due_.emplace(std::pair{at, ++appointments_}, std::move(what));
  clock_.schedule_message(caf::actor_clock::time_point{at}, alarm_,
                          caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, appointments_));
}

void mesh::run_due() {
  while (!due_.empty() && due_.begin()->first.first <= now()) {
    const auto next = due_.extract(due_.begin());
    next.mapped()();
  }
  std::erase_if(links_, [](const auto& l) { return l->is_over(); });
}

milliseconds mesh::delay() {
  const auto most = world_.options.mesh.link_delay;
  return world_.chaos ? between(world_.rng, milliseconds{0}, most) : std::max(most / 4, milliseconds{1});
}

caf::message mesh::carry(const caf::message& sent) {
  auto read = wire_.carry(sent);
  if (read) return std::move(*read);
  world_.check->fail("I9", "a message cannot be sent to another node: " + caf::to_string(sent) + ": "
                             + caf::to_string(read.error()));
  return sent;
}

// -- processes --------------------------------------------------------------------------------------------

process_no mesh::enter(const std::string& node, const process* runs) {
  caf::node_id::default_data::host_id_type host{};
  host.fill(static_cast<std::uint8_t>(node.front()));
  const auto who = processes_.size();
  processes_.push_back({node, caf::make_node_id(static_cast<std::uint32_t>(who + 1), host), runs, nullptr});
  return who;
}

void mesh::publish(process_no who, caf::strong_actor_ptr cluster) {
  processes_[who].cluster = std::move(cluster);
}

void mesh::leave(process_no who, bool is_silent) {
  processes_[who].runs = nullptr;
  processes_[who].cluster = nullptr;
  for (const auto& l : links_)
    if (l->at(0) == who || l->at(1) == who) l->abandon(l->side_of(who), is_silent);
}

milliseconds mesh::stands_still(process_no who) const {
  const auto* runs = processes_[who].runs;
  return runs != nullptr && runs->is_frozen() ? std::max(runs->frozen_until() - now(), milliseconds{1})
                                              : milliseconds{0};
}

std::shared_ptr<mesh_link> mesh::find(process_no one, process_no other) const {
  const auto known =
    std::ranges::find_if(links_, [&](const auto& l) { return l->joins(one, other) && !l->is_over(); });
  return known == links_.end() ? nullptr : *known;
}

/// A connection that is open at one end only prevents a new one until that end notices.
caf::strong_actor_ptr mesh::connect(process_no from, const std::string& node) {
  const auto there = std::ranges::find_if(
    processes_, [&](const member& m) { return m.runs != nullptr && m.cluster && m.node == node; });
  if (there == processes_.end() || !can_meet(processes_[from].node, node)) return nullptr;
  const auto to = static_cast<process_no>(there - processes_.begin());
  if (stands_still(to) > milliseconds{0}) return nullptr;
  auto link = find(from, to);
  if (link && !link->is_up()) return nullptr;
  if (!link) links_.push_back(link = std::make_shared<mesh_link>(*this, from, to));
  return link->seen_from(link->side_of(from), there->cluster);
}

std::string mesh::node_of(const caf::strong_actor_ptr& handle) const {
  const auto* proxy = handle ? dynamic_cast<const mesh_proxy*>(handle->get()) : nullptr;
  return proxy == nullptr ? std::string{} : processes_[proxy->leads_to()].node;
}

// -- faults -----------------------------------------------------------------------------------------------

void mesh::strike() {
  const auto& o = world_.options.mesh;
  auto& rng = world_.rng;
  const auto per_100000 = [&](std::uint32_t rate) { return rate != 0 && rng() % 100'000 < rate; };
  if (per_100000(o.reset))
    if (const auto l = some_link()) l->reset();
  if (per_100000(o.stall))
    if (const auto l = some_link()) l->stall(rng() % 2, between(rng, milliseconds{1}, o.connection_timeout));
  if (per_100000(o.cut))
    cut_some(between(rng, o.connection_timeout, o.connection_timeout * 2 + world_.options.lease_term * 2));
}

std::shared_ptr<mesh_link> mesh::some_link() {
  return links_.empty() ? nullptr : links_[world_.rng() % links_.size()];
}

/// Cuts one node from one or all others, in one or both directions.
void mesh::cut_some(milliseconds span) {
  auto& rng = world_.rng;
  const auto nodes = world_.options.nodes;
  const auto one = rng() % nodes;
  const bool from_all = chance(rng, 400);
  const auto second = (one + 1 + rng() % (nodes - 1)) % nodes;
  const auto way = rng() % 4; // outgoing, incoming, both
  for (std::size_t other = 0; other < nodes; ++other) {
    if (other == one || (!from_all && other != second)) continue;
    if (way != 1) cut(node_name(one), node_name(other), span);
    if (way != 0) cut(node_name(other), node_name(one), span);
  }
  world_.check->reached(way < 2 ? rare::cut_one_way : rare::cut_both_ways);
}

void mesh::cut(const std::string& from, const std::string& to, milliseconds span) {
  auto& until = cut_until_[{from, to}];
  until = std::max(until, now() + span);
  for (const auto& l : links_)
    for (const std::size_t side : {0, 1})
      if (processes_[l->at(side)].node == from && processes_[l->at(1 - side)].node == to) l->silence(side);
}

bool mesh::is_cut(const std::string& from, const std::string& to) const {
  const auto known = cut_until_.find({from, to});
  return known != cut_until_.end() && known->second > now();
}

bool mesh::can_meet(const std::string& one, const std::string& other) const {
  return !is_cut(one, other) && !is_cut(other, one);
}

bool mesh::is_cut_off(const std::string& node) const {
  return std::ranges::any_of(cut_until_, [&](const auto& c) {
    return c.second > now() && (c.first.first == node || c.first.second == node);
  });
}

void mesh::has_frozen(process_no who) {
  for (const auto& l : links_) {
    if (l->at(0) != who && l->at(1) != who) continue;
    later(now() + world_.options.mesh.connection_timeout, [this, link = l, who] {
      if (stands_still(who) > milliseconds{0}) link->close_awake(1 - link->side_of(who));
    });
  }
}

void mesh::heal() { cut_until_.clear(); }

void mesh::break_all() {
  for (const auto& l : links_) l->reset();
}

} // namespace fq::sim
