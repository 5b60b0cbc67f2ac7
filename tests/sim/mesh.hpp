// SPDX-License-Identifier: Apache-2.0
// The network between the simulated nodes, in place of CAF I/O. Two processes have at most one connection,
// which keeps the order. It breaks when one end closes it or hears nothing for a while; monitored actors
// behind it are then DOWN. Faults: slow and stalled links, resets that lose messages or not, cuts in one or
// both directions, frozen and vanished processes.
#pragma once
#include "tests/sim/wire.hpp"
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

/// A process in the network. The next process on the same machine gets a new number, as CAF gives it a new
/// node id.
using process_no = std::size_t;

class mesh {
public:
  mesh(world& w, caf::actor_system& system, caf::detail::test_actor_clock& clock);
  ~mesh();
  mesh(const mesh&) = delete;
  mesh& operator=(const mesh&) = delete;

  // -- processes
  process_no enter(const std::string& node, const process* runs);
  /// Publishes the actor that others get when they connect to `who`.
  void publish(process_no who, caf::strong_actor_ptr cluster);
  /// The process has ended. `is_silent`: its machine too, so no other node is notified.
  void leave(process_no who, bool is_silent);
  /// The cluster actor of the process at `node`, as a handle for `from`; null: unreachable.
  caf::strong_actor_ptr connect(process_no from, const std::string& node);
  /// The node of the actor behind this handle; empty: the holder's own process.
  [[nodiscard]] std::string node_of(const caf::strong_actor_ptr& handle) const;

  // -- faults
  void strike();
  /// The process is frozen from now on; others may time out.
  void has_frozen(process_no who);
  /// Ends all faults. Broken connections are noticed later.
  void heal();
  /// Breaks every connection; nodes may connect again.
  void break_all();
  /// Whether `node` is cut off from any other node, in any direction.
  [[nodiscard]] bool is_cut_off(const std::string& node) const;

  // -- for links
  [[nodiscard]] world& in_world() { return world_; }
  [[nodiscard]] caf::actor_system& system() { return system_; }
  [[nodiscard]] const caf::node_id& id_of(process_no who) const { return processes_.at(who).id; }
  /// How long `who` stays frozen; 0: it runs.
  [[nodiscard]] milliseconds stands_still(process_no who) const;
  /// Null: not connected.
  [[nodiscard]] std::shared_ptr<mesh_link> find(process_no one, process_no other) const;
  [[nodiscard]] milliseconds now() const { return world_.env->steady_now(); }
  [[nodiscard]] milliseconds delay();
  void later(milliseconds at, std::function<void()> what);
  /// The message as another node reads it, without handles.
  [[nodiscard]] caf::message carry(const caf::message& sent);

private:
  friend class mesh_clock;
  struct member {
    std::string node;
    caf::node_id id;
    const process* runs = nullptr; ///< null: ended
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
  std::vector<std::shared_ptr<mesh_link>> links_; ///< open at one end at least
  std::map<std::pair<std::string, std::string>, milliseconds> cut_until_; ///< key: from, to; steady time
  std::map<std::pair<milliseconds, std::uint64_t>, std::function<void()>> due_;
  std::uint64_t appointments_ = 0;
  caf::strong_actor_ptr alarm_;
  wire wire_;
};

} // namespace fq::sim
