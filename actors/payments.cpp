// SPDX-License-Identifier: Apache-2.0
#include "actors/payments.hpp"

#include <tuple>

namespace fq {

payments_handle::behavior_type payments(payments_handle::stateful_pointer<payments_state> self,
                                        const payments_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

payments_handle::behavior_type payments_state::behavior() {
  return {
    [this](const call_gateway& x) { on_call(x); },
    [this](const gateway_answered& x) { on_answer(x); },
    [this](const timer_fired& x) { on_timer(x.generation); },
  };
}

namespace {
gateway_answered unavailable(const call_gateway& c) {
  return {c.kind, gateway_result::unavailable, c.gateway, c.payment, c.reference, {}, c.amount, c.currency, c.refund};
}
} // namespace

void payments_state::on_call(const call_gateway& x) {
  drop_lost();
  auto owner = caf::actor_cast<event_handle>(self_->current_sender());
  const call_key key{x.gateway, x.kind, x.payment, x.refund};
  if (const auto known = calls_.find(key); known != calls_.end()) {
    auto& p = known->second;
    p.owner = std::move(owner); // asked again, perhaps by the owner's successor: one call, the newest asker
    const bool lost = p.generation == 0 && p.deadline <= services_->env->steady_now();
    return lost ? attempt(key, p) : void();
  }
  if (calls_.size() >= gateway_calls_max || !services_->gateways.contains(x.gateway))
    return self_->send(owner, unavailable(x));
  auto& p = calls_.emplace(key, pending{x, std::move(owner), 0, {}, 0}).first->second;
  attempt(key, p);
}

void payments_state::attempt(const call_key& key, pending& p) {
  const auto now = services_->env->steady_now();
  if (circuits_[p.call.gateway].open_until > now) return finish(key, unavailable(p.call));
  ++p.attempts;
  p.generation = 0;
  p.deadline = now + services_->answer_timeout;
  self_->send(services_->gateways.at(p.call.gateway), p.call);
}

void payments_state::on_answer(const gateway_answered& x) {
  auto& c = circuits_[x.gateway];
  const call_key key{x.gateway, x.kind, x.payment, x.refund};
  if (x.result != gateway_result::unavailable) {
    c.failures = 0;
    return finish(key, x);
  }
  if (++c.failures >= services_->failures_to_open) {
    c.open_until = services_->env->steady_now() + services_->open_for;
    c.failures = 0;
  }
  const auto known = calls_.find(key);
  if (known == calls_.end()) return;
  auto& p = known->second;
  if (!may_retry(services_->retry, p.attempts)) return finish(key, x);
  p.generation = ++generation_;
  retries_.emplace(p.generation, key);
  self_->delayed_send(self_, retry_delay(services_->retry, p.attempts, services_->env->random_u64()),
                      timer_fired{timer_kind::restart, p.generation});
}

void payments_state::on_timer(std::uint64_t generation) {
  const auto retry = retries_.find(generation);
  if (retry == retries_.end()) return;
  const auto key = retry->second;
  retries_.erase(retry);
  if (const auto known = calls_.find(key); known != calls_.end() && known->second.generation == generation)
    attempt(key, known->second);
}

void payments_state::finish(const call_key& key, gateway_answered answer) {
  const auto known = calls_.find(key);
  if (known == calls_.end()) return;
  const auto owner = std::move(known->second.owner);
  calls_.erase(known);
  self_->send(owner, std::move(answer));
}

/// Calls whose worker has died or hangs and that nobody asked about again: forgotten when the table is full.
void payments_state::drop_lost() {
  if (calls_.size() < gateway_calls_max) return;
  const auto now = services_->env->steady_now();
  std::erase_if(calls_, [now](const auto& c) { return c.second.generation == 0 && c.second.deadline <= now; });
}

} // namespace fq
