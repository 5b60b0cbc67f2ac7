// SPDX-License-Identifier: Apache-2.0
#include "actors/outbox/bus_inbox.hpp"

#include "actors/base/ask_owner.hpp"
#include "actors/payments/webhook_facts.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <variant>

namespace fq {
namespace {

std::uint32_t as_attempt(std::uint64_t deliveries) {
  return static_cast<std::uint32_t>(
    std::clamp<std::uint64_t>(deliveries, 1, std::numeric_limits<std::uint32_t>::max()));
}

inbox_port::batch take(inbox_port& port, milliseconds patience) {
  try {
    return port.take(inbox_messages_max, patience);
  } catch (const std::exception& e) { // e.g. out of memory: the actor must survive it
    return {{}, e.what()};
  }
}

} // namespace

bus_inbox_handle::behavior_type bus_inbox(bus_inbox_handle::stateful_pointer<bus_inbox_state> self,
                                          const bus_inbox_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void bus_inbox_state::init(pointer self, const bus_inbox_services& services) {
  self_ = self;
  services_ = &services;
  look_after(milliseconds{0});
}

bus_inbox_handle::behavior_type bus_inbox_state::behavior() {
  return {[this](const timer_fired&) { look(); }};
}

void bus_inbox_state::look_after(milliseconds pause) {
  self_->delayed_send(self_, std::max(pause, inbox_poll), timer_fired{timer_kind::sweep, 0});
}

/// One round. The next poll starts when all messages of this round are settled.
void bus_inbox_state::look() {
  if (services_->may_take && !services_->may_take()) return look_after(services_->patience);
  const auto batch = take(*services_->port, services_->patience);
  if (!batch.trouble.empty()) {
    warn(batch.trouble);
    return look_after(retry_delay(services_->pauses, ++failures_, services_->env->random_u64()));
  }
  failures_ = 0;
  under_way_ = batch.messages.size() + 1; // plus one for this function itself
  for (const auto& m : batch.messages) on_message(m);
  finish_one();
}

void bus_inbox_state::on_message(const inbox_message& m) {
  // The signature's age is checked at the time the bus received the message: waiting through an outage must
  // not make it look like a replayed signature.
  const auto arrived_at =
    is_set(m.arrived_at) ? std::min(m.arrived_at, services_->env->wall_now()) : services_->env->wall_now();
  auto parsed = fact_of_webhook(*services_->gateway, m.body, m.signature, arrived_at);
  if (const auto* wrong = std::get_if<webhook_error>(&parsed)) {
    switch (*wrong) {
      case webhook_error::bad_signature:
        warn("a payment event with a wrong signature is thrown away");
        return settle(m, inbox_verdict::never);
      case webhook_error::unknown_event:
      case webhook_error::foreign_event: return settle(m, inbox_verdict::taken);
    }
  }
  auto& fact = std::get<webhook_fact>(parsed);
  const auto on_reply = [this, m](const ack_reply& reply) {
    settle(m, is_undecided(caf::error{}, reply.no) ? inbox_verdict::later : inbox_verdict::taken);
  };
  const auto on_error = [this, m, money = money_in(fact.wish)](const caf::error& why) {
    if (is(why, errc::absent) && !money.empty()) warn("the ledger does not have the event: " + money);
    settle(m, is_undecided(why, refusal{}) ? inbox_verdict::later : inbox_verdict::taken);
  };
  ask_owner(self_, services_->region, fact.owner, std::move(fact.wish), inbox_apply_timeout, on_reply,
            on_error);
}

void bus_inbox_state::settle(const inbox_message& m, inbox_verdict verdict) {
  const auto again = verdict == inbox_verdict::later;
  const auto delay =
    again ? services_->pauses.base
              + retry_delay(services_->pauses, as_attempt(m.deliveries), services_->env->random_u64())
          : milliseconds{0};
  services_->port->settle(m.ticket, verdict, delay);
  count(verdict);
  finish_one();
}

void bus_inbox_state::count(inbox_verdict verdict) {
  if (services_->counts == nullptr) return;
  switch (verdict) {
    case inbox_verdict::taken: return services_->counts->taken.add();
    case inbox_verdict::later: return services_->counts->put_off.add();
    case inbox_verdict::never: return services_->counts->refused.add();
  }
}

void bus_inbox_state::finish_one() {
  if (--under_way_ == 0) look_after(milliseconds{0});
}

void bus_inbox_state::warn(const std::string& what) const {
  if (services_->warn) services_->warn(what);
}

} // namespace fq
