// SPDX-License-Identifier: Apache-2.0
#include "net/bridge/push_relay.hpp"

#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>

#include <algorithm>
#include <utility>

namespace fq::net {
namespace {

template <class T>
const T* get_if(const caf::type_erased_tuple& content) {
  return content.size() == 1 && content.match_element<T>(0) ? &content.get_as<T>(0) : nullptr;
}

} // namespace

void push_relay::enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) {
  if (const auto* mark = get_if<push_mark>(element->content())) {
    if (element->sender)
      element->sender->enqueue(ctrl(), caf::make_message_id(),
                               caf::make_message(push_read{mark->number, mark->kind}), nullptr);
    return;
  }
  const auto* news = get_if<sessions_changed>(element->content());
  const std::scoped_lock held{mutex_};
  const channel* to = nullptr;
  if (news != nullptr) {
    const auto known = sessions_.find(owner_of(news->event));
    if (known != sessions_.end()) to = &known->second;
  } else {
    const auto known = places_.find(element->sender.get());
    if (known != places_.end()) to = &known->second;
  }
  if (to == nullptr) return; // sent before the last sink unsubscribed
  if (const auto* changed = get_if<entries_changed>(element->content())) to->told->set(changed->version);
  const auto sender = element->sender;
  const auto content = element->move_content_to_message();
  for (const auto& sink : to->sinks) sink->enqueue(sender, caf::make_message_id(), content, nullptr);
}

template <class Message>
void push_relay::send_to(const event_handle& owner, Message message) {
  caf::actor_cast<caf::strong_actor_ptr>(owner)->enqueue(ctrl(), caf::make_message_id(),
                                                         caf::make_message(message), nullptr);
}

/// Called under the lock, so that a thread's next request to the owner follows the subscription, even if
/// another thread made it.
template <class Channels, class Key, class Message>
void push_relay::listen(Channels& channels, const Key& key, const event_handle& owner,
                        const caf::strong_actor_ptr& sink, Message message) {
  if (message.on) {
    auto& c = channels[key];
    if (std::exchange(c.owner, owner) != owner)
      c = {owner, {}}; // sinks of the old owner subscribe again or get on_owner_gone
    if (std::ranges::find(c.sinks, sink) == c.sinks.end()) c.sinks.push_back(sink);
    return send_to(owner, message); // a repeated subscription makes the owner start over
  }
  const auto known = channels.find(key);
  if (known == channels.end() || known->second.owner != owner || std::erase(known->second.sinks, sink) == 0
      || !known->second.sinks.empty())
    return;
  send_to(owner, message);
  channels.erase(known);
}

std::shared_ptr<const told_version> push_relay::subscribe(const event_handle& owner,
                                                          const caf::strong_actor_ptr& sink, bool on) {
  const std::scoped_lock held{mutex_};
  listen(places_, identity_of(owner), owner, sink, fq::subscribe{on});
  const auto known = places_.find(identity_of(owner));
  return known == places_.end() ? nullptr : known->second.told;
}

void push_relay::watch_sessions(aggregate_id aggregate, const event_handle& owner,
                                const caf::strong_actor_ptr& sink, bool on, milliseconds asked_at) {
  const std::scoped_lock held{mutex_};
  listen(sessions_, aggregate, owner, sink, fq::watch_sessions{on, asked_at});
}

void push_relay::forget(const caf::strong_actor_ptr& sink) {
  const std::scoped_lock held{mutex_};
  for (auto& [owner, c] : places_) std::erase(c.sinks, sink);
  for (auto& [aggregate, c] : sessions_) std::erase(c.sinks, sink);
}

void push_relay::close() {
  {
    const std::scoped_lock held{mutex_};
    places_.clear();
    sessions_.clear();
  }
  cleanup(caf::make_error(caf::exit_reason::user_shutdown), nullptr);
}

shared_push_relay::shared_push_relay(caf::actor_system& system) {
  caf::actor_config cfg{system.dummy_execution_unit()};
  actor_ =
    caf::make_actor<push_relay, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system, cfg);
}

shared_push_relay::~shared_push_relay() { get()->close(); }

push_relay* shared_push_relay::get() const {
  return static_cast<push_relay*>(caf::actor_cast<caf::abstract_actor*>(actor_));
}

} // namespace fq::net
