// SPDX-License-Identifier: Apache-2.0
// The composition below HTTP: keys, ledger, actors and gateways, built in order from the options and
// destroyed in reverse. `serve` puts a server in front of it; other subcommands use it alone.
#pragma once
#include "actors/base/cluster_links.hpp"
#include "actors/base/measures.hpp"
#include "actors/cluster/cluster.hpp"
#include "actors/cluster/region.hpp"
#include "actors/directory/accounts.hpp"
#include "actors/directory/catalog.hpp"
#include "actors/directory/directory.hpp"
#include "actors/outbox/bus_channel.hpp"
#include "actors/outbox/bus_inbox.hpp"
#include "actors/outbox/fan_out.hpp"
#include "actors/outbox/mail_consumer.hpp"
#include "actors/outbox/mailer.hpp"
#include "actors/payments/payments.hpp"
#include "actors/protocol/system_config.hpp"
#include "actors/sale/checkout_switch.hpp"
#include "actors/sale/draw_worker.hpp"
#include "actors/storage/cache_worker.hpp"
#include "actors/storage/incarnation.hpp"
#include "actors/storage/ledger_memory.hpp"
#include "app/couriers.hpp"
#include "app/gateways.hpp"
#include "app/mailers.hpp"
#include "app/mesh.hpp"
#include "app/stores.hpp"
#include "app/tenant_rules.hpp"
#include "app/witnesses.hpp"
#include "config/options.hpp"
#include "crypto/keys.hpp"
#include "crypto/session_token.hpp"
#include "outbound/drand_source.hpp"
#include "outbound/mail.hpp"
#include "outbound/otlp_exporter.hpp"
#include "outbound/sandbox_gateway.hpp"

#include "app/root.hpp"

#include <caf/actor_system.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace fq {

/// CAF's settings: scheduler policy "sharing", few threads, bounded throughput, FairQueue's message types.
struct actor_config : system_config {
  actor_config(std::size_t threads, const config::cluster_options& cluster);
};

class node {
public:
  /// Throws std::runtime_error, and the exceptions of keys, ledger and gateway, with a message for the
  /// operator.
  /// `on_failure`: called on an actor thread when a global actor has died; the process must end and be
  /// restarted.
  /// `on_directory`: called on an actor thread with the tenants and keys, after the first read and each
  /// change; may be null.
  node(const config::options& options, environment& env, std::function<void(std::string)> on_failure,
       std::function<void(directory_ptr)> on_directory = nullptr);
  /// Stops the actors, then closes ledger and gateways.
  ~node();

  /// Starts to deliver the sandbox gateway's webhooks to `url`. Call it after the server listens.
  void start_courier(std::string url);

  [[nodiscard]] caf::actor_system& system() { return *system_; }
  /// Those of the start.
  [[nodiscard]] const key_store& keys() const { return keys_; }
  /// The keys that verify and sign from now on.
  void renew(const key_store& keys);
  [[nodiscard]] const session_keys& sessions() const { return sessions_; }
  [[nodiscard]] sandbox_gateway* sandbox() { return sandbox_.get(); }
  /// Every enabled gateway, including the sandbox.
  [[nodiscard]] std::map<std::string, const gateway_port*, std::less<>> gateways() const;
  [[nodiscard]] const measures& numbers() const { return numbers_; }
  /// Null: spans are not recorded.
  [[nodiscard]] otlp_exporter* spans() const { return spans_.get(); }
  /// Null: this node is not in a cluster.
  [[nodiscard]] mesh* connections() { return mesh_ ? &*mesh_ : nullptr; }
  /// As mesh::reload, counted in the metrics.
  void reload_connections();
  /// Null: this node is not in a cluster.
  [[nodiscard]] cluster_links* links() { return options_.cluster.is_on() ? &links_ : nullptr; }
  [[nodiscard]] region_handle region() const { return region_; }
  [[nodiscard]] catalog_handle catalog() const { return catalog_; }
  [[nodiscard]] accounts_handle accounts() const { return accounts_; }
  [[nodiscard]] directory_handle directory() const { return directory_; }
  [[nodiscard]] notices_handle notices() const { return notices_; }
  /// Null: no cache is configured, or the ledger is not shared.
  [[nodiscard]] session_reader_handle session_reader() const { return session_reader_; }
  /// Null: this node is not in a cluster.
  [[nodiscard]] cluster_handle cluster() const { return cluster_; }
  /// Null: the ledger is shared, so accounts may be on another node.
  [[nodiscard]] const customer_book* customers() const {
    return ledger_.lease.owner.empty() ? accounts_services_.customers.get() : nullptr;
  }
  /// Whether the last call to the ledger succeeded.
  [[nodiscard]] const std::atomic<bool>& ledger_is_reachable() const { return ledger_is_reachable_; }
  /// Whether a later process has this node's name; then this one serves nothing until it ends.
  [[nodiscard]] const std::atomic<bool>& is_superseded() const { return process_->is_superseded(); }
  /// Events that are stopped, because the ledger lost commits of them.
  [[nodiscard]] const std::atomic<std::uint64_t>& events_lost() const { return memory_->stopped(); }
  [[nodiscard]] ledger_worker_handle writer() const { return owner_services_.ledgers.of(accounts_aggregate); }
  /// Null: no cache is configured.
  [[nodiscard]] const cache_metrics* cache_counts() const { return cache_ ? &cache_metrics_ : nullptr; }

private:
  void spawn_actors(std::function<void(std::string)> on_failure,
                    std::function<void(directory_ptr)> on_directory);
  ledger_workers spawn_ledger_workers(root_children& children);
  void spawn_cache_workers(root_children& children);
  void spawn_payments(root_children& children);
  void set_owner_services(const ledger_workers& ledgers);
  void spawn_directory(root_children& children, const ledger_workers& ledgers,
                       std::function<void(directory_ptr)> on_directory);
  /// A mailer and its workers, one for each port.
  mailer_handle spawn_mailer(root_children& children, const std::string& name, mailer_services& services,
                             const std::vector<mail_port*>& ports);
  void spawn_accounts(root_children& children, const ledger_workers& ledgers);
  void spawn_cluster(root_children& children, const ledger_workers& ledgers);
  void publish_certificate_end();
  void start_checkout_switch(root_children& children);
  void start_dispatchers(root_children& children, const ledger_workers& ledgers);
  /// The consumer of the bus lane.
  consumer_handle start_bus(root_children& children);
  /// Whether this node may take outbox rows, deliveries and messages.
  [[nodiscard]] bool may_take() const {
    return !is_superseded() && (!options_.cluster.is_on() || links_.serves.load());
  }
  /// Whether other nodes are possible: the ledger is shared.
  [[nodiscard]] bool has_other_nodes() const { return !ledger_.lease.owner.empty(); }

  const config::options& options_;
  environment& env_;
  key_store keys_;
  session_keys sessions_;
  ledger_engines ledger_;
  std::atomic<bool> ledger_is_reachable_{false};
  std::shared_ptr<incarnation> process_ = std::make_shared<incarnation>();
  std::shared_ptr<ledger_memory> memory_ = std::make_shared<ledger_memory>();
  std::shared_ptr<lease_doubt> lease_doubt_ = std::make_shared<lease_doubt>();
  std::unique_ptr<cache> cache_;
  std::unique_ptr<cache>
    cache_of_others_; ///< reads the mirrors of other nodes; null: the ledger is not shared
  cache_metrics cache_metrics_;
  std::unique_ptr<sandbox_gateway> sandbox_;
  std::unique_ptr<drand_source> beacons_;
  std::unique_ptr<otlp_exporter> spans_; ///< null: spans are not recorded
  std::map<std::string, std::unique_ptr<gateway_port>> gateways_; ///< except the sandbox
  tenant_payments tenant_payments_;
  tenant_mails tenant_mails_{options_};
  tenant_rules tenant_rules_;
  measures numbers_;
  cluster_links links_;
  std::vector<std::unique_ptr<mail_port>> mail_of_codes_; ///< not thread-safe: one for each worker
  std::unique_ptr<mail_port> mail_of_events_, mail_of_notices_;
  std::unique_ptr<bus_port> bus_; ///< null: no bus is configured
  std::unique_ptr<inbox_port> payment_events_; ///< Stripe's webhooks by the bus; null: off
  mail_consumer_services mail_consumer_services_;
  fan_out_services fan_out_services_;
  couriers couriers_;
  witnesses witnesses_;
  bus_services bus_services_;
  bus_inbox_services bus_inbox_services_;
  owner_services owner_services_;
  payments_services payments_services_;
  mailer_services mailer_services_, notice_mailer_services_;
  checkout_switch_services checkout_switch_services_;
  accounts_services accounts_services_;
  cluster_services cluster_services_;
  std::optional<mesh> mesh_; ///< none: this node is not in a cluster
  actor_config caf_config_;
  std::unique_ptr<caf::actor_system> system_;
  region_handle region_;
  catalog_handle catalog_;
  accounts_handle accounts_;
  directory_handle directory_;
  notices_handle notices_;
  session_reader_handle session_reader_;
  cluster_handle cluster_;
  caf::actor root_;
  caf::actor courier_;
};

} // namespace fq
