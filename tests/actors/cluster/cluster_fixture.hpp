// SPDX-License-Identifier: Apache-2.0
// Nodes of one cluster in virtual time: they share a ledger, and actors exchange directly what CAF would send
// between hosts.
#pragma once
#include "tests/actors/base/nodes.hpp"

#include "actors/cluster/cluster.hpp"

namespace fq::test {

struct cluster_fixture : nodes_fixture {
  node& start(const std::string& name) { return nodes_fixture::start(name, true); }
  /// Reports to all nodes that the nodes with these loads are connected.
  void connect(const std::map<std::string, std::uint32_t>& owners, const std::string& draining = {}) {
    for (auto& [name, n] : nodes) {
      cluster_changed now;
      now.self = name;
      for (const auto& [id, count] : owners) {
        now.nodes.push_back({id, "", wire_version, count, true, id == draining, never, true});
        const auto handle = caf::actor_cast<caf::strong_actor_ptr>(at(id).root);
        if (id != name) now.peers.push_back({id, handle, handle, handle});
      }
      caf::anon_send(n->root, now);
    }
    run();
  }
  /// The view for node a: a is draining and b is available.
  cluster_changed moving_to_b() {
    cluster_changed now;
    now.self = "a";
    now.nodes = {{"a", "", wire_version, 1, true, true, never, true},
                 {"b", "", wire_version, 50, true, false, never, true}};
    const auto handle = caf::actor_cast<caf::strong_actor_ptr>(at("b").root);
    now.peers = {{"b", handle, handle, handle}};
    return now;
  }
  std::shared_ptr<answer<event_handle>> resolve(const std::string& name) {
    return nodes_fixture::resolve(at(name));
  }
  /// Starts the event and others at a, `count` in total.
  void begin_at_a(std::uint32_t count) {
    connect({{"a", 0}, {"b", 50}});
    for (std::uint32_t i = 0; i < count; ++i) {
      const aggregate_id one{number_of(event.aggregate) + i};
      if (i > 0) put_event(10, {}, one);
      const auto found = ask<event_handle>(at("a").root, resolve_event{one});
      run();
      CAF_REQUIRE(found->ok);
    }
  }
  std::size_t owned_by(const std::string& name) {
    const auto told = ask<owned_aggregates>(at(name).root, list_owned{});
    run();
    return told->value.aggregates.size();
  }
  /// Counts in `left` how often an owner told it that it leaves.
  subscriber_handle spawn_subscriber(std::shared_ptr<int> left) {
    return sys.spawn([left](subscriber_handle::pointer) -> subscriber_handle::behavior_type {
      return {[](const entries_changed&) {}, [](const event_noticed&) {},
              [](const orders_changed&) {},  [left](const owner_left&) { ++*left; },
              [](const push_mark&) {},       [](const pushes_lost&) {}};
    });
  }
  std::string owner() { // from the ledger
    auto result = store.acquire(event.aggregate, {"nobody", lease_term}, never);
    const auto* held = std::get_if<lease_held>(&result);
    return held ? held->owner : std::string{};
  }
};

} // namespace fq::test
