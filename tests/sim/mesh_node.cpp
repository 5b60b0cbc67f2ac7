// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/mesh_node.hpp"

#include "tests/sim/edge.hpp"

#include <caf/send.hpp>

namespace fq::sim {
namespace {

/// Limit for TCP, TLS and handshake together.
constexpr milliseconds dial_timeout{600};

dialer_handle::behavior_type sim_dialer(dialer_handle::pointer self, mesh* net, process_no home) {
  return {[=](const dial_node& x) {
    const auto asker = caf::actor_cast<caf::actor>(self->current_sender());
    const auto fail = [=, node = x.node.id] {
      caf::delayed_anon_send(asker, dial_timeout / 2, node_dialed{node, "it does not answer", {}});
    };
    const auto there = net->connect(home, x.node.id);
    if (!there) return fail();
    self->request(caf::actor_cast<cluster_handle>(there), dial_timeout, x.words)
      .then(
        [=, node = x.node.id](greeting& words) {
          caf::anon_send(asker, node_dialed{node, {}, std::move(words.from)});
        },
        [=](const caf::error&) { fail(); });
  }};
}

/// Stand-in for the catalog and accounts of a node without them.
caf::behavior idle_owners(caf::event_based_actor* self) {
  self->set_default_handler(caf::drop);
  return {[](const cluster_changed&) {}};
}

} // namespace

mesh_node::mesh_node(world& w, caf::actor_system& system, std::string node, const process& runs,
                     const owner_services& owners, const region_handle& region, const office_handles& offered,
                     std::shared_ptr<lease_doubt> doubt) :
    world_(w), number_(w.net->enter(node, &runs)) {
  const auto& o = w.options.mesh;
  others_ = system.spawn(idle_owners);
  services_.env = owners.env;
  services_.ledgers = owners.ledgers;
  services_.memory = owners.memory;
  services_.node = node;
  services_.address = node + ":0";
  services_.region = region;
  services_.catalog = offered.catalog ? offered.catalog : caf::actor_cast<catalog_handle>(others_);
  services_.accounts = offered.accounts ? offered.accounts : caf::actor_cast<accounts_handle>(others_);
  services_.dialer = system.spawn(sim_dialer, w.net, number_);
  services_.doubt = std::move(doubt);
  services_.beat_interval = o.beat_interval;
  services_.alive_for = o.alive_for;
  cluster_ = system.spawn(cluster, static_cast<const cluster_services*>(&services_));
  edge_ = caf::actor_cast<caf::actor>(system.spawn<fq::sim::edge>(&w, region, node));
  w.net->publish(number_, caf::actor_cast<caf::strong_actor_ptr>(cluster_));
}

void mesh_node::leave(bool is_silent) { world_.net->leave(number_, is_silent); }

std::vector<caf::actor> mesh_node::actors() const {
  return {edge_, others_, caf::actor_cast<caf::actor>(cluster_),
          caf::actor_cast<caf::actor>(services_.dialer)};
}

void mesh_node::drain() const { caf::anon_send(cluster_, drain_node{}); }

void mesh_node::forget() {
  services_ = {};
  cluster_ = nullptr;
  others_ = edge_ = nullptr;
}

} // namespace fq::sim
