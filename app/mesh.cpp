// SPDX-License-Identifier: Apache-2.0
#include "app/mesh.hpp"

#include "actors/base/cluster_links.hpp"
#include "app/limits.hpp"
#include "app/log.hpp"
#include "app/mesh_dial.hpp"
#include "config/network.hpp"

#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman.hpp>

#include <set>
#include <stdexcept>
#include <utility>

namespace fq {
namespace {

caf::actor broker_of(caf::actor_system& system) {
  return system.middleman().named_broker<caf::io::basp_broker>(caf::atom("BASP"));
}

void answer(dialer_handle::pointer self, const caf::strong_actor_ptr& asker, const std::string& node,
            std::string failure, node_peer peer = {}) {
  self->send(caf::actor_cast<cluster_handle>(asker), node_dialed{node, std::move(failure), std::move(peer)});
}

} // namespace

void configure_mesh(caf::actor_system_config& cfg, const config::cluster_options& options) {
  if (!options.is_on()) return;
  cfg.load<caf::io::middleman>();
  cfg.set("middleman.heartbeat-interval", caf::timespan{heartbeat_interval});
  cfg.set("middleman.connection-timeout", caf::timespan{heartbeat_timeout});
}

mesh::mesh(const config::cluster_options& options, const std::string& node, environment& env,
           cluster_links& counts) :
    env_(env),
    counts_(counts),
    tls_(options.insecure ? std::nullopt : std::optional<mesh_tls>{std::in_place, options, node, env}),
    door_(config::parse_endpoint(options.listen).value(), tls_ ? &*tls_ : nullptr, links_, env) {}

void mesh::open(const cluster_handle& cluster) {
  auto& system = cluster->home_system();
  const auto doorman = caf::make_counted<mesh_doorman>(system, door_.port(), services_);
  caf::anon_send(broker_of(system), caf::publish_atom::value, caf::io::doorman_ptr{doorman}, door_.port(),
                 caf::actor_cast<caf::strong_actor_ptr>(cluster),
                 system.message_types(caf::detail::type_list<cluster_handle>{}));
  door_.open([doorman](mesh_socket socket) { doorman->admit(std::move(socket)); });
}

caf::io::scribe_ptr mesh::dial(caf::actor_system& system, const node_row& node) {
  auto socket = fq::dial(node.address, node.id, tls_ ? &*tls_ : nullptr, links_, env_);
  return make_stream(system, std::move(socket), mesh_side::dialed, services_);
}

bool mesh::speaks_for(const caf::node_id& process, const std::string& node) {
  if (!tls_) return true;
  const auto named = links_.node_of(process);
  if (named == node) return true;
  if (!named.empty()) {
    counts_.closed.fetch_add(1, std::memory_order_relaxed);
    log::warn("closed a connection between nodes",
              {{"node", named}, {"why", "it says that it is " + node.substr(0, logged_node_bytes_max)}});
  }
  links_.end_of(process);
  return false;
}

void mesh::reload() {
  if (!tls_) return;
  tls_->reload();
  links_.end_if([this](const peer_certificate& peer) { return !tls_->accepts(peer); });
}

std::optional<timestamp> mesh::certificate_end() const {
  return tls_ ? std::optional{tls_->expires()} : std::nullopt;
}

dialer_handle::behavior_type dialer(dialer_handle::pointer self, mesh* connections) {
  return {
    [self, connections](const dial_node& x) {
      const auto asker = caf::actor_cast<caf::strong_actor_ptr>(self->current_sender());
      const auto fail = [self, asker, node = x.node.id](std::string why) {
        answer(self, asker, node, std::move(why));
      };
      caf::io::scribe_ptr stream;
      try {
        stream = connections->dial(self->system(), x.node);
      } catch (const std::runtime_error& e) { return fail(e.what()); }
      self
        ->request(broker_of(self->system()), node_handshake_timeout, caf::connect_atom::value,
                  std::move(stream), split(x.node.address).port)
        .then(
          [=](const caf::node_id&, const caf::strong_actor_ptr& found, const std::set<std::string>&) {
            if (!found) return fail("it publishes nothing");
            self->request(caf::actor_cast<cluster_handle>(found), node_handshake_timeout, x.words)
              .then([=](greeting& words) { answer(self, asker, x.node.id, {}, std::move(words.from)); },
                    [=](const caf::error&) { fail("it did not answer the greeting"); });
          },
          [=](const caf::error&) { fail("it is no node of this cluster: the handshake failed"); });
    },
  };
}

} // namespace fq
