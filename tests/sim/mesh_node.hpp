// SPDX-License-Identifier: Apache-2.0
// Makes a simulated process part of a mesh: the real cluster actor, a dialer for the simulated network, and
// the fans' edge.
#pragma once
#include "tests/sim/mesh.hpp"

#include "actors/cluster/cluster.hpp"
#include "actors/sale/event_actor.hpp"

namespace fq::sim {

class mesh_node {
public:
  mesh_node(world& w, caf::actor_system& system, std::string node, const process& runs,
            const owner_services& owners, const region_handle& region, const office_handles& offered,
            std::shared_ptr<lease_doubt> doubt);
  /// Removes the process from the network; the process ends its actors.
  void leave(bool is_silent);
  [[nodiscard]] process_no number() const { return number_; }
  [[nodiscard]] const caf::actor& edge() const { return edge_; }
  [[nodiscard]] std::vector<caf::actor> actors() const;
  void drain() const;
  void forget();

private:
  world& world_;
  process_no number_;
  cluster_services services_;
  cluster_handle cluster_;
  caf::actor others_, edge_; ///< others_: stands for catalog and accounts, if the process has none
};

} // namespace fq::sim
