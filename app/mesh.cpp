// SPDX-License-Identifier: Apache-2.0
#include "app/mesh.hpp"

#include "app/limits.hpp"
#include "config/network.hpp"

#include <caf/io/middleman.hpp>
#include <caf/io/publish.hpp>
#include <caf/openssl/manager.hpp>
#include <caf/openssl/publish.hpp>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

namespace fq {
namespace {

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};

host_and_port split(const std::string& address) {
  const auto colon = address.rfind(':');
  host_and_port result{address.substr(0, colon), 0};
  if (colon != std::string::npos)
    std::from_chars(address.data() + colon + 1, address.data() + address.size(), result.port);
  if (result.host.starts_with('[') && result.host.ends_with(']'))
    result.host = result.host.substr(1, result.host.size() - 2);
  return result;
}

bool is_reachable(const host_and_port& there) {
  namespace asio = boost::asio;
  asio::io_context io;
  asio::ip::tcp::resolver resolver{io};
  asio::ip::tcp::socket socket{io};
  boost::system::error_code unknown;
  const auto addresses = resolver.resolve(there.host, std::to_string(there.port), unknown);
  if (unknown) return false;
  bool connected = false;
  asio::async_connect(socket, addresses,
                      [&](const boost::system::error_code& e, const auto&) { connected = !e; });
  io.run_for(node_probe_timeout);
  return connected;
}

/// Checks the files at start: CAF reads them for each connection and ends the process if it cannot.
void check_certificate(const config::cluster_options& o) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> tls{SSL_CTX_new(TLS_method()), SSL_CTX_free};
  const auto require = [](bool ok, const std::string& what) {
    ERR_clear_error();
    if (!ok) throw std::runtime_error{what};
  };
  require(tls != nullptr, "cluster: no TLS");
  require(SSL_CTX_use_certificate_chain_file(tls.get(), o.certificate.c_str()) == 1,
          "cluster.certificate: cannot be used: " + o.certificate.string());
  require(SSL_CTX_use_PrivateKey_file(tls.get(), o.key.c_str(), SSL_FILETYPE_PEM) == 1,
          "cluster.key: cannot be used, or is another certificate's: " + o.key.string());
  require(SSL_CTX_load_verify_locations(tls.get(), o.ca.c_str(), nullptr) == 1,
          "cluster.ca: cannot be used: " + o.ca.string());
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
  if (options.insecure) return;
  check_certificate(options);
  cfg.load<caf::openssl::manager>();
  cfg.openssl_certificate = options.certificate.string();
  cfg.openssl_key = options.key.string();
  cfg.openssl_cafile = options.ca.string();
}

void publish_cluster(const cluster_handle& cluster, const config::cluster_options& options) {
  const auto at = split(options.listen);
  const auto port = options.insecure ? caf::io::publish(cluster, at.port, at.host.c_str(), true)
                                     : caf::openssl::publish(cluster, at.port, at.host.c_str(), true);
  if (!port) throw std::runtime_error{"cluster.listen: cannot listen at " + options.listen};
}

dialer_handle::behavior_type dialer(dialer_handle::pointer self, bool is_insecure) {
  return {
    [self, is_insecure](const dial_node& x) {
      const auto asker = caf::actor_cast<caf::strong_actor_ptr>(self->current_sender());
      const auto there = split(x.node.address);
      const auto fail = [self, asker, node = x.node.id](std::string why) {
        answer(self, asker, node, std::move(why));
      };
      if (!is_reachable(there)) return fail("nothing listens at " + x.node.address);
      auto middleman = is_insecure ? self->system().middleman().actor_handle()
                                   : self->system().openssl_manager().actor_handle();
      self->request(middleman, node_handshake_timeout, caf::connect_atom::value, there.host, there.port)
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
