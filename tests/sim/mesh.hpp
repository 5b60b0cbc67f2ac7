// SPDX-License-Identifier: Apache-2.0
// The network between the simulated nodes: what CAF I/O is between hosts. Two processes have at most one
// connection, over which everything is in order; it breaks when one end says so or has heard nothing for a
// while, and then what hung on it is DOWN. Faults: slow and stalled links, breaks in which what is on its way
// arrives or not, cuts of one direction or both, processes that stand still or vanish.
#pragma once
#include "tests/sim/world.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace fq::sim {

class process;
class mesh_link;

/// A process in the network; the next one on the same machine has another number, as CAF has another node id
/// for it.
using process_no = std::size_t;

class mesh {
public:
  mesh(world& w, caf::actor_system& system, caf::detail::test_actor_clock& clock);
  ~mesh();
  mesh(const mesh&) = delete;
  mesh& operator=(const mesh&) = delete;

  // -- processes
  process_no enter(const std::string& node, const process* runs);
  /// What others reach at `who`.
  void publish(process_no who, caf::strong_actor_ptr cluster);
  /// It is gone. `is_silent`: so is its machine, nobody is told.
  void leave(process_no who, bool is_silent);
  /// The cluster actor of the process that runs at `node`, as `from` sees it; null: there is no way.
  caf::strong_actor_ptr connect(process_no from, const std::string& node);
  /// The node that this handle leads to; empty: its actor is in the process that holds it.
  [[nodiscard]] std::string node_of(const caf::strong_actor_ptr& handle) const;

  // -- faults
  void strike();
  /// It stands still from now on: others may lose patience.
  void has_frozen(process_no who);
  /// No fault any more. What was broken is noticed in time.
  void heal();
  /// Every connection; nothing keeps nodes from connecting anew.
  void break_all();
  /// Whether `node` is cut off from another one, in any direction.
  [[nodiscard]] bool is_cut_off(const std::string& node) const;

  // -- for links
  [[nodiscard]] world& in_world() { return world_; }
  [[nodiscard]] caf::actor_system& system() { return system_; }
  [[nodiscard]] const caf::node_id& id_of(process_no who) const { return processes_.at(who).id; }
  /// How long `who` stands still from now on; 0: it runs.
  [[nodiscard]] milliseconds stands_still(process_no who) const;
  /// Null: they are not connected.
  [[nodiscard]] std::shared_ptr<mesh_link> find(process_no one, process_no other) const;
  [[nodiscard]] milliseconds now() const { return world_.env->steady_now(); }
  [[nodiscard]] milliseconds delay();
  void later(milliseconds at, std::function<void()> what);

private:
  friend class mesh_clock;
  struct member {
    std::string node;
    caf::node_id id;
    const process* runs = nullptr; ///< null: it is gone
    caf::strong_actor_ptr cluster;
  };
  void run_due();
  void cut(const std::string& from, const std::string& to, milliseconds span);
  void cut_some(milliseconds span);
  [[nodiscard]] bool is_cut(const std::string& from, const std::string& to) const;
  [[nodiscard]] bool can_meet(const std::string& one, const std::string& other) const;
  [[nodiscard]] std::shared_ptr<mesh_link> some_link();

  world& world_;
  caf::actor_system& system_;
  caf::detail::test_actor_clock& clock_;
  std::vector<member> processes_;
  std::vector<std::shared_ptr<mesh_link>> links_; ///< that one end at least believes in
  std::map<std::pair<std::string, std::string>, milliseconds> cut_until_; ///< from, to: steady time
  std::map<std::pair<milliseconds, std::uint64_t>, std::function<void()>> due_;
  std::uint64_t appointments_ = 0;
  caf::strong_actor_ptr alarm_;
};

} // namespace fq::sim
