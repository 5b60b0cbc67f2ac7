// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/edge.hpp"

#include "tests/sim/mesh.hpp"

#include <caf/sec.hpp>

#include <algorithm>

namespace fq::sim {
namespace {

constexpr int bounces_max = 3;
constexpr milliseconds tick{100};
/// A region may wait 3 s for a lost node.
constexpr milliseconds recovered_after{4'000};

template <class Message>
/// the owner may be unavailable; the webhook is then repeated
constexpr bool asks_gateway = std::is_same_v<Message, apply_fact>;
template <class Message>
constexpr bool is_about_a_place = std::is_same_v<event_reply_of<Message>, entry_reply>;

} // namespace

template <class Message>
struct edge::call_of final : call {
  edge& at;
  Message request;
  std::function<void(caf::error, event_reply_of<Message>)> then;
  std::weak_ptr<call_of> self;

  call_of(edge& e, Message x, std::function<void(caf::error, event_reply_of<Message>)> f) :
      at(e), request(std::move(x)), then(std::move(f)) {}

  void go(const event_handle& owner) override {
    auto me = self.lock();
    const auto node = at.node_of(owner);
    const auto asked = at.world_->leases->asked(node);
    at.request(owner, at.world_->options.patience, request)
      .then(
        [me, node, asked, owner](event_reply_of<Message>& told) {
          me->at.world_->leases->answered(asked, node, owner.id());
          if (me->is_open) me->finish({}, std::move(told));
        },
        [me, node, asked, owner](caf::error& why) {
          if (!me->is_open) return;
          if (!is(why, errc::moved)) return me->finish(std::move(why), {});
          if (why.context().size() != 1 || !why.context().template match_element<Message>(0))
            return me->at.world_->check->fail("I9", "a request did not come back as it was sent");
          me->request = why.context().template get_as<Message>(0);
          me->at.world_->check->reached(me->at.world_->leases->is_elsewhere(node) ? rare::zombie_gave_back
                                                                                  : rare::request_came_back);
          me->at.bounce(me, owner.address());
        });
  }
  void fail(caf::error why) override { finish(std::move(why), {}); }

private:
  void finish(caf::error why, event_reply_of<Message> told) {
    is_open = false;
    at.settle(*this, asks_gateway<Message> ? caf::error{} : why);
    then(std::move(why), std::move(told));
  }
};

edge::edge(caf::actor_config& config, world* w, region_handle region, std::string node) :
    caf::event_based_actor(config),
    world_(w),
    region_(std::move(region)),
    node_(std::move(node)),
    watcher_(*w, *this) {}

template <class Message>
auto edge::serve() {
  return [this](const Message& x) -> caf::result<event_reply_of<Message>> {
    auto promise = make_response_promise<event_reply_of<Message>>();
    ask<Message>(x, [this, promise](caf::error why, event_reply_of<Message> told) mutable {
      if (why) return static_cast<void>(promise.deliver(std::move(why)));
      if constexpr (is_about_a_place<Message>)
        if (world_->sells()) watcher_.adopt(told); // a fan with a place opens a socket here
      promise.deliver(std::move(told));
    });
    return promise;
  };
}

caf::behavior edge::make_behavior() {
  set_default_handler(caf::drop);
  set_down_handler([this](const caf::down_msg& down) { on_down(down); });
  delayed_send(this, tick, timer_fired{timer_kind::sweep, 0});
  return {serve<fq::join>(),
          serve<find_entry>(),
          serve<fq::leave>(),
          serve<find_ticket>(),
          serve<leave_ticket>(),
          serve<end_session>(),
          serve<change_lock>(),
          serve<change_party>(),
          serve<find_receipt>(),
          serve<enter_beacon>(),
          serve<end_draw_wait>(),
          serve<find_locks>(),
          serve<advance_line>(),
          serve<revoke_sessions>(),
          serve<invite_customers>(),
          serve<withdraw_invitations>(),
          serve<open_claim>(),
          serve<find_claim>(),
          serve<release_claim>(),
          serve<open_payment>(),
          serve<find_payment>(),
          serve<place_order>(),
          serve<find_order>(),
          serve<cancel_order>(),
          serve<apply_fact>(),
          serve<turn_event>(),
          serve<set_seat_plan>(),
          serve<set_seats>(),
          serve<find_seats>(),
          serve<find_seat_plan>(),
          serve<patch_event>(),
          serve<set_promo_code>(),
          serve<set_priorities>(),
          serve<refund_tickets>(),
          serve<resend_order>(),
          serve<offer_ticket>(),
          serve<end_transfer>(),
          serve<set_checkin_list>(),
          serve<set_checkin_device>(),
          serve<redeem_scans>(),
          serve<settle_dead_letter>(),
          [this](const entries_changed& push) { watcher_.on_entries_changed(push); },
          [this](const pushes_lost&) { watcher_.on_owner_gone(); },
          [](const event_noticed&) {},
          [](const orders_changed&) {},
          [this](const owner_left&) { on_owner_left(); },
          [this](const timer_fired&) {
            delayed_send(this, tick, timer_fired{timer_kind::sweep, 0});
            watcher_.tick();
          }};
}

// -- requests ---------------------------------------------------------------------------------------------

template <class Message>
void edge::ask(Message message, std::function<void(caf::error, event_reply_of<Message>)> then) {
  auto c = std::make_shared<call_of<Message>>(*this, std::move(message), std::move(then));
  c->self = c;
  c->asked_at = world_->env->steady_now();
  calls_.push_back(c);
  find_owner(c);
}

bool edge::tell(subscribe x) {
  if (!owner_) return false;
  send(owner_, x);
  return true;
}

void edge::find_owner(call_ptr c) {
  if (owner_) return c->go(owner_);
  waiting_.push_back(std::move(c));
  ask_region();
}

void edge::ask_region() {
  if (std::exchange(asks_region_, true)) return;
  request(region_, world_->options.patience, resolve_event{world_->aggregate, false, returned_by_})
    .then([this](const event_handle& owner) { resolved(owner); },
          [this](const caf::error& why) { not_resolved(why); });
}

void edge::resolved(const event_handle& owner) {
  asks_region_ = false;
  if (!owner) return not_resolved(make_error(errc::unavailable));
  if (owner->node() != node()) world_->check->reached(rare::found_at_peer);
  owner_ = owner;
  returned_by_ = nullptr;
  monitor(owner);
  send(owner, owner_kept{});
  for (const auto& c : std::exchange(waiting_, {}))
    if (c->is_open) c->go(owner);
}

void edge::not_resolved(const caf::error& why) {
  asks_region_ = false;
  returned_by_ = nullptr;
  for (const auto& c : std::exchange(waiting_, {}))
    if (c->is_open) c->fail(why);
}

/// The event is moving: sends the request to the new owner from the region.
void edge::bounce(call_ptr c, const caf::actor_addr& owner) {
  if (++c->bounces > bounces_max) return c->fail(make_error(errc::unavailable));
  if (owner_ && owner_.address().get() == owner.get()) forget_owner();
  find_owner(std::move(c));
}

/// Without faults no request is refused, even during moves, except a read of a forgotten entry at a small
/// limit. Only a wait for a payment page may exceed the edge's timeout.
void edge::settle(const call& c, const caf::error& why) {
  const bool is_calm = !world_->chaos && c.asked_at - recovered_after > world_->calm_from;
  const bool is_at_limit = why && world_->options.small_bounds && is(why, errc::unavailable)
                           && dynamic_cast<const call_of<find_ticket>*>(&c) != nullptr;
  if (is_calm && why && why != caf::sec::request_timeout && !is_at_limit)
    world_->check->fail("I13", "a request at " + node_
                                 + " was refused although nothing fails: " + caf::to_string(why));
  std::erase_if(calls_, [&](const call_ptr& x) { return x.get() == &c; });
}

// -- owners -----------------------------------------------------------------------------------------------

/// The old owner still answers its open requests.
void edge::forget_owner() {
  returned_by_ = owner_.address();
  owner_ = nullptr;
  watcher_.on_owner_gone();
}

void edge::on_owner_left() {
  if (owner_ && current_sender()
      && current_sender().get() == caf::actor_cast<caf::actor_control_block*>(owner_))
    forget_owner();
}

void edge::on_down(const caf::down_msg& down) {
  if (!owner_ || down.source.get() != caf::actor_cast<caf::actor_control_block*>(owner_)) return;
  owner_ = nullptr;
  const auto lost = calls_;
  waiting_.clear();
  for (const auto& c : lost)
    if (c->is_open) c->fail(make_error(errc::unavailable));
  watcher_.on_owner_gone();
}

std::string edge::node_of(const event_handle& owner) const {
  auto there = world_->net->node_of(caf::actor_cast<caf::strong_actor_ptr>(owner));
  return there.empty() ? node_ : there;
}

} // namespace fq::sim
