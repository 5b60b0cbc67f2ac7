// SPDX-License-Identifier: Apache-2.0
// Subscribers of an event: the line tables of this node's io threads, and one listener per other node
// (net/bridge/push_relay). They receive every change after its commit. Keepers are the io threads of all
// nodes that keep the owner's handle; they only learn that it leaves. Runs inside the event actor.
#pragma once
#include "actors/protocol/hub_messages.hpp"
#include "actors/sale/push_window.hpp"
#include "domain/base/planted.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace fq {

/// `Self`: pointer to the typed event actor.
template <class Self>
class event_hubs {
public:
  event_hubs(Self self, aggregate_id aggregate) : self_(self), aggregate_(aggregate) {}

  [[nodiscard]] bool empty() const { return listeners_.empty(); }

  /// False: already subscribed.
  bool add(const hub_handle& hub) {
    if (find(hub.address()) != listeners_.end() && !planted(bug::subscribes_twice)) return false;
    listeners_.push_back({hub, hub.node() != self_->node(), {}});
    return true;
  }
  void remove(const caf::actor_addr& hub) {
    std::erase_if(listeners_, [&](const listener& l) { return l.hub.address() == hub; });
  }

  void add_keeper(const caf::strong_actor_ptr& keeper) {
    const auto has_ended = [](const caf::actor_addr& a) {
      return !caf::actor_cast<caf::strong_actor_ptr>(a);
    };
    if (keepers_.insert(keeper->address()).second) std::erase_if(keepers_, has_ended);
  }

  /// `changes`: weight of the message for the push window.
  template <class Message>
  void tell(const Message& message, std::size_t changes = 1) {
    for (auto& l : listeners_) {
      if (!l.is_remote) {
        self_->send(l.hub, message);
        continue;
      }
      if (l.window.is_closed()) {
        l.window.miss();
        continue;
      }
      self_->send(l.hub, message);
      if (const auto mark = l.window.pushed(changes)) self_->send(l.hub, push_mark{*mark, push_kind::places});
    }
  }
  void read(const caf::actor_addr& hub, std::uint64_t mark) {
    const auto l = find(hub);
    if (l != listeners_.end() && l->window.read(mark)) self_->send(l->hub, pushes_lost{aggregate_});
  }

  /// Pushes may have been dropped.
  void start_over() {
    for (const auto& l : listeners_) self_->send(l.hub, pushes_lost{aggregate_});
  }

  /// Removes all subscribers and keepers; they resolve the new owner.
  void leave() {
    for (const auto& l : std::exchange(listeners_, {})) self_->send(l.hub, owner_left{aggregate_});
    for (const auto& keeper : std::exchange(keepers_, {}))
      self_->send(caf::actor_cast<hub_handle>(keeper), owner_left{aggregate_});
  }

private:
  struct listener {
    hub_handle hub;
    bool is_remote = false;
    push_window window; ///< for a remote hub
  };
  auto find(const caf::actor_addr& hub) {
    return std::ranges::find_if(listeners_, [&](const listener& l) { return l.hub.address() == hub; });
  }

  Self self_;
  aggregate_id aggregate_;
  std::vector<listener> listeners_;
  std::set<caf::actor_addr> keepers_;
};

} // namespace fq
