// SPDX-License-Identifier: Apache-2.0
// The event actor's requests about money, and its talk with gateways (through the payments actor, after the commit).
#include "actors/event_actor.hpp"

#include <algorithm>

namespace fq {
namespace {

/// How long POST payments waits for the gateway's page before it answers INITIALIZING with no page.
constexpr milliseconds page_wait{3'000};

gateway_call_kind kind_of(gateway_order_kind kind) {
  switch (kind) {
    case gateway_order_kind::initialize: return gateway_call_kind::initialize;
    case gateway_order_kind::verify: return gateway_call_kind::verify;
    case gateway_order_kind::expire: return gateway_call_kind::expire;
    case gateway_order_kind::refund: return gateway_call_kind::refund;
  }
  return gateway_call_kind::verify;
}

} // namespace

payment_reply event_state::payment_answer(const payment_id& payment, bool created) const {
  payment_reply reply;
  reply.created = created;
  reply.payment = sale_->view_of(*sale_->payments().find(payment));
  return reply;
}

caf::result<payment_reply> event_state::on_open_payment(const open_payment& x) {
  if (refuses()) return make_error(errc::unavailable);
  const auto t = now();
  if (auto before = replayed<payment_reply>(x.idempotency, t)) return reveal(std::move(*before));
  decision d;
  auto attempt = sale_->open_payment(x.customer, x.claim, x.gateway, t, d);
  if (attempt.no) return reveal(payment_reply{std::move(attempt.no)});
  if (sale_->payments().find(attempt.payment)->status != payment_status::initializing) {
    auto reply = payment_answer(attempt.payment, attempt.created);
    remember(x.idempotency, reply, t, d);
    return reveal(std::move(reply), commit(std::move(d), t));
  }
  commit(std::move(d), t);
  last_request_ = services_->env->steady_now();
  page_waiters_.push_back({attempt.payment, self_->make_response_promise(), x.idempotency, attempt.created, last_request_ + page_wait});
  set_timer(timer_kind::flush, page_wait, 0);
  return caf::delegated<payment_reply>{};
}

/// The attempt left INITIALIZING: answers, and remembers the answers of idempotent requests in the same commit.
void event_state::answer_page_waiters(const payment_id& payment) {
  const auto due = std::stable_partition(page_waiters_.begin(), page_waiters_.end(),
                                         [&](const page_waiter& w) { return w.payment != payment; });
  std::vector<page_waiter> ready(std::make_move_iterator(due), std::make_move_iterator(page_waiters_.end()));
  page_waiters_.erase(due, page_waiters_.end());
  for (auto& w : ready) {
    const auto t = now();
    auto reply = payment_answer(w.payment, w.created);
    decision d;
    remember(w.idempotency, reply, t, d);
    const auto seq = journal_->append(std::move(d.content), t, false);
    journal_->hold(std::max(seq, journal_->reveal_barrier()), std::move(w.promise), caf::make_message(std::move(reply)));
  }
}

void event_state::on_page_timeout() {
  if (!serving_) return;
  std::vector<payment_id> late;
  for (const auto& w : page_waiters_)
    if (w.deadline <= services_->env->steady_now()) late.push_back(w.payment);
  for (const auto& payment : late) answer_page_waiters(payment);
}

caf::result<payment_reply> event_state::on_find_payment(const find_payment& x) {
  if (refuses()) return make_error(errc::unavailable);
  const auto* payment = sale_->payments().find(x.payment);
  if (payment == nullptr || payment->customer != x.customer) return payment_reply{reason::not_found};
  return reveal(payment_answer(x.payment, false));
}

caf::result<ack_reply> event_state::on_apply_fact(const apply_fact& x) {
  if (refuses()) return make_error(errc::unavailable);
  const auto t = now();
  decision d;
  auto no = sale_->apply(x.fact, t, d);
  if (no) return reveal(ack_reply{std::move(no)});
  const auto seq = commit(std::move(d), t);
  if (const auto payment = parse_reference(x.fact.reference)) answer_page_waiters(*payment);
  return reply_after(std::max(seq, journal_->reveal_barrier()), ack_reply{});
}

void event_state::call(const gateway_order& order) {
  const auto* p = sale_->payments().find(order.payment);
  if (p == nullptr) return;
  const auto* refund = sale_->payments().find_refund(order.refund);
  self_->send(services_->payments,
              call_gateway{kind_of(order.kind), p->gateway, p->id, p->reference, refund != nullptr ? refund->amount : p->amount,
                           sale_->event().currency, order.refund});
}

void event_state::on_gateway_answered(const gateway_answered& x) {
  if (is_closed()) return; // asked again when the claim's deadline or the sweep comes
  const auto t = now();
  decision d;
  switch (x.result) {
    case gateway_result::initialized: sale_->initialized(x.payment, x.authorization_url, t, d); break;
    case gateway_result::paid:
      sale_->apply({x.gateway, "verify:" + x.reference, verdict::paid, x.reference, x.amount, x.currency, {}}, t, d);
      break;
    case gateway_result::unpaid: sale_->unpaid(x.payment, d); break;
    case gateway_result::closed:
    case gateway_result::unknown_reference: sale_->closed(x.payment, t, d); break;
    case gateway_result::refunded:
      sale_->apply({x.gateway, "refund:" + to_string(x.refund), verdict::refund_processed, x.reference, x.amount, x.currency,
                    to_string(x.refund)}, t, d);
      break;
    case gateway_result::refund_pending: sale_->refund_not_done(x.refund, false, t, d); break;
    case gateway_result::refund_refused: sale_->refund_not_done(x.refund, true, t, d); break;
    case gateway_result::unavailable: return;
  }
  commit(std::move(d), t);
  answer_page_waiters(x.payment);
}

} // namespace fq
