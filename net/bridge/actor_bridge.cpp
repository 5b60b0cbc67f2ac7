// SPDX-License-Identifier: Apache-2.0
// The only file that posts to an io_context from CAF's threads.
#include "net/bridge/actor_bridge.hpp"

#include "net/bridge/limits.hpp"
#include "net/bridge/push_relay.hpp"

#include <caf/default_attachable.hpp>
#include <caf/execution_unit.hpp>
#include <caf/make_actor.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>
#include <caf/sec.hpp>

#include <boost/asio/post.hpp>

#include <utility>

namespace fq::net {

namespace {

constexpr unsigned call_index_bits = 24;
constexpr std::uint64_t call_index_mask = (std::uint64_t{1} << call_index_bits) - 1;
constexpr std::uint64_t last_call_generation =
  (std::uint64_t{1} << (60 - call_index_bits)) - 1; // CAF leaves 60 bits for an id

template <class T>
bool holds(const caf::type_erased_tuple& content) {
  return content.size() == 1 && content.match_element<T>(0);
}

/// Schedules the actors that a burst wakes up, after its last message. An actor that ran at its first message
/// would soon wait again, and each further message would wake it up.
class woken_actors final : public caf::execution_unit {
public:
  explicit woken_actors(caf::actor_system& system) : caf::execution_unit(&system) {}
  woken_actors(const woken_actors&) = delete;
  woken_actors& operator=(const woken_actors&) = delete;
  ~woken_actors() override {
    for (auto* actor : actors_) system().scheduler().enqueue(actor);
  }
  void exec_later(caf::resumable* actor) override { actors_.push_back(actor); }

private:
  std::vector<caf::resumable*> actors_;
};

} // namespace

caf::error as_ask_error(const caf::error& error) {
  for (const auto known : {errc::absent, errc::not_owner, errc::ledger_lost})
    if (is(error, known)) return make_error(known);
  return make_error(errc::unavailable);
}

// -- reply_sink

reply_sink::reply_sink(caf::actor_config& cfg, boost::asio::io_context& io, actor_bridge* bridge) :
    caf::monitorable_actor(cfg), io_(io), bridge_(bridge) {}

void reply_sink::enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) {
  const std::lock_guard guard{mutex_};
  if (closed_) return;
  const bool wake = inbox_.empty();
  inbox_.push_back(std::move(element));
  // Post under the lock: after close() the io_context is not used. The posted drain keeps the sink alive.
  if (wake) boost::asio::post(io_, [this, keep = caf::strong_actor_ptr{ctrl()}] { drain(); });
}

void reply_sink::close() {
  std::vector<caf::mailbox_element_ptr> unread;
  {
    const std::lock_guard guard{mutex_};
    closed_ = true;
    unread.swap(inbox_);
  }
  bridge_ = nullptr;
  cleanup(caf::make_error(caf::exit_reason::user_shutdown), nullptr);
}

void reply_sink::drain() {
  {
    const std::lock_guard guard{mutex_};
    batch_.swap(inbox_);
  }
  if (bridge_) bridge_->take_batch(batch_);
  batch_.clear();
}

// -- pending_call

pending_call::~pending_call() { bridge_.forget(*this); }

// -- actor_bridge

/// The request to the region for the owner of an aggregate; at most one per aggregate.
class actor_bridge::owner_call final : public pending_call {
public:
  owner_call(actor_bridge& bridge, aggregate_id aggregate) : pending_call(bridge), aggregate_(aggregate) {}

private:
  void settle(caf::error error, caf::type_erased_tuple* content) override {
    auto found = take_answer<event_handle>(error, content);
    bridge_.resolved(aggregate_, std::move(found.error), std::move(found.reply)); // destroys this
  }
  aggregate_id aggregate_;
};

actor_bridge::actor_bridge(caf::actor_system& system, boost::asio::io_context& io, region_handle region,
                           server_state& state, bridge_limits limits) :
    system_(system), io_(io), region_(std::move(region)), state_(state), limits_(limits) {
  caf::actor_config cfg{system.dummy_execution_unit()};
  sink_ = caf::make_actor<reply_sink, caf::strong_actor_ptr>(system.next_actor_id(), system.node(), &system,
                                                             cfg, io, this);
}

actor_bridge::~actor_bridge() { stop(); }

void actor_bridge::stop() {
  if (std::exchange(stopped_, true)) return;
  in_burst_ = true;
  static_cast<reply_sink*>(caf::actor_cast<caf::abstract_actor*>(sink_))->close();
  while (earliest_) fail(*earliest_, make_error(errc::unavailable));
  run_deferred();
  if (relay_) relay_->forget(sink_);
  events_.clear();
  owners_.clear();
  outbox_.clear();
}

void actor_bridge::ship_later() {
  boost::asio::post(io_, [this] { // after the handlers that are ready; runs before the bridge ends, see
                                  // defer
    if (!stopped_) ship_all();
  });
}

void actor_bridge::ship_all() {
  outbox_batch_.swap(outbox_);
  woken_actors woken{system_};
  for (auto& p : outbox_batch_)
    if (p.target)
      p.target->get()->enqueue(std::move(p.element), &woken);
    else if (auto* call = call_of(p.element->mid.integer_value() & caf::message_id::request_id_mask))
      fail(*call, make_error(errc::unavailable)); // this server has no such actor; may fill the outbox anew
  outbox_batch_.clear();
}

void actor_bridge::defer(void (*run)(void*) noexcept, void* argument) {
  deferred_.push_back({run, argument});
  // A resume outside a burst (net/service/offload) needs its own wake-up.
  if (!in_burst_ && deferred_.size() == 1)
    boost::asio::post(io_, [this] { // runs before the bridge ends: the server lets the io_context run out
      if (!stopped_) run_deferred();
    });
}

void actor_bridge::sweep(milliseconds now) {
  now_ = now;
  in_burst_ = true;
  while (earliest_ && earliest_->deadline_ <= now) {
    state_.asks_timed_out.fetch_add(1, std::memory_order_relaxed);
    fail(*earliest_, make_error(errc::unavailable));
  }
  run_deferred();
}

bool actor_bridge::enlist(pending_call& call) {
  if (stopped_) return false;
  if (call.id_ != 0) return true;
  std::uint32_t index;
  if (free_calls_.empty()) {
    index = static_cast<std::uint32_t>(calls_.size());
    calls_.emplace_back();
  } else {
    index = free_calls_.back();
    free_calls_.pop_back();
  }
  auto& slot = calls_[index];
  slot.call = &call;
  call.id_ = slot.generation << call_index_bits | index;
  call.deadline_ = now_ + limits_.request_timeout;
  call.earlier_ = latest_;
  call.later_ = nullptr;
  (latest_ ? latest_->later_ : earliest_) = &call;
  latest_ = &call;
  ++in_flight_;
  return true;
}

pending_call* actor_bridge::call_of(std::uint64_t id) const {
  const auto index = id & call_index_mask;
  if (index >= calls_.size()) return nullptr;
  auto* call = calls_[index].call;
  return call && call->id_ == id ? call : nullptr;
}

void actor_bridge::forget(pending_call& call) {
  if (call.id_ == 0) return;
  const auto index = static_cast<std::uint32_t>(call.id_ & call_index_mask);
  auto& slot = calls_[index];
  slot.call = nullptr;
  slot.generation = slot.generation == last_call_generation ? 1 : slot.generation + 1;
  free_calls_.push_back(index);
  call.id_ = 0;
  (call.earlier_ ? call.earlier_->later_ : earliest_) = call.later_;
  (call.later_ ? call.later_->earlier_ : latest_) = call.earlier_;
  --in_flight_;
  leave_link(call);
  if (std::exchange(call.counted_, false))
    if (const auto found = events_.find(number_of(call.aggregate_)); found != events_.end())
      --found->second.in_flight;
}

void actor_bridge::fail(pending_call& call, caf::error reason) {
  forget(call);
  call.settle(std::move(reason), nullptr);
}

void actor_bridge::fail_all(const std::vector<std::uint64_t>& ids, const caf::error& reason) {
  for (const auto id : ids) // by id: settling a call may destroy another
    if (auto* call = call_of(id)) fail(*call, reason);
}

bool actor_bridge::find_owner(pending_call& call, aggregate_id aggregate) {
  if (stopped_) return false;
  auto& slot = events_[number_of(aggregate)];
  if (slot.in_flight >= limits_.in_flight_per_event) {
    state_.asks_overloaded.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (is_full(slot)) return false;
  enlist(call);
  ++slot.in_flight;
  call.counted_ = true;
  call.aggregate_ = aggregate;
  if (slot.owner) {
    pass_on(call, slot);
    return true;
  }
  slot.waiting.push_back(call.id_);
  ask_region(slot, aggregate);
  return true;
}

void actor_bridge::ask_region(event_slot& slot, aggregate_id aggregate) {
  if (slot.question) return;
  slot.question = std::make_unique<owner_call>(*this, aggregate);
  send(*slot.question, region_, packed(resolve_event{aggregate, false, slot.returned_by}));
}

/// The call's event moves: sends the request to the owner that the region names now; waits until that is
/// known.
void actor_bridge::bounce(pending_call& call, const caf::error& moved, const void* owner) {
  if (++call.bounces_ > bounces_max || moved.context().empty())
    return fail(call, make_error(errc::unavailable));
  call.returned_ = moved.context();
  leave_link(call);
  auto& slot = events_[number_of(call.aggregate_)];
  if (slot.owner && identity_of(slot.owner) == owner) forget_owner(slot, call.aggregate_);
  if (slot.owner) return is_full(slot) ? fail(call, make_error(errc::unavailable)) : pass_on(call, slot);
  slot.waiting.push_back(call.id_);
  ask_region(slot, call.aggregate_);
}

/// Whether too many requests to the owner's node are unanswered.
bool actor_bridge::is_full(const event_slot& slot) {
  if (!slot.link
      || slot.link->in_flight.load(std::memory_order_relaxed)
           < static_cast<std::int64_t>(limits_.in_flight_per_node))
    return false;
  slot.link->refused.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void actor_bridge::leave_link(pending_call& call) {
  if (const auto link = std::exchange(call.link_, nullptr))
    link->in_flight.fetch_sub(1, std::memory_order_relaxed);
}

void actor_bridge::pass_on(pending_call& call, const event_slot& slot) {
  leave_link(call);
  if (slot.link) {
    slot.link->in_flight.fetch_add(1, std::memory_order_relaxed);
    slot.link->requests.fetch_add(1, std::memory_order_relaxed);
    call.link_ = slot.link;
  }
  if (call.returned_.empty()) return call.owner_found(slot.owner);
  outbox_.push_back({caf::actor_cast<caf::strong_actor_ptr>(slot.owner),
                     caf::make_mailbox_element(sink_, caf::message_id{call.id_}.with_normal_priority(), {},
                                               std::exchange(call.returned_, {}))});
  if (outbox_.size() == 1) ship_later();
}

/// Forgets the owner; its subscribers look it up again. Its pending requests are still answered.
void actor_bridge::forget_owner(event_slot& slot, aggregate_id aggregate) {
  leave_owner(slot, aggregate);
  slot.returned_by = slot.owner.address();
  slot.owner = nullptr;
  slot.link = nullptr;
  if (receiver_) receiver_->on_owner_gone(aggregate);
  if (sessions_) sessions_->on_owner_gone(aggregate);
}

void actor_bridge::take_leave(const owner_left& x, const void* owner) {
  if (const auto found = events_.find(number_of(x.aggregate));
      found != events_.end() && found->second.owner && identity_of(found->second.owner) == owner)
    forget_owner(found->second, x.aggregate);
}

const event_handle* actor_bridge::known_owner(aggregate_id aggregate) const {
  const auto found = events_.find(number_of(aggregate));
  return found != events_.end() && found->second.owner && !stopped_ ? &found->second.owner : nullptr;
}

push_relay* actor_bridge::relay_to(aggregate_id aggregate) const {
  const auto found = events_.find(number_of(aggregate));
  return found != events_.end() && found->second.link ? relay_ : nullptr;
}

/// Unsubscribes at the relay, which would otherwise keep the subscription forever.
void actor_bridge::leave_owner(event_slot& slot, aggregate_id aggregate) {
  if (!relay_ || !slot.link) return;
  relay_->subscribe(slot.owner, sink_, false);
  relay_->watch_sessions(aggregate, slot.owner, sink_, false);
}

bool actor_bridge::subscribe_to(aggregate_id aggregate, bool on, std::shared_ptr<const told_version>* told) {
  const auto* owner = known_owner(aggregate);
  auto* relay = relay_to(aggregate);
  if (!owner || !relay) return tell_event(aggregate, subscribe{on});
  auto seen = relay->subscribe(*owner, sink_, on);
  if (told != nullptr) *told = std::move(seen);
  return true;
}

bool actor_bridge::watch_sessions_of(aggregate_id aggregate, bool on, milliseconds asked_at) {
  const auto* owner = known_owner(aggregate);
  auto* relay = relay_to(aggregate);
  if (!owner || !relay) return tell_event(aggregate, watch_sessions{on, asked_at});
  relay->watch_sessions(aggregate, *owner, sink_, on, asked_at);
  return true;
}

void actor_bridge::resolved(aggregate_id aggregate, caf::error error, event_handle owner) {
  const auto found = events_.find(number_of(aggregate));
  if (found == events_.end()) return;
  auto& slot = found->second;
  const auto question = std::move(slot.question); // the caller of this function; destroyed at its end
  const auto waiting = std::exchange(slot.waiting, {});
  if (error || !owner || stopped_) {
    fail_all(waiting, error ? error : make_error(errc::unavailable));
    prune(aggregate);
    return;
  }
  slot.owner = owner;
  slot.returned_by = nullptr;
  slot.link = state_.links ? state_.links->find(owner->node()) : nullptr;
  owners_[identity_of(owner)] = aggregate;
  auto* target = caf::actor_cast<caf::abstract_actor*>(owner);
  target->attach(
    caf::default_attachable::make_monitor(target->address(), caf::actor_cast<caf::actor_addr>(sink_)));
  tell_event(aggregate, owner_kept{});
  for (const auto id : waiting)
    if (auto* call = call_of(id))
      is_full(slot) ? fail(*call, make_error(errc::unavailable)) : pass_on(*call, slot);
}

void actor_bridge::prune(aggregate_id aggregate) {
  const auto found = events_.find(number_of(aggregate));
  if (found == events_.end()) return;
  const auto& slot = found->second;
  if (!slot.owner && !slot.question && slot.in_flight == 0) events_.erase(found);
}

void actor_bridge::drop_owner(aggregate_id aggregate) {
  const auto found = events_.find(number_of(aggregate));
  leave_owner(found->second, aggregate);
  found->second.owner = nullptr;
  found->second.link = nullptr;
  std::vector<std::uint64_t> lost;
  for (const auto* call = earliest_; call; call = call->later_)
    if (call->counted_ && call->aggregate_ == aggregate) lost.push_back(call->id_);
  fail_all(lost, make_error(errc::unavailable));
  prune(aggregate);
  if (receiver_) receiver_->on_owner_gone(aggregate);
  if (sessions_) sessions_->on_owner_gone(aggregate);
}

void actor_bridge::take_down(const caf::down_msg& down) {
  const auto ended = owners_.extract(down.source.get());
  if (!ended) return;
  const auto found = events_.find(number_of(ended.mapped()));
  if (found == events_.end()) return;
  auto& slot = found->second;
  if (slot.owner && identity_of(slot.owner) == ended.key()) return drop_owner(ended.mapped());
  if (slot.returned_by == down.source) slot.returned_by = nullptr;
  prune(ended.mapped());
}

void actor_bridge::take(caf::mailbox_element& element) {
  auto& content = element.content();
  if (element.mid.is_response()) {
    const auto id = element.mid.request_id().integer_value() & caf::message_id::request_id_mask;
    if (auto* call = call_of(id)) { // null: the call has timed out
      if (call->counted_ && holds<caf::error>(content) && is(content.get_as<caf::error>(0), errc::moved))
        return bounce(*call, content.get_as<caf::error>(0), element.sender.get());
      forget(*call);
      call->settle({}, &content);
    }
    return;
  }
  if (holds<caf::down_msg>(content)) return take_down(content.get_as<caf::down_msg>(0));
  if (holds<owner_left>(content)) return take_leave(content.get_as<owner_left>(0), element.sender.get());
  if (holds<sessions_changed>(content)) {
    if (sessions_) sessions_->on_sessions_changed(content.get_as<sessions_changed>(0));
    return;
  }
  if (!receiver_) return;
  if (holds<entries_changed>(content))
    receiver_->on_entries_changed(content.get_as<entries_changed>(0));
  else if (holds<event_noticed>(content))
    receiver_->on_event_noticed(content.get_as<event_noticed>(0));
  else if (holds<orders_changed>(content))
    receiver_->on_orders_changed(content.get_as<orders_changed>(0));
  else if (holds<pushes_lost>(content))
    receiver_->on_owner_gone(content.get_as<pushes_lost>(0).aggregate);
}

void actor_bridge::take_batch(std::vector<caf::mailbox_element_ptr>& batch) {
  in_burst_ = true;
  for (auto& element : batch) {
    take(*element);
    element.reset();
    if (stopped_) return;
  }
  run_deferred();
}

void actor_bridge::run_deferred() {
  while (!deferred_.empty()) {
    deferred_batch_.swap(deferred_);
    for (const auto& item : deferred_batch_) item.run(item.argument);
    deferred_batch_.clear();
  }
  in_burst_ = false;
}

} // namespace fq::net
