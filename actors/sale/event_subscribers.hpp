// SPDX-License-Identifier: Apache-2.0
// Subscribers of an event: the line tables of this node's io threads, and one push relay per other node
// (net/bridge/push_relay). They receive every change after its commit. Keepers are the io threads of all
// nodes that keep the owner's handle; they only learn that it leaves. Runs inside the event actor.
#pragma once
#include "actors/protocol/subscriber_messages.hpp"
#include "actors/sale/push_window.hpp"
#include "domain/base/planted.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace fq {

/// `Self`: pointer to the typed event actor.
template <class Self>
class event_subscribers {
public:
  event_subscribers(Self self, aggregate_id aggregate) : self_(self), aggregate_(aggregate) {}

  [[nodiscard]] bool empty() const { return subscriptions_.empty(); }

  /// False: already subscribed.
  bool add(const subscriber_handle& subscriber) {
    if (find(subscriber.address()) != subscriptions_.end() && !planted(bug::subscribes_twice)) return false;
    subscriptions_.push_back({subscriber, subscriber.node() != self_->node(), {}});
    return true;
  }
  void remove(const caf::actor_addr& subscriber) {
    std::erase_if(subscriptions_,
                  [&](const subscription& l) { return l.subscriber.address() == subscriber; });
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
    for (auto& l : subscriptions_) {
      if (!l.is_remote) {
        self_->send(l.subscriber, message);
        continue;
      }
      if (l.window.is_closed()) {
        l.window.miss();
        continue;
      }
      self_->send(l.subscriber, message);
      if (const auto mark = l.window.pushed(changes))
        self_->send(l.subscriber, push_mark{*mark, push_kind::places});
    }
  }
  void read(const caf::actor_addr& subscriber, std::uint64_t mark) {
    const auto l = find(subscriber);
    if (l != subscriptions_.end() && l->window.read(mark))
      self_->send(l->subscriber, pushes_lost{aggregate_});
  }

  /// Pushes may have been dropped.
  void start_over() {
    for (const auto& l : subscriptions_) self_->send(l.subscriber, pushes_lost{aggregate_});
  }

  /// Removes all subscribers and keepers; they resolve the new owner.
  void leave() {
    for (const auto& l : std::exchange(subscriptions_, {})) self_->send(l.subscriber, owner_left{aggregate_});
    for (const auto& keeper : std::exchange(keepers_, {}))
      self_->send(caf::actor_cast<subscriber_handle>(keeper), owner_left{aggregate_});
  }

private:
  struct subscription {
    subscriber_handle subscriber;
    bool is_remote = false;
    push_window window; ///< for a remote subscriber
  };
  auto find(const caf::actor_addr& subscriber) {
    return std::ranges::find_if(subscriptions_,
                                [&](const subscription& l) { return l.subscriber.address() == subscriber; });
  }

  Self self_;
  aggregate_id aggregate_;
  std::vector<subscription> subscriptions_;
  std::set<caf::actor_addr> keepers_;
};

} // namespace fq
