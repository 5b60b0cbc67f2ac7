// SPDX-License-Identifier: Apache-2.0
// The bridge between Asio and CAF, one per io thread. Turns a request to an actor into an awaitable, with
// O(1) dispatch, one wake-up per burst and its own deadline, and delivers the actors' pushes to the hub.
// Handlers use `ask` and `ask_event`. Everything runs on the io thread except reply_sink::enqueue.
// Independent of HTTP.
#pragma once
#include "actors/base/errors.hpp"
#include "actors/protocol/protocol.hpp"
#include "net/bridge/context.hpp"

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>
#include <caf/monitorable_actor.hpp>
#include <caf/response_type.hpp>
#include <caf/system_messages.hpp>

#include <coroutine>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace fq::net {

class actor_bridge;
class push_relay;

/// An actor's reply or an error. `error` is always of actors/base/errors.hpp:
/// - absent: 404
/// - not_owner: 503, another node owns the event
/// - ledger_lost: 503, until a person has decided
/// - unavailable: 503 with Retry-After: no owner, timeout, or too many requests in flight for the event
template <class Reply>
struct answer {
  caf::error error;
  Reply reply{};
};

template <class Reply>
using ask_event_result = answer<Reply>;

/// The reply type of `Message` at an actor of type `Handle`.
template <class Handle, class Message>
using reply_of = caf::detail::tl_head_t<caf::response_type_t<typename Handle::signatures, Message>>;

/// Receives the pushes of owners for this thread's line table. Per event, pushes and replies keep the order
/// in which the owner sent them.
class push_receiver {
public:
  virtual void on_entries_changed(const entries_changed& push) = 0;
  virtual void on_event_noticed(const event_noticed& push) = 0;
  virtual void on_orders_changed(const orders_changed& push) = 0;
  /// The owner of this aggregate stopped, or a push was lost: all knowledge about the aggregate must be
  /// read again.
  virtual void on_owner_gone(aggregate_id aggregate) = 0;

protected:
  ~push_receiver() = default;
};

/// Receives the pushes of owners for this thread's session table.
class session_receiver {
public:
  virtual void on_sessions_changed(const sessions_changed& push) = 0;
  virtual void on_owner_gone(aggregate_id aggregate) = 0;

protected:
  ~session_receiver() = default;
};

/// The actor that represents an io thread: receives replies, pushes and DOWN messages. Outlives its bridge
/// while other actors refer to it.
class reply_sink final : public caf::monitorable_actor {
public:
  reply_sink(caf::actor_config& cfg, boost::asio::io_context& io, actor_bridge* bridge);
  const char* name() const override { return "reply_sink"; }
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override; ///< any thread
  void close(); ///< on the io thread or after its end; stops all use of the bridge and the io_context

private:
  void drain();

  boost::asio::io_context& io_;
  actor_bridge* bridge_; ///< io thread only; null after close
  std::mutex mutex_;
  bool closed_ = false; ///< guarded by mutex_
  std::vector<caf::mailbox_element_ptr> inbox_; ///< guarded by mutex_
  std::vector<caf::mailbox_element_ptr> batch_; ///< io thread only
};

/// A request in flight, owned by its waiter. Its destructor cancels it.
class pending_call {
public:
  pending_call(const pending_call&) = delete;
  pending_call& operator=(const pending_call&) = delete;

protected:
  explicit pending_call(actor_bridge& bridge) : bridge_(bridge) {}
  ~pending_call();

  actor_bridge& bridge_;

private:
  friend class actor_bridge;
  /// Called once, with the content of the reply or an error. May destroy the call.
  virtual void settle(caf::error error, caf::type_erased_tuple* content) = 0;
  /// Called on calls that wait for an owner, with its handle.
  virtual void owner_found(const event_handle&) {}

  std::uint64_t id_ = 0; ///< 0: not in flight
  bool counted_ = false; ///< counted in the event's calls in flight
  std::uint8_t bounces_ = 0; ///< moves of its event so far
  cluster_link_ptr link_; ///< connection that carries it; null: local
  caf::message returned_; ///< the request, returned by an owner whose event moves; else empty
  aggregate_id aggregate_{};
  milliseconds deadline_{0};
  pending_call* earlier_ = nullptr;
  pending_call* later_ = nullptr;
};

/// A message that the bridge can send.
template <class Message>
caf::mailbox_element_ptr packed(Message&& message) {
  return caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, std::forward<Message>(message));
}

struct bridge_limits {
  milliseconds request_timeout;
  std::size_t in_flight_per_event; ///< per io thread
  std::size_t in_flight_per_node = 65'536; ///< unanswered requests of this process to another node
};

class actor_bridge {
public:
  actor_bridge(caf::actor_system& system, boost::asio::io_context& io, region_handle region,
               server_state& state, bridge_limits limits);
  ~actor_bridge();
  actor_bridge(const actor_bridge&) = delete;
  actor_bridge& operator=(const actor_bridge&) = delete;

  void set_receiver(push_receiver* receiver) { receiver_ = receiver; }
  void set_receiver(session_receiver* receiver) { sessions_ = receiver; }
  /// The relay subscribes to owners on other nodes for all io threads. Null: each thread subscribes itself.
  void set_relay(push_relay* relay) { relay_ = relay; }

  /// Fails calls past their deadline. Called about every 250 ms.
  void sweep(milliseconds now);

  /// Fails all waiting calls and accepts no new ones. Call on the io thread, or after its end.
  void stop();

  /// Sends `message` to `target`; `call` is settled later. Returns false, without effect, after stop.
  template <class Handle>
  bool send(pending_call& call, const Handle& target, caf::mailbox_element_ptr message) {
    if (!enlist(call)) return false;
    message->mid = caf::message_id{call.id_}.with_normal_priority();
    ship(caf::actor_cast<caf::strong_actor_ptr>(target), std::move(message));
    return true;
  }

  /// Finds the owner of `aggregate`. Calls `call.owner_found` at once or later, or settles the call with an
  /// error. Returns false if too many calls are in flight for that event.
  bool find_owner(pending_call& call, aggregate_id aggregate);

  /// Starts or ends the owner's pushes to the receiver. Returns false if the owner is not known here. `told`
  /// is set if the pushes come from another node.
  bool subscribe_to(aggregate_id aggregate, bool on, std::shared_ptr<const told_version>* told = nullptr);
  /// Same for the session receiver, whose first push has all sessions.
  bool watch_sessions_of(aggregate_id aggregate, bool on, milliseconds asked_at = milliseconds{0});

  /// Sends a message without a reply; its sender is this thread's sink. Returns false if the owner is not
  /// known here.
  template <class Message>
  bool tell_event(aggregate_id aggregate, Message&& message) {
    const auto* owner = known_owner(aggregate);
    if (!owner) return false;
    ship(caf::actor_cast<caf::strong_actor_ptr>(*owner), packed(std::forward<Message>(message)));
    return true;
  }

  [[nodiscard]] std::size_t calls_in_flight() const { return in_flight_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// Calls `run(argument)` after the current burst is dispatched. Returns finished handlers to their
  /// connection.
  void defer(void (*run)(void*) noexcept, void* argument);

private:
  friend class reply_sink;
  friend class pending_call;
  class owner_call;

  struct event_slot {
    event_handle owner;
    cluster_link_ptr link; ///< to the owner's node; null: the owner is local
    caf::actor_addr returned_by; ///< previous owner, if it moved the aggregate away
    std::size_t in_flight = 0;
    std::unique_ptr<owner_call> question;
    std::vector<std::uint64_t> waiting; ///< ids of calls that wait for the owner
  };
  struct call_slot {
    pending_call* call = nullptr;
    std::uint64_t generation = 1;
  };
  struct deferred_run {
    void (*run)(void*) noexcept;
    void* argument;
  };

  /// Queues a message until the end of the io thread's burst. One wake-up of the actor's thread then covers
  /// all messages, instead of two context switches per request.
  void ship(caf::strong_actor_ptr target, caf::mailbox_element_ptr message) {
    message->sender = sink_;
    outbox_.push_back({std::move(target), std::move(message)});
    if (outbox_.size() == 1) ship_later();
  }
  void ship_later();
  void ship_all();

  bool enlist(pending_call& call);
  pending_call* call_of(std::uint64_t id) const;
  void fail_all(const std::vector<std::uint64_t>& ids, const caf::error& reason);
  void prune(aggregate_id aggregate);
  void forget(pending_call& call);
  void fail(pending_call& call, caf::error reason);
  void take_batch(std::vector<caf::mailbox_element_ptr>& batch);
  void take(caf::mailbox_element& element);
  void take_down(const caf::down_msg& down);
  void run_deferred();
  const event_handle* known_owner(aggregate_id aggregate) const;
  push_relay* relay_to(aggregate_id aggregate) const;
  void leave_owner(event_slot& slot, aggregate_id aggregate);
  void resolved(aggregate_id aggregate, caf::error error, event_handle owner);
  void drop_owner(aggregate_id aggregate);
  void bounce(pending_call& call, const caf::error& moved, const void* owner);
  void pass_on(pending_call& call, const event_slot& slot);
  bool is_full(const event_slot& slot);
  static void leave_link(pending_call& call);
  void ask_region(event_slot& slot, aggregate_id aggregate);
  void forget_owner(event_slot& slot, aggregate_id aggregate);
  void take_leave(const owner_left& x, const void* owner);

  caf::actor_system& system_;
  boost::asio::io_context& io_;
  region_handle region_;
  server_state& state_;
  bridge_limits limits_;
  caf::strong_actor_ptr sink_;
  push_relay* relay_ = nullptr;
  push_receiver* receiver_ = nullptr;
  session_receiver* sessions_ = nullptr;
  bool stopped_ = false;
  bool in_burst_ = false; ///< run_deferred follows at the end of the burst
  milliseconds now_{0};
  std::size_t in_flight_ = 0;
  std::vector<call_slot> calls_;
  std::vector<std::uint32_t> free_calls_;
  pending_call* earliest_ = nullptr; ///< list of all calls by deadline; all have the same timeout
  pending_call* latest_ = nullptr;
  std::unordered_map<std::uint32_t, event_slot> events_;
  std::unordered_map<const void*, aggregate_id> owners_; ///< by control block of a known owner
  std::vector<deferred_run> deferred_, deferred_batch_;
  struct parcel {
    caf::strong_actor_ptr target;
    caf::mailbox_element_ptr element;
  };
  std::vector<parcel> outbox_, outbox_batch_;
};

/// The error that a caller sees: those of actors/base/errors.hpp, `unavailable` for any other.
[[nodiscard]] caf::error as_ask_error(const caf::error& error);

/// Moves the `Reply` out of a message, or returns the error.
template <class Reply>
answer<Reply> take_answer(const caf::error& error, caf::type_erased_tuple* content) {
  if (error) return {as_ask_error(error), {}};
  if (content->size() == 1 && content->match_element<Reply>(0))
    return {{}, content->move_if_unshared<Reply>(0)};
  if (content->size() == 1 && content->match_element<caf::error>(0))
    return {as_ask_error(content->get_as<caf::error>(0)), {}};
  return {make_error(errc::unavailable), {}};
}

/// A request whose waiter takes the reply out of the message itself: the message lives while it resumes.
template <class Reply>
class asking : private pending_call {
public:
  bool await_ready() const noexcept { return false; }
  answer<Reply> await_resume() { return take_answer<Reply>(error_, content_); }

protected:
  asking(actor_bridge& bridge, caf::mailbox_element_ptr message) :
      pending_call(bridge), message_(std::move(message)) {}

  void wait(std::coroutine_handle<> waiter) { waiter_ = waiter; }
  template <class Handle>
  bool send(const Handle& target) {
    return went(bridge_.send(*this, target, std::move(message_)));
  }
  bool find_owner(aggregate_id aggregate) { return went(bridge_.find_owner(*this, aggregate)); }

private:
  bool went(bool sent) {
    if (!sent) error_ = make_error(errc::unavailable);
    return sent;
  }
  void owner_found(const event_handle& owner) override { send(owner); }
  void settle(caf::error error, caf::type_erased_tuple* content) override {
    error_ = std::move(error);
    content_ = content;
    waiter_.resume();
  }

  caf::mailbox_element_ptr message_;
  caf::error error_;
  caf::type_erased_tuple* content_ = nullptr; ///< unless `error_`
  std::coroutine_handle<> waiter_;
};

/// See `ask`.
template <class Handle, class Reply>
class [[nodiscard]] ask_operation final : public asking<Reply> {
public:
  ask_operation(actor_bridge& bridge, const Handle& target, caf::mailbox_element_ptr message) :
      asking<Reply>(bridge, std::move(message)), target_(target) {}

  bool await_suspend(std::coroutine_handle<> waiter) {
    this->wait(waiter);
    return this->send(target_);
  }

private:
  Handle target_;
};

/// See `ask_event`.
template <class Reply>
class [[nodiscard]] ask_event_operation final : public asking<Reply> {
public:
  ask_event_operation(actor_bridge& bridge, aggregate_id aggregate, caf::mailbox_element_ptr message) :
      asking<Reply>(bridge, std::move(message)), aggregate_(aggregate) {}

  bool await_suspend(std::coroutine_handle<> waiter) {
    this->wait(waiter);
    return this->find_owner(aggregate_);
  }

private:
  aggregate_id aggregate_;
};

/// Sends a request to an actor: `auto [error, reply] = co_await ask(ctx, ctx.catalog, list_events{...});`.
/// Resumes at the latest after http.request_timeout. Pass the message as a variable or a prvalue; it is
/// moved.
template <class Handle, class Message>
requires(!std::is_reference_v<Message>) ask_operation<Handle, reply_of<Handle, Message>> ask(
  context& ctx, const Handle& target, Message&& message) {
  return {*ctx.bridge, target, packed(std::move(message))};
}

/// Sends a request to the owner of an event: `auto [error, reply] = co_await ask_event(ctx, owner_of(id),
/// join{customer, key});`.
/// Caches the owner's handle per io thread. If the owner dies, its unanswered requests fail at once with
/// errc::unavailable, and the next call asks the region.
/// A message with strings or vectors must be a variable that is moved in: g++ 12 copies an aggregate
/// temporary in a co_await expression bitwise into the coroutine's frame and destroys both ("free():
/// invalid pointer"). It also miscompiles a co_await inside `?:`: write an if.
template <class Message>
requires(!std::is_reference_v<Message>) ask_event_operation<reply_of<event_handle, Message>> ask_event(
  context& ctx, aggregate_id aggregate, Message&& message) {
  return {*ctx.bridge, aggregate, packed(std::move(message))};
}

} // namespace fq::net
