// SPDX-License-Identifier: Apache-2.0
#include "actors/payments/payments.hpp"

#include <algorithm>

namespace fq {
namespace {

gateway_answered unavailable(const call_gateway& c) {
  return {.kind = c.kind,
          .result = gateway_result::unavailable,
          .gateway = c.gateway,
          .payment = c.payment,
          .reference = c.charge.reference,
          .refund = c.refund};
}

call_outcome outcome_of(gateway_result result) {
  switch (result) {
    case gateway_result::unavailable: return call_outcome::unavailable;
    case gateway_result::rejected:
    case gateway_result::refund_refused: return call_outcome::refused;
    case gateway_result::initialized:
    case gateway_result::paid:
    case gateway_result::unpaid:
    case gateway_result::closed:
    case gateway_result::unknown_reference:
    case gateway_result::refunded:
    case gateway_result::refund_pending: break;
  }
  return call_outcome::answered;
}

std::string_view word_of(gateway_result result) {
  switch (result) {
    case gateway_result::initialized: return "initialized";
    case gateway_result::paid: return "paid";
    case gateway_result::unpaid: return "unpaid";
    case gateway_result::closed: return "closed";
    case gateway_result::unknown_reference: return "unknown_reference";
    case gateway_result::rejected: return "rejected";
    case gateway_result::refunded: return "refunded";
    case gateway_result::refund_pending: return "refund_pending";
    case gateway_result::refund_refused: return "refund_refused";
    case gateway_result::unavailable: return "unavailable";
  }
  return {};
}

} // namespace

payments_handle::behavior_type payments(payments_handle::stateful_pointer<payments_state> self,
                                        const payments_services* services) {
  self->state.init(self, *services);
  return self->state.behavior();
}

void payments_state::init(pointer self, const payments_services& services) {
  self_ = self;
  services_ = &services;
  for (const auto& [name, gateway] : services.gateways) show(name);
}

payments_handle::behavior_type payments_state::behavior() {
  return {
    [this](const call_gateway& x) { on_call(x); },
    [this](const gateway_answered& x) { on_answer(x); },
    [this](const timer_fired& x) { on_timer(x.generation); },
  };
}

void payments_state::on_call(const call_gateway& x) {
  auto owner = caf::actor_cast<event_handle>(self_->current_sender());
  const call_key key{x.gateway, x.kind, x.payment, x.refund};
  if (const auto known = calls_.find(key); known != calls_.end()) {
    // A repeated request, perhaps by a successor: one call, answered to the latest owner.
    known->second.owner = std::move(owner);
    return;
  }
  const auto room = x.kind == gateway_call_kind::refund ? gateway_calls_max / 2 : gateway_calls_max;
  if (calls_.size() >= room || !services_->gateways.contains(x.gateway))
    return self_->send(owner, unavailable(x));
  auto& p = calls_.emplace(key, pending{x, std::move(owner)}).first->second;
  p.age = ++next_age_;
  p.asked = services_->env->steady_now();
  enqueue(key, p);
  pump(x.gateway);
}

void payments_state::enqueue(const call_key& key, pending& p) {
  if (p.phase == call_phase::pausing) --gateways_[p.call.gateway].pausing;
  p.phase = call_phase::waiting;
  gateways_[p.call.gateway].waiting.emplace(p.call.kind == gateway_call_kind::refund, p.call.priority_class,
                                            p.age, key);
}

void payments_state::pump(const std::string& gateway) {
  begin_waiting(gateway);
  show(gateway);
}

/// Updates the metrics.
void payments_state::show(const std::string& gateway) {
  auto* counts = counts_of(gateway);
  if (counts == nullptr) return;
  const auto& g = gateways_[gateway];
  counts->under_way.set(static_cast<std::int64_t>(g.under_way));
  counts->waiting.set(static_cast<std::int64_t>(g.waiting.size()));
  counts->pausing.set(static_cast<std::int64_t>(g.pausing));
  counts->workers.set(g.is_suspect ? 0 : static_cast<std::int64_t>(services_->calls_per_gateway));
}

gateway_counts* payments_state::counts_of(const std::string& gateway) const {
  if (services_->counts == nullptr) return nullptr;
  const auto known = services_->counts->find(gateway);
  return known == services_->counts->end() ? nullptr : &known->second;
}

void payments_state::count(const pending& p, const gateway_answered& x) {
  auto* counts = counts_of(x.gateway);
  if (counts == nullptr) return;
  counts->attempts[static_cast<std::size_t>(x.kind)][outcome_of(x.result)].add();
  counts->durations.observe(services_->env->steady_now() - p.began);
  if (p.attempts > 1) counts->retries.add();
}

/// Starts waiting calls up to the limit.
void payments_state::begin_waiting(const std::string& gateway) {
  auto& g = gateways_[gateway];
  while (!g.waiting.empty()) {
    const bool is_open = g.open_until > services_->env->steady_now();
    const auto limit = g.is_suspect ? 1 : services_->calls_per_gateway;
    if (!is_open && (g.under_way >= limit || g.quiet_until > services_->env->steady_now())) return;
    const auto key = std::get<call_key>(*g.waiting.begin());
    g.waiting.erase(g.waiting.begin());
    auto& p = calls_.at(key);
    if (is_open)
      finish(key, unavailable(p.call));
    else
      begin(key, p);
  }
}

void payments_state::begin(const call_key& key, pending& p) {
  ++gateways_[p.call.gateway].under_way;
  ++p.attempts;
  p.phase = call_phase::under_way;
  p.began = services_->env->steady_now();
  wake(p, key, services_->answer_timeout);
  p.attempt = {services_->spans, *services_->env, p.call.charge.trace, span_kind::client,
               p.call.gateway + ' ' + std::string{name_of(p.call.kind)}};
  auto call = p.call;
  call.charge.trace = p.attempt.context();
  self_->send(services_->gateways.at(p.call.gateway), std::move(call));
}

void payments_state::wake(pending& p, const call_key& key, milliseconds after) {
  deadlines_.erase(p.due);
  p.due = {services_->env->steady_now() + after, ++next_deadline_};
  deadlines_.emplace(p.due, key);
  set_timer();
}

void payments_state::set_timer() {
  const auto now = services_->env->steady_now();
  auto next = deadlines_.empty() ? milliseconds::max() : deadlines_.begin()->first.first;
  for (const auto& [name, g] : gateways_)
    if (g.quiet_until > now) next = std::min(next, g.quiet_until);
  timer_.set(next, now, [this](milliseconds span, std::uint64_t number) {
    const timer_fired fired{timer_kind::restart, number};
    if (span == milliseconds{0}) return self_->send(self_, fired); // behind what waits in the mailbox
    self_->delayed_send(self_, span, fired);
  });
}

void payments_state::on_answer(const gateway_answered& x) {
  const call_key key{x.gateway, x.kind, x.payment, x.refund};
  const auto known = calls_.find(key);
  // Ignores the answer to an attempt that had timed out.
  if (known == calls_.end() || known->second.phase != call_phase::under_way) return;
  settle(key, x);
  pump(x.gateway);
}

/// An attempt ended: either the call's end or a pause before the next attempt.
void payments_state::settle(const call_key& key, const gateway_answered& x) {
  auto& p = calls_.at(key);
  auto& g = gateways_[x.gateway];
  --g.under_way;
  count(p, x);
  p.attempt.end(x.result == gateway_result::unavailable || x.result == gateway_result::rejected);
  if (x.result != gateway_result::unavailable) {
    g.failures = 0;
    g.is_suspect = false;
    return finish(key, x);
  }
  if (++g.failures >= services_->failures_to_open || g.is_suspect) {
    g.open_until = services_->env->steady_now() + services_->open_for;
    g.is_suspect = true;
    g.failures = 0;
  }
  if (x.retry_after > milliseconds{0}) leave_alone(x.gateway, std::min(x.retry_after, retry_after_max));
  if (!may_retry(services_->retry, p.attempts)) return finish(key, x);
  p.phase = call_phase::pausing;
  ++g.pausing;
  const auto jittered = retry_delay(services_->retry, p.attempts, services_->env->random_u64());
  wake(p, key, std::max(jittered, std::min(x.retry_after, retry_after_max)));
}

/// Blocks all calls to the gateway until then.
void payments_state::leave_alone(const std::string& gateway, milliseconds span) {
  auto& g = gateways_[gateway];
  const auto until = services_->env->steady_now() + span;
  if (until <= g.quiet_until) return;
  g.quiet_until = until;
  set_timer();
}

void payments_state::on_timer(std::uint64_t number) {
  const auto due = timer_.fired(number);
  if (!due) return;
  // Later deadlines wait for the next timer: their answers may be in the mailbox already.
  while (!deadlines_.empty() && deadlines_.begin()->first.first <= *due)
    end_wait(deadlines_.extract(deadlines_.begin()).mapped());
  set_timer(); // before the gateways are looked at: the end of a quiet time is not missed
  for (const auto& [name, gateway] : services_->gateways) pump(name);
}

void payments_state::end_wait(const call_key& key) {
  auto& p = calls_.at(key);
  if (p.phase == call_phase::pausing) return enqueue(key, p);
  auto lost = unavailable(p.call);
  lost.what = "no answer";
  settle(key, lost);
}

void payments_state::finish(const call_key& key, gateway_answered answer) {
  const auto known = calls_.find(key);
  const auto& p = known->second;
  deadlines_.erase(p.due);
  if (services_->history != nullptr)
    services_->history->add({.ended_at = services_->env->wall_now(),
                             .name = answer.gateway + ' ' + std::string{name_of(answer.kind)},
                             .result = std::string{word_of(answer.result)},
                             .detail = answer.what,
                             .attempts = p.attempts,
                             .duration = services_->env->steady_now() - p.asked});
  const auto owner = p.owner;
  calls_.erase(known);
  self_->send(owner, std::move(answer));
}

} // namespace fq
