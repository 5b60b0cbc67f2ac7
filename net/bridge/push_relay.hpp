// SPDX-License-Identifier: Apache-2.0
// Subscribes once per process to pushes of owners on other nodes and forwards them to all io threads, so
// that each push crosses the wire once. Works in enqueue(), on the thread that reads the connection, which
// keeps the order of pushes and answers.
#pragma once
#include "actors/protocol/protocol.hpp"

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/monitorable_actor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace fq::net {

/// The same for all handles of one actor.
inline const void* identity_of(const event_handle& owner) {
  return caf::actor_cast<caf::actor_control_block*>(owner);
}

class push_relay final : public caf::monitorable_actor {
public:
  explicit push_relay(caf::actor_config& cfg) : caf::monitorable_actor(cfg) {}
  const char* name() const override { return "push_relay"; }
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override; ///< any thread

  // Any thread. `sink`: of an io thread; gets every push as if it came from the owner.
  /// Returns the version of the last push, for comparison with those that the sink has read.
  std::shared_ptr<const told_version> subscribe(const event_handle& owner, const caf::strong_actor_ptr& sink,
                                                bool on);
  void watch_sessions(aggregate_id aggregate, const event_handle& owner, const caf::strong_actor_ptr& sink,
                      bool on, milliseconds asked_at = milliseconds{0});
  /// Removes all subscriptions of this sink.
  void forget(const caf::strong_actor_ptr& sink);
  /// Stops forwarding.
  void close();

private:
  struct channel {
    event_handle owner;
    std::vector<caf::strong_actor_ptr> sinks;
    std::shared_ptr<told_version> told = std::make_shared<told_version>();
  };
  template <class Channels, class Key, class Message>
  void listen(Channels& channels, const Key& key, const event_handle& owner,
              const caf::strong_actor_ptr& sink, Message message);
  template <class Message>
  void send_to(const event_handle& owner, Message message);

  std::mutex mutex_;
  std::map<const void*, channel> places_; ///< by the owner's control block
  std::map<aggregate_id, channel> sessions_;
};

/// The relay of the io threads of one process; its destructor closes it.
class shared_push_relay {
public:
  explicit shared_push_relay(caf::actor_system& system);
  ~shared_push_relay();
  shared_push_relay(const shared_push_relay&) = delete;
  shared_push_relay& operator=(const shared_push_relay&) = delete;
  [[nodiscard]] push_relay* get() const;

private:
  caf::strong_actor_ptr actor_;
};

} // namespace fq::net
