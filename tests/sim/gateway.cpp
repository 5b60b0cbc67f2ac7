// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gateway.hpp"

#include "tests/sim/ledger_connection.hpp"

#include "tests/sim/world.hpp"

namespace fq::sim {
namespace {
constexpr milliseconds courier_round{100};
constexpr milliseconds redelivery_min{300}, redelivery_max{4'000};
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
  // a declined card does not end the page
  if (c.state != charge_state::unpaid && c.state != charge_state::declined) return;
  const auto& f = world_.options.faults;
  c.state = charge_state::paid;
  c.captured = c.amount + (chance(world_.rng, f.wrong_amount) ? 1 : 0);
  c.tax = strikes(world_.rng, f.taxed) ? between(world_.rng, 1, 40) : 0;
  log_.push_back("paid " + reference);
  tell(verdict::paid, reference, c.captured, {});
  // After a step of the ledger's clock by an hour an unanswered question counts as late, and the next one
  // comes after the end of the run.
  if (world_.chaos && will_be_asked_about(reference) && chance(world_.rng, f.webhook_gone)
      && world_.options.clocks.ledger_steps == 0)
    outbox_.pop_back();
  c.captured += c.tax;
  if (!strikes(world_.rng, f.declined_after_paid)) return;
  c.was_declined = true; // the webhook of the decline may arrive first
  tell(verdict::declined, reference, c.amount, {});
}

/// Whether the server finds the payment out without a webhook: an open attempt is verified, and a failed one
/// until the last time in recheck_after. The margin is for an answer that is on its way.
bool gateway_books::will_be_asked_about(const std::string& reference) const {
  constexpr milliseconds margin{4'000};
  const auto found = world_.check->payments().find(*parse_reference(reference));
  if (found == world_.check->payments().end()) return false;
  const auto& p = found->second;
  return is_open(p.status)
         || (p.status == payment_status::failed
             && world_.env->wall_now() + margin < p.updated_at + world_.options.rules.recheck_after.back());
}

void gateway_books::decline(const std::string& reference) {
  auto& c = charges_.at(reference);
  if (c.state != charge_state::unpaid) return;
  c.state = charge_state::declined;
  c.was_declined = true;
  log_.push_back("declined " + reference);
  tell(verdict::declined, reference, c.amount, {});
}

gateway_result gateway_books::refund(const std::string& reference, const refund_id& id, money amount) {
  auto& c = charges_.at(reference);
  const auto& f = world_.options.faults;
  if (c.refunds.contains(id)) return gateway_result::refunded;
  if (c.refused.contains(id)) return gateway_result::refund_refused;
  if (c.refunds_pending.contains(id)) return gateway_result::refund_pending;
  if (world_.chaos && strikes(world_.rng, f.refund_refused)) {
    c.refused.insert(id);
    return gateway_result::refund_refused;
  }
  if (world_.chaos && chance(world_.rng, f.refund_pending)) {
    c.refunds_pending.emplace(id, amount);
    return gateway_result::refund_pending;
  }
  finish_refund(reference, c, id, amount);
  return gateway_result::refunded;
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
  if (what == verdict::paid) hook.fact.tax = charges_.at(reference).tax;
  hook.due = world_.env->steady_now();
  if (world_.chaos) hook.due += between(world_.rng, milliseconds{0}, world_.options.faults.webhook_delay);
  outbox_.push_back(std::move(hook));
}

void gateway_books::forge() {
  for (const auto& [reference, c] : charges_)
    if (c.state != charge_state::paid && chance(world_.rng, 300)) {
      tell(verdict::paid, reference, c.amount, {});
      outbox_.back().is_forged = true;
      return;
    }
}

// -- the oracle of I3 and I4 ------------------------------------------------------------------------------

void gateway_books::applied(const batch& b, checker& check) const {
  if (b.aggregate != world_.aggregate) return;
  for (const auto& c : b.content) {
    if (const auto* payment = std::get_if<payment_moved>(&c)) check_payment(*payment, check);
    if (const auto* refund = std::get_if<refund_moved>(&c)) check_refund(*refund, check);
  }
}

void gateway_books::check_payment(const payment_moved& moved, checker& check) const {
  const auto& p = moved.row;
  const auto* c = find(p.reference);
  if (p.captured != 0
      && (c == nullptr || c->state != charge_state::paid || c->captured != p.captured || c->tax != p.tax))
    check.fail("I4", "the ledger knows money that the gateway did not take");
  // An attempt whose page may still be paid may fail only together with its claim.
  const bool given_up = moved.from == payment_status::pending && p.status == payment_status::failed;
  if (given_up && c != nullptr && c->state != charge_state::expired && !c->was_declined
      && check.find_claim(p.claim)->status == claim_status::claimed)
    check.fail("I3", "a page that could be paid was given up");
}

void gateway_books::check_refund(const refund_moved& moved, checker& check) const {
  const auto& r = moved.row;
  if (moved.from == r.status || r.status != refund_status::succeeded || r.amount == 0) return;
  const auto* c = find(make_reference(r.payment));
  const auto done = c != nullptr ? c->refunds.find(r.id) : std::map<refund_id, money>::const_iterator{};
  if (c == nullptr || done == c->refunds.end() || done->second != r.amount)
    check.fail("I3", "a refund that the gateway never made");
}

void gateway_books::check_charge(const charge& c, const payment_row& payment, checker& check) const {
  money refunded = 0;
  for (const auto& [id, amount] : c.refunds) {
    refunded += amount;
    const auto row = check.refunds().find(id);
    const bool known =
      row != check.refunds().end() && row->second.payment == payment.id && row->second.amount == amount;
    if (!known || row->second.status != refund_status::succeeded)
      check.fail("I3", "the gateway gave money back, and nobody knows");
  }
  if (payment.captured != c.captured)
    check.fail("I4", "captured " + std::to_string(c.captured) + ", recorded "
                       + std::to_string(payment.captured) + " of " + payment.reference + ", "
                       + std::string{name_of(payment.status)});
  if (payment.refunded != refunded) check.fail("I3", "gave another amount back than recorded");
  switch (payment.status) {
    case payment_status::confirmed:
      if (refunded != 0) check.fail("I3", "a ticket and the money back");
      return;
    case payment_status::partially_refunded:
      // unless both are zero: free tickets
      if (refunded >= c.captured) check.fail("I3", "refunded in part, but all of it");
      return;
    case payment_status::refunded:
      if (refunded != c.captured)
        check.fail("I3", "recorded as refunded, but the gateway still has the money");
      return;
    case payment_status::quarantined:
      if (c.captured == c.amount + c.tax) check.fail("I4", "quarantined although the amount was right");
      return;
    case payment_status::refund_failed: return; // a person is notified: see check_letters
    case payment_status::initializing:
    case payment_status::pending:
    case payment_status::failed:
    case payment_status::confirmed_late:
    case payment_status::refund_pending:
      check.fail("I3", "captured, and neither ticket nor refund: " + std::string{name_of(payment.status)});
  }
}

void gateway_books::check_end(checker& check) const {
  for (const auto& [reference, c] : charges_) {
    if (c.state != charge_state::paid) continue;
    const auto payment = check.payments().find(*parse_reference(reference));
    if (payment == check.payments().end()) return check.fail("I3", "captured, but no payment row");
    check_charge(c, payment->second, check);
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
    const auto& f = w.options.faults;
    const bool is_known = w.gateway->find(reference) != nullptr;
    const bool is_duplicate = is_known && f.references_once;
    if (is_duplicate || (!is_known && w.chaos && strikes(w.rng, f.rejected))) {
      a.result = gateway_result::rejected;
      a.what = is_duplicate ? "duplicate_reference" : "amount_too_small";
      a.reference_already_used = is_duplicate;
      return a;
    }
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
    a.result = w.gateway->refund(reference, x.refund, x.refund_amount);
    return a;
  }
  if (x.kind == gateway_call_kind::expire) w.gateway->expire(reference);
  switch (c->state) {
    case charge_state::unpaid: a.result = gateway_result::unpaid; break;
    case charge_state::paid: a.result = gateway_result::paid; break;
    case charge_state::declined:
    case charge_state::expired: a.result = gateway_result::closed; break;
  }
  a.amount = c->state == charge_state::paid ? c->captured - c->tax : c->amount;
  a.tax = c->tax;
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
    if (down || (w->chaos && chance(w->rng, f.gateway_unavailable)))
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

/// One delivery attempt; the webhook stays in the outbox until an owner acknowledges it.
void deliver(caf::event_based_actor* self, world* w, std::size_t index) {
  const auto& fact = w->gateway->outbox()[index].fact;
  const bool is_report = w->options.checkout.webhooks_are_reports && fact.what == verdict::paid;
  const auto acknowledged = [=](const ack_reply& reply) {
    if (reply.no) w->check->fail("I3", "a webhook about our own reference was refused");
    w->gateway->outbox()[index].acknowledged = true;
  };
  if (w->net != nullptr)
    return self->request(w->some_edge(), staff_patience, apply_fact{fact, is_report})
      .then(acknowledged, [](caf::error&) {});
  self->request(w->some_region(), staff_patience, resolve_event{w->aggregate})
    .then(
      [=, fact = fact](const event_handle& owner) {
        const auto process = w->process_of(owner.id());
        self->request(owner, staff_patience, apply_fact{fact, is_report})
          .then(
            [=](const ack_reply& reply) {
              if (!w->leases->may_be_stale(process)) acknowledged(reply);
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
    if (w->chaos && strikes(w->rng, f.report_forged)) w->gateway->forge();
    auto& outbox = w->gateway->outbox();
    for (std::size_t i = 0; i < outbox.size(); ++i) {
      auto& hook = outbox[i];
      const bool twice = w->chaos && hook.acknowledged && chance(w->rng, f.webhook_twice / 20);
      if (hook.is_forged && !w->chaos) continue; // correctly ignored
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
