// SPDX-License-Identifier: Apache-2.0
#include "gateway.hpp"

#include "world.hpp"

namespace fq::sim {
namespace {
constexpr milliseconds courier_round{100};
constexpr milliseconds redelivery_min{300}, redelivery_max{4'000};
constexpr seconds patience{5};
} // namespace

// -- the books --------------------------------------------------------------------------------------------

const charge* gateway_books::find(const std::string& reference) const {
  const auto i = charges_.find(reference);
  return i == charges_.end() ? nullptr : &i->second;
}

void gateway_books::initialize(const std::string& reference, money amount, const std::string& currency) {
  const auto [i, fresh] = charges_.try_emplace(reference);
  if (!fresh) {
    if (i->second.amount != amount || i->second.currency != currency)
      world_.check->fail("I9", "one reference, two different charges");
    return;
  }
  i->second.amount = amount;
  i->second.currency = currency;
  log_.push_back("charge " + reference);
}

void gateway_books::expire(const std::string& reference) {
  const auto i = charges_.find(reference);
  if (i != charges_.end() && i->second.state == charge_state::unpaid) i->second.state = charge_state::expired;
}

void gateway_books::pay(const std::string& reference) {
  auto& c = charges_.at(reference);
  if (c.state != charge_state::unpaid && c.state != charge_state::declined)
    return; // a declined card is not the end of a page
  c.state = charge_state::paid;
  c.captured = c.amount + (chance(world_.rng, world_.options.faults.wrong_amount) ? 1 : 0);
  log_.push_back("paid " + reference);
  tell(verdict::paid, reference, c.captured, {});
}

void gateway_books::decline(const std::string& reference) {
  auto& c = charges_.at(reference);
  if (c.state != charge_state::unpaid) return;
  c.state = charge_state::declined;
  log_.push_back("declined " + reference);
  tell(verdict::declined, reference, c.amount, {});
}

bool gateway_books::refund(const std::string& reference, const refund_id& id, money amount) {
  auto& c = charges_.at(reference);
  if (c.refunds.contains(id)) return true;
  if (c.refunds_pending.contains(id)) return false;
  if (world_.chaos && chance(world_.rng, world_.options.faults.refund_pending)) {
    c.refunds_pending.emplace(id, amount);
    return false;
  }
  finish_refund(reference, c, id, amount);
  return true;
}

void gateway_books::finish_refund(const std::string& reference, charge& c, const refund_id& id,
                                  money amount) {
  c.refunds.emplace(id, amount);
  log_.push_back("refunded " + reference);
  money sum = 0;
  for (const auto& [refund, part] : c.refunds) sum += part;
  if (c.state != charge_state::paid || sum > c.captured)
    world_.check->fail("I4", "the gateway was told to refund more than it took");
}

void gateway_books::settle_refunds() {
  for (auto& [reference, c] : charges_)
    for (const auto& [id, amount] : std::exchange(c.refunds_pending, {})) {
      finish_refund(reference, c, id, amount);
      tell(verdict::refund_processed, reference, amount, id);
    }
}

void gateway_books::tell(verdict what, const std::string& reference, money amount, const refund_id& refund) {
  webhook hook;
  hook.fact = {"sim",
               "evt-" + std::to_string(++events_),
               what,
               reference,
               amount,
               charges_.at(reference).currency,
               refund.is_nil() ? std::string{} : to_string(refund)};
  hook.due = world_.env->steady_now();
  if (world_.chaos) hook.due += between(world_.rng, milliseconds{0}, world_.options.faults.webhook_delay);
  outbox_.push_back(std::move(hook));
}

void gateway_books::check_end(checker& check) const {
  for (const auto& [reference, c] : charges_) {
    if (c.state != charge_state::paid) continue;
    const auto id = parse_reference(reference);
    const auto payment = check.payments().find(*id);
    if (payment == check.payments().end()) return check.fail("I3", "captured, but no payment row");
    money refunded = 0;
    for (const auto& [refund, amount] : c.refunds) refunded += amount;
    switch (payment->second.status) {
    case payment_status::confirmed:
      if (refunded != 0) check.fail("I3", "a ticket and the money back");
      if (payment->second.captured != c.captured) check.fail("I4", "captured another amount than recorded");
      break;
    case payment_status::refunded:
      if (refunded != c.captured)
        check.fail("I3", "recorded as refunded, but the gateway still has the money");
      break;
    case payment_status::quarantined:
      if (c.captured == c.amount) check.fail("I4", "quarantined although the amount was right");
      break;
    default:
      check.fail("I3",
                 "captured, and neither ticket nor refund: " + std::string{name_of(payment->second.status)});
    }
  }
}

// -- the worker -------------------------------------------------------------------------------------------

namespace {

gateway_answered unanswered(const call_gateway& x) {
  return {.kind = x.kind,
          .result = gateway_result::unavailable,
          .gateway = x.gateway,
          .payment = x.payment,
          .reference = x.charge.reference,
          .refund = x.refund};
}

gateway_answered perform(world& w, const call_gateway& x) {
  auto a = unanswered(x);
  const auto& reference = x.charge.reference;
  if (x.kind == gateway_call_kind::initialize) {
    w.gateway->initialize(reference, x.charge.money.amount, x.charge.money.currency);
    a.result = gateway_result::initialized;
    a.authorization_url = "https://gateway.example/pay/" + reference;
    return a;
  }
  const auto* c = w.gateway->find(reference);
  if (c == nullptr) {
    a.result = gateway_result::unknown_reference;
    return a;
  }
  if (x.kind == gateway_call_kind::refund) {
    a.result = w.gateway->refund(reference, x.refund, x.refund_amount) ? gateway_result::refunded
                                                                  : gateway_result::refund_pending;
    return a;
  }
  if (x.kind == gateway_call_kind::expire) w.gateway->expire(reference);
  switch (c->state) {
  case charge_state::unpaid: a.result = gateway_result::unpaid; break;
  case charge_state::paid: a.result = gateway_result::paid; break;
  case charge_state::declined:
  case charge_state::expired: a.result = gateway_result::closed; break;
  }
  a.amount = c->state == charge_state::paid ? c->captured : c->amount;
  a.currency = c->currency;
  return a;
}

} // namespace

gateway_worker_handle::behavior_type sim_gateway_worker(gateway_worker_handle::pointer self, world* w) {
  return {[=](const call_gateway& x) {
    const auto& f = w->options.faults;
    auto caller = caf::actor_cast<caf::actor>(self->current_sender());
    const auto unavailable = unanswered(x);
    const bool down = w->env->steady_now() < w->gateway->down_until;
    if (w->chaos && (down || chance(w->rng, f.gateway_unavailable)))
      return caf::anon_send(caller, unavailable);
    auto answer = perform(*w, x);
    if (w->chaos && chance(w->rng, f.gateway_answer_lost)) return;
    if (w->chaos && chance(w->rng, f.gateway_effect_but_unavailable))
      return caf::anon_send(caller, unavailable);
    const auto delay = w->chaos ? between(w->rng, milliseconds{0}, f.gateway_delay) : milliseconds{0};
    caf::delayed_anon_send(caller, delay, std::move(answer));
  }};
}

// -- the courier ------------------------------------------------------------------------------------------

namespace {

/// One delivery attempt; the webhook stays in the outbox until an owner acknowledged it.
void deliver(caf::event_based_actor* self, world* w, std::size_t index) {
  self->request(w->some_region(), patience, resolve_event{w->aggregate})
      .then(
          [=](const event_handle& owner) {
            self->request(owner, patience, apply_fact{w->gateway->outbox()[index].fact})
                .then(
                    [=](const ack_reply& reply) {
                      if (reply.no) w->check->fail("I3", "a webhook about our own reference was refused");
                      w->gateway->outbox()[index].acknowledged = true;
                    },
                    [](caf::error&) {});
          },
          [](caf::error&) {});
}

} // namespace

caf::behavior sim_courier(caf::event_based_actor* self, world* w) {
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::flush, 0});
  return {[=](const timer_fired&) {
    const auto& f = w->options.faults;
    if (!w->chaos || chance(w->rng, 20)) w->gateway->settle_refunds();
    auto& outbox = w->gateway->outbox();
    for (std::size_t i = 0; i < outbox.size(); ++i) {
      auto& hook = outbox[i];
      const bool twice = w->chaos && hook.acknowledged && chance(w->rng, f.webhook_twice / 20);
      if (!twice && (hook.acknowledged || hook.due > w->env->steady_now())) continue;
      hook.due = w->env->steady_now()
                 + between(w->rng, redelivery_min, w->chaos ? redelivery_max : redelivery_min * 3);
      if (w->chaos && chance(w->rng, f.webhook_lost)) continue;
      deliver(self, w, i);
      if (w->chaos && chance(w->rng, f.webhook_twice)) deliver(self, w, i);
    }
    self->delayed_send(self, courier_round, timer_fired{timer_kind::flush, 0});
  }};
}

} // namespace fq::sim
