// SPDX-License-Identifier: Apache-2.0
// Nodes that share the fixture's ledger, each with a ledger worker under its own name and a region.
#pragma once
#include "tests/actors/base/fixture.hpp"

#include <map>
#include <memory>
#include <string>

namespace fq::test {

inline constexpr milliseconds lease_term{3'000};

struct node {
  ledger_worker_handle worker;
  owner_services services;
  region_handle root;
  std::shared_ptr<incarnation> process = std::make_shared<incarnation>();
  std::shared_ptr<ledger_memory> memory = std::make_shared<ledger_memory>();
  std::size_t alarms = 0; ///< errors of its ledger worker
};

struct nodes_fixture : fixture {
  event_row event = put_event(10);
  std::map<std::string, std::unique_ptr<node>> nodes;

  ~nodes_fixture() {
    for (auto& [name, n] : nodes) stop(*n);
  }
  node& start(const std::string& name, bool has_cluster = false) {
    auto& started = begin(name, name, has_cluster);
    run();
    return started;
  }
  /// A second process of the node; the first one lives on and is not told. Its key is the name and "'".
  node& start_twin(const std::string& name, bool has_cluster = false) {
    auto& started = begin(name + "'", name, has_cluster);
    run();
    return started;
  }
  /// The same, while `worker` does nothing.
  node& start_twin_without(const ledger_worker_handle& worker, const std::string& name) {
    auto& started = begin(name + "'", name, false);
    run_without(worker);
    return started;
  }
  node& begin(const std::string& key, const std::string& name, bool has_cluster) {
    auto& n = nodes[key] = std::make_unique<node>();
    n->worker =
      sys.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&env),
                ledger_worker_settings{.lease = {name, lease_term},
                                       .process = n->process,
                                       .memory = n->memory,
                                       .prune_interval = 24h,
                                       .alarm = [at = n.get()](const std::string&) { ++at->alarms; }});
    n->services.env = &env;
    n->services.sessions = &sessions;
    n->services.ledgers = ledger_workers{n->worker};
    n->services.memory = n->memory;
    n->services.takeover_interval = 500ms;
    n->services.has_cluster = has_cluster;
    n->root = sys.spawn(region, static_cast<const owner_services*>(&n->services), restart_budget{});
    return *n;
  }
  void stop(node& n, caf::exit_reason how = caf::exit_reason::user_shutdown) {
    for (const auto& each : {caf::actor_cast<caf::actor>(n.root), caf::actor_cast<caf::actor>(n.worker)})
      if (each) caf::anon_send_exit(each, how), run();
    n.root = nullptr;
    n.worker = nullptr;
    n.services.ledgers.clear();
  }
  node& at(const std::string& name) { return *nodes.at(name); }
  std::shared_ptr<answer<event_handle>> resolve(node& n) {
    auto a = ask<event_handle>(n.root, resolve_event{event.aggregate});
    run();
    return a;
  }
};

} // namespace fq::test
