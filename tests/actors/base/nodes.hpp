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
};

struct nodes_fixture : fixture {
  event_row event = put_event(10);
  std::map<std::string, std::unique_ptr<node>> nodes;

  ~nodes_fixture() {
    for (auto& [name, n] : nodes) stop(*n);
  }
  node& start(const std::string& name, bool has_cluster = false) {
    auto& n = nodes[name] = std::make_unique<node>();
    n->worker = sys.spawn(ledger_worker, static_cast<ledger*>(&store), static_cast<environment*>(&env),
                          ledger_worker_settings{.lease = {name, lease_term}, .prune_interval = 24h});
    n->services.env = &env;
    n->services.sessions = &sessions;
    n->services.ledgers = ledger_workers{n->worker};
    n->services.takeover_interval = 500ms;
    n->services.has_cluster = has_cluster;
    n->root = sys.spawn(region, static_cast<const owner_services*>(&n->services), restart_budget{});
    run();
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
