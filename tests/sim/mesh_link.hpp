// SPDX-License-Identifier: Apache-2.0
// One connection between two processes of the simulated mesh, and its proxies. A proxy represents an actor of
// the other end. It acts in enqueue() and has the actor's id and process node id, so that handles compare as
// in CAF.
#pragma once
#include "tests/sim/mesh.hpp"

#include <caf/monitorable_actor.hpp>

#include <array>

namespace fq::sim {

/// Represents `target` at one end of a link.
class mesh_proxy final : public caf::monitorable_actor {
public:
  mesh_proxy(caf::actor_config& config, std::shared_ptr<mesh_link> link, std::size_t side,
             process_no leads_to, caf::strong_actor_ptr target);
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override;
  [[nodiscard]] process_no leads_to() const { return leads_to_; }
  [[nodiscard]] const caf::strong_actor_ptr& target() const { return target_; }

private:
  std::weak_ptr<mesh_link> link_;
  std::size_t side_;
  process_no leads_to_;
  caf::strong_actor_ptr target_;
};

class mesh_link final : public std::enable_shared_from_this<mesh_link> {
public:
  mesh_link(mesh& net, process_no one, process_no other);

  [[nodiscard]] bool joins(process_no one, process_no other) const;
  [[nodiscard]] std::size_t side_of(process_no who) const { return ends_[0].who == who ? 0 : 1; }
  [[nodiscard]] process_no at(std::size_t side) const { return ends_[side].who; }
  /// Open at both ends.
  [[nodiscard]] bool is_up() const { return ends_[0].is_open && ends_[1].is_open; }
  /// Closed at both ends.
  [[nodiscard]] bool is_over() const { return !ends_[0].is_open && !ends_[1].is_open; }

  /// The handle of an actor of the other end (or known to it) for `side`: a proxy, or the actor itself if it
  /// belongs to `side`.
  caf::strong_actor_ptr seen_from(std::size_t side, const caf::strong_actor_ptr& handle);
  void send(std::size_t from, const caf::strong_actor_ptr& target, caf::mailbox_element_ptr element);

  // -- closing
  /// Resets the connection. Messages in flight arrive or not.
  void reset();
  /// Drops everything that `from` sends from now on; the other end notices after its timeout.
  void silence(std::size_t from);
  /// Delays everything that `from` sends by `span`.
  void stall(std::size_t from, milliseconds span);
  /// `side` closes: after a timeout, or because the other end closed.
  void close(std::size_t side);
  /// As close(), once the side's process runs.
  void close_awake(std::size_t side);
  /// The process of `side` has ended.
  void abandon(std::size_t side, bool is_silent);

private:
  struct end {
    process_no who;
    bool is_open = true;
    bool is_silent = false; ///< messages from here are dropped
    milliseconds last{0}; ///< arrival time of the latest message from here
    std::map<caf::actor_id, caf::strong_actor_ptr> proxies; ///< of actors at the other end
  };
  struct parcel {
    caf::strong_actor_ptr target, sender;
    caf::message_id id;
    caf::message content;
  };
  caf::strong_actor_ptr proxy_of(std::size_t side, const caf::strong_actor_ptr& actor);
  void dispatch(std::size_t from, const parcel& p, milliseconds extra);
  void arrive(std::size_t to, const parcel& p);
  [[nodiscard]] milliseconds arrival(std::size_t from);
  void on_exit(std::size_t side, caf::actor_id id, const caf::error& reason);
  void tell_end(std::size_t from);
  [[nodiscard]] caf::message received(std::size_t side, const caf::message& sent);

  mesh& net_;
  std::array<end, 2> ends_;
};

} // namespace fq::sim
