// SPDX-License-Identifier: Apache-2.0
// What one simulated node sends another goes through CAF's serialization, as over a real connection: a member
// that a message's `inspect` forgets is lost.
#pragma once
#include <caf/expected.hpp>
#include <caf/message.hpp>
#include <caf/proxy_registry.hpp>
#include <caf/scoped_execution_unit.hpp>

#include <vector>

namespace fq::sim {

class wire {
public:
  explicit wire(caf::actor_system& system);
  ~wire();
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  /// The message as the receiver reads it, with null instead of actor handles. An error: it cannot be sent.
  caf::expected<caf::message> carry(const caf::message& content);

private:
  struct no_proxies final : caf::proxy_registry::backend {
    caf::strong_actor_ptr make_proxy(caf::node_id, caf::actor_id) override { return nullptr; }
    void set_last_hop(caf::node_id*) override {}
  };
  caf::scoped_execution_unit unit_;
  no_proxies backend_;
  caf::proxy_registry proxies_;
  std::vector<char> bytes_;
};

} // namespace fq::sim
