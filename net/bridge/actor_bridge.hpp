// SPDX-License-Identifier: Apache-2.0
// Where Asio and CAF meet: one bridge per io thread turns a request to an actor into something a handler
// awaits, with O(1) dispatch, one wake-up per burst and a deadline of its own, and brings what actors push to
// the hub. Handlers use `ask` and `ask_event`. Everything runs on the io thread but reply_sink::enqueue. It
// must not know HTTP.
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
#include <unordered_map>
#include <vector>

namespace fq::net {

class actor_bridge;
class push_relay;

/// The answer of an actor, or why there is none. `error`, when set, is always of actors/base/errors.hpp:
/// absent (404), not_owner (503: another node has the event) or unavailable (503 with Retry-After: owner
/// away, deadline passed, or too many requests in flight for that event).
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

/// What an owner pushes to the hub of this thread. Order per event is the actor's, also between pushes and
/// replies.
class push_receiver {
public:
  virtual void on_entries_changed(const entries_changed& push) = 0;
  virtual void on_line_moved(const line_moved& push) = 0;
  virtual void on_event_noticed(const event_noticed& push) = 0;
  virtual void on_orders_changed(const orders_changed& push) = 0;
  /// The owner of this aggregate stopped, or has not told everything: what is known of it must be asked for
  /// anew.
  virtual void on_owner_gone(aggregate_id aggregate) = 0;

protected:
  ~push_receiver() = default;
};

/// ... and to the table of sessions of this thread.
class session_receiver {
public:
  virtual void on_sessions_changed(const sessions_changed& push) = 0;
  virtual void on_owner_gone(aggregate_id aggregate) = 0;

protected:
  ~session_receiver() = default;
};

/// The actor that stands for an io thread: replies, pushes and DOWN messages go here. Outlives its bridge
/// while others hold it.
class reply_sink final : public caf::monitorable_actor {
public:
  reply_sink(caf::actor_config& cfg, boost::asio::io_context& io, actor_bridge* bridge);
  const char* name() const override { return "reply_sink"; }
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit* unit) override; ///< any thread
  void close(); ///< io thread (or after it ended): nothing reaches the bridge or the io_context from now on

private:
  void drain();

  boost::asio::io_context& io_;
  actor_bridge* bridge_; ///< io thread only; null after close
  std::mutex mutex_;
  bool closed_ = false; ///< guarded
  std::vector<caf::mailbox_element_ptr> inbox_; ///< guarded
  std::vector<caf::mailbox_element_ptr> batch_; ///< io thread only
};

/// A request on its way, kept by whoever waits for it. Destroying it forgets the request.
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
  /// Called once: with the content of the reply, or with an error. May destroy the call.
  virtual void settle(caf::error error, caf::type_erased_tuple* content) = 0;
  /// Of calls that wait for an owner: the handle is there, go.
  virtual void owner_found(const event_handle&) {}

  std::uint64_t id_ = 0; ///< 0: not on its way
  bool counted_ = false; ///< in the event's number of calls in flight
  std::uint8_t bounces_ = 0; ///< how often its event had moved
  cluster_link_ptr link_; ///< over which it went; null: it stayed here
  caf::message returned_; ///< the request, back from an owner whose event moves; empty: none
  aggregate_id aggregate_{};
  milliseconds deadline_{0};
  pending_call* earlier_ = nullptr;
  pending_call* later_ = nullptr;
};

struct bridge_limits {
  milliseconds request_timeout;
  std::size_t in_flight_per_event; ///< of this io thread
  std::size_t in_flight_per_node =
    65'536; ///< of this process, to another one of the cluster: what it has not answered is in our memory
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
  /// Subscribes at other nodes' owners for all io threads; null: every thread for itself.
  void set_relay(push_relay* relay) { relay_ = relay; }

  /// Fails what is past its deadline. Called about every 250 ms by the sweep.
  void sweep(milliseconds now);

  /// Fails everything that waits and takes nothing in any more. On the io thread, or when it has ended.
  void stop();

  /// Sends `message` to `target`; `call` is settled later. False (and nothing happens) after stop.
  template <class Handle, class Message>
  bool send(pending_call& call, const Handle& target, Message&& message) {
    if (!enlist(call)) return false;
    ship(caf::actor_cast<caf::strong_actor_ptr>(target), caf::message_id{call.id_}.with_normal_priority(),
         std::forward<Message>(message));
    return true;
  }

  /// Finds the owner of `aggregate`: `call.owner_found` at once (from inside, returns true) or later, or it
  /// is settled with an error. False: refused at once, too many are in flight for that event.
  bool find_owner(pending_call& call, aggregate_id aggregate);

  /// From now on the receiver gets what the owner pushes (or no more). False: the owner is not known here
  /// now.
  bool subscribe_to(aggregate_id aggregate, bool on);
  /// The same for the receiver of sessions, which gets all of them first.
  bool watch_sessions_of(aggregate_id aggregate, bool on);

  /// Sends a message without a reply, with this thread's sink as its sender. False: its owner is not known
  /// here now.
  template <class Message>
  bool tell_event(aggregate_id aggregate, Message&& message) {
    const auto* owner = known_owner(aggregate);
    if (!owner) return false;
    ship(caf::actor_cast<caf::strong_actor_ptr>(*owner), caf::make_message_id(),
         std::forward<Message>(message));
    return true;
  }

  [[nodiscard]] std::size_t calls_in_flight() const { return in_flight_; }
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// `run(argument)` once the present burst has been dispatched; how finished handlers get back to their
  /// session.
  void defer(void (*run)(void*) noexcept, void* argument);

private:
  friend class reply_sink;
  friend class pending_call;
  class owner_call;

  struct event_slot {
    event_handle owner;
    cluster_link_ptr link; ///< to the node that has the owner; null: it is here
    caf::actor_addr returned_by; ///< the one before, if it is one no more
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

  /// A message that goes out at the end of the present burst of the io thread: one wake-up of the actor's
  /// thread for all of them, where one each would cost two context switches a request.
  template <class Message>
  void ship(caf::strong_actor_ptr target, caf::message_id id, Message&& message) {
    outbox_.push_back(
      {std::move(target), caf::make_mailbox_element(sink_, id, {}, std::forward<Message>(message))});
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

  boost::asio::io_context& io_;
  region_handle region_;
  server_state& state_;
  bridge_limits limits_;
  caf::strong_actor_ptr sink_;
  push_relay* relay_ = nullptr;
  push_receiver* receiver_ = nullptr;
  session_receiver* sessions_ = nullptr;
  bool stopped_ = false;
  bool in_burst_ = false; ///< run_deferred comes anyway
  milliseconds now_{0};
  std::size_t in_flight_ = 0;
  std::vector<call_slot> calls_;
  std::vector<std::uint32_t> free_calls_;
  pending_call* earliest_ = nullptr; ///< all calls by deadline: every call has the same timeout
  pending_call* latest_ = nullptr;
  std::unordered_map<std::uint32_t, event_slot> events_;
  std::unordered_map<const void*, aggregate_id> owners_; ///< control block of a known owner -> its aggregate
  std::vector<deferred_run> deferred_, deferred_batch_;
  struct parcel {
    caf::strong_actor_ptr target;
    caf::mailbox_element_ptr element;
  };
  std::vector<parcel> outbox_, outbox_batch_;
};

/// The infrastructure error a caller sees: those of actors/base/errors.hpp pass, every other one is
/// `unavailable`.
[[nodiscard]] caf::error as_ask_error(const caf::error& error);

/// Moves the one value of type `Reply` out of a message, or says what came instead.
template <class Reply>
answer<Reply> take_answer(const caf::error& error, caf::type_erased_tuple* content) {
  if (error) return {as_ask_error(error), {}};
  if (content->size() == 1 && content->match_element<Reply>(0))
    return {{}, content->move_if_unshared<Reply>(0)};
  if (content->size() == 1 && content->match_element<caf::error>(0))
    return {as_ask_error(content->get_as<caf::error>(0)), {}};
  return {make_error(errc::unavailable), {}};
}

/// See `ask`.
template <class Handle, class Message>
class [[nodiscard]] ask_operation final : private pending_call {
public:
  using reply_type = reply_of<Handle, Message>;

  ask_operation(actor_bridge& bridge, const Handle& target, Message&& message) :
      pending_call(bridge), target_(target), message_(std::move(message)) {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    if (bridge_.send(*this, target_, std::move(message_))) return true;
    result_.error = make_error(errc::unavailable);
    return false;
  }
  answer<reply_type> await_resume() { return std::move(result_); }

private:
  void settle(caf::error error, caf::type_erased_tuple* content) override {
    result_ = take_answer<reply_type>(error, content);
    waiter_.resume();
  }

  Handle target_;
  Message message_;
  answer<reply_type> result_;
  std::coroutine_handle<> waiter_;
};

/// See `ask_event`.
template <class Message>
class [[nodiscard]] ask_event_operation final : private pending_call {
public:
  using reply_type = reply_of<event_handle, Message>;

  ask_event_operation(actor_bridge& bridge, aggregate_id aggregate, Message&& message) :
      pending_call(bridge), aggregate_(aggregate), message_(std::move(message)) {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    if (bridge_.find_owner(*this, aggregate_)) return true;
    result_.error = make_error(errc::unavailable);
    return false;
  }
  answer<reply_type> await_resume() { return std::move(result_); }

private:
  void owner_found(const event_handle& owner) override { bridge_.send(*this, owner, std::move(message_)); }
  void settle(caf::error error, caf::type_erased_tuple* content) override {
    result_ = take_answer<reply_type>(error, content);
    waiter_.resume();
  }

  aggregate_id aggregate_;
  Message message_;
  answer<reply_type> result_;
  std::coroutine_handle<> waiter_;
};

/// Asks an actor: `auto [error, reply] = co_await ask(ctx, ctx.catalog, list_events{...});`. Always comes
/// back, at the latest after http.request_timeout. Name the message as a variable or a prvalue; it is moved
/// in.
template <class Handle, class Message>
ask_operation<Handle, Message> ask(context& ctx, const Handle& target, Message message) {
  return {*ctx.bridge, target, std::move(message)};
}

/// A message that holds strings or vectors must be a variable that is moved in: g++ 12 copies an aggregate
/// temporary of a co_await expression bit by bit into the coroutine's frame and destroys both (seen as
/// "free(): invalid pointer"). The same goes for a co_await inside `?:`: write an if.
///
/// Asks the owner of an event: `auto [error, reply] = co_await ask_event(ctx, owner_of(id), join{customer,
/// key});`. The owner's handle is cached per io thread; when it dies, what it had not answered fails with
/// errc::unavailable at once and the next call asks the region.
template <class Message>
ask_event_operation<Message> ask_event(context& ctx, aggregate_id aggregate, Message message) {
  return {*ctx.bridge, aggregate, std::move(message)};
}

} // namespace fq::net
