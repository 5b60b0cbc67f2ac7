// SPDX-License-Identifier: Apache-2.0
// The event actor's requests about money, and its gateway calls (through the payments actor, after the
// commit).
#include "actors/sale/event_actor.hpp"
#include "actors/sale/limits.hpp"
#include "domain/base/planted.hpp"

#include <algorithm>

namespace fq {

payment_reply event_state::payment_answer(const payment_id& payment, bool created) const {
  payment_reply reply;
  reply.created = created;
  reply.payment = sale_->view_of(*sale_->payments().find(payment));
  return reply;
}

/// The answer is stored with its effect; a replay shows the stored payment with its current state.
caf::result<payment_reply> event_state::on_open_payment(const open_payment& x) {
  if (refuses()) return refused(x);
  apply_block_list();
  const auto t = now();
  if (auto before = replayed<payment_reply>(x.idempotency, t))
    return before->no ? reveal(std::move(*before)) : answer_with_page(std::move(*before), 0);
  decision d;
  auto attempt = sale_->open_payment(x.customer, x.claim, x.gateway, t, d);
  if (attempt.no) return reveal(payment_reply{std::move(attempt.no)});
  auto work = begin_work(x.trace, "open_payment");
  traces_.note(x.claim, work.context());
  auto reply = payment_answer(attempt.payment, attempt.created);
  remember(x.idempotency, reply, t, d);
  const auto seq = commit(std::move(d), t);
  end_work(std::move(work), seq);
  return answer_with_page(std::move(reply), seq);
}

/// Completes `reply` with the payment's current state, at most payment_page_wait later if the page is not
/// known.
caf::result<payment_reply> event_state::answer_with_page(payment_reply reply, std::uint64_t own_seq) {
  const auto id = reply.payment.payment.id;
  const auto& row = *sale_->payments().find(id);
  if (row.status != payment_status::initializing) {
    reply.payment = sale_->view_of(row);
    return reveal(std::move(reply), own_seq);
  }
  last_request_ = services_->env->steady_now();
  page_waiters_.emplace(id, page_waiter{self_->make_response_promise(), std::move(reply), own_seq});
  page_deadlines_.emplace_back(last_request_ + payment_page_wait, id);
  set_timer(timer_kind::flush, payment_page_wait, 0);
  return caf::delegated<payment_reply>{};
}

/// The attempt left INITIALIZING, or its waiters have waited long enough.
void event_state::answer_page_waiters(const payment_id& payment) {
  const auto [first, last] = page_waiters_.equal_range(payment);
  if (first == last) return;
  const auto view = sale_->view_of(*sale_->payments().find(payment));
  for (auto i = first; i != last; ++i) {
    i->second.reply.payment = view;
    hold(std::max(i->second.seq, journal_->reveal_barrier()), std::move(i->second.promise),
         std::move(i->second.reply));
  }
  page_waiters_.erase(first, last);
}

void event_state::on_page_timeout() {
  if (!serving_) return;
  while (!page_deadlines_.empty() && page_deadlines_.front().first <= services_->env->steady_now()) {
    answer_page_waiters(page_deadlines_.front().second);
    page_deadlines_.pop_front();
  }
}

caf::result<payment_reply> event_state::on_find_payment(const find_payment& x) {
  if (refuses()) return refused(x);
  const auto* payment = sale_->payments().find(x.payment);
  const auto* order = payment != nullptr ? sale_->orders().of_claim(payment->claim) : nullptr;
  const bool is_theirs =
    payment != nullptr && (payment->customer == x.customer || (order != nullptr && order->is_of(x.customer)));
  if (!is_theirs) return payment_reply{reason::not_found};
  return reveal(payment_answer(x.payment, false));
}

caf::result<ack_reply> event_state::on_apply_fact(const apply_fact& x) {
  if (refuses()) return refused(x);
  if (x.is_report && !planted(bug::report_believed)) return ask_gateway(x.fact);
  apply_block_list(); // late money takes stock
  const auto t = now();
  decision d;
  auto no = sale_->apply(x.fact, t, d);
  if (no) return reveal(ack_reply{std::move(no)});
  const auto seq = commit(std::move(d), t);
  if (const auto payment = parse_reference(x.fact.reference)) answer_page_waiters(*payment);
  return reply_after(std::max(seq, journal_->reveal_barrier()), ack_reply{});
}

// -- reports: webhooks without proof

/// Asks the gateway to confirm the report. Answers after the confirmed fact is committed, or with 503, so
/// that the webhook is redelivered.
caf::result<ack_reply> event_state::ask_gateway(const gateway_fact& fact) {
  const auto id = parse_reference(fact.reference);
  if (!id) return reveal(ack_reply{reason::not_found});
  const auto* payment = sale_->payments().find(*id);
  const bool is_ours = payment != nullptr ? payment->gateway == fact.gateway : sale_->may_have_lost(*id);
  if (!is_ours) return reveal(ack_reply{reason::not_found});
  if (sale_->payments().has_receipt(fact.gateway, fact.gateway_event)) return reveal(ack_reply{});
  if (report_waiters_.size() >= services_->bounds.report_waiters) return make_error(errc::unavailable);
  last_request_ = services_->env->steady_now();
  report_waiters_.emplace(*id, report_waiter{fact, self_->make_response_promise()});
  const gateway_call verify{gateway_call_kind::verify, *id, {}};
  if (payment != nullptr)
    call(verify);
  else
    call(verify, {fact.gateway, fact.reference, fact.gateway_id, fact.amount, fact.currency});
  return caf::delegated<ack_reply>{};
}

/// Applies a gateway's confirmation of reports: only "paid", under the report's id. Any other result may
/// predate the reported payment, so the webhook must be redelivered.
void event_state::apply_confirmation(const gateway_answered& x) {
  if (x.kind != gateway_call_kind::verify) return;
  const auto [first, last] = report_waiters_.equal_range(x.payment);
  std::vector<report_waiter> ready;
  for (auto i = first; i != last; ++i) ready.push_back(std::move(i->second));
  report_waiters_.erase(first, last);
  for (auto& w : ready) {
    if (x.result != gateway_result::paid) {
      w.promise.deliver(make_error(errc::unavailable));
      continue;
    }
    auto fact = w.fact;
    fact.amount = x.amount;
    fact.tax = x.tax;
    fact.currency = x.currency;
    fact.gateway_id = x.gateway_id;
    const auto t = now();
    decision d;
    auto no = sale_->apply(fact, t, d);
    const auto seq = commit(std::move(d), t);
    hold(std::max(seq, journal_->reveal_barrier()), std::move(w.promise), ack_reply{std::move(no)});
  }
}

// -- traces

/// Span of a request that leads to gateway calls. Refused requests have no span.
open_span event_state::begin_work(const trace_context& trace, std::string_view name) const {
  return {services_->spans, *services_->env, trace, span_kind::internal, name};
}

/// Ends the span after the commit. After a failed commit it is dropped: the owner reloads and the request
/// gets an error.
void event_state::end_work(open_span work, std::uint64_t seq) {
  if (work.is_kept()) journal_->hold(seq, [work = std::move(work)]() mutable { work.end(false); });
}

// -- gateways

/// Must be identical for every call about a payment: Stripe refuses a reused reference with other parameters.
/// If names or metadata have changed, the gateway refuses it as used up, and a new attempt starts.
gateway_charge event_state::charge_of(const payment_row& p) const {
  const auto& claim = *sale_->claims().find(p.claim);
  const auto& event = sale_->event();
  gateway_charge c;
  c.reference = p.reference;
  c.gateway_id = p.gateway_id;
  c.money = {p.amount, event.currency};
  c.destination = p.destination;
  c.title = event.name;
  c.application_fee = fees_of(claim);
  for (const auto& i : claim.items)
    c.lines.push_back(
      {sale_->stock().types()[i.ticket_type].name, price_of_one(i), std::int64_t{i.quantity}});
  if (services_->metadata_of) c.metadata = services_->metadata_of(event.tenant);
  c.metadata.push_back({"show_id", to_string(event.id)});
  c.trace = traces_.of(p.claim);
  c.expires_at = p.created_at + std::max(payment_page_life_min, claim.expires_at - p.created_at);
  const auto* order = sale_->orders().of_claim(p.claim);
  if (order == nullptr) {
    if (c.application_fee > 0) c.lines.push_back({"Fees", c.application_fee, 1});
    return c;
  }
  c.metadata.push_back({"order_id", to_string(order->id)});
  c.customer_email = order->contact.mail_address(); // some gateways send receipts to it
  c.success_url = order->success_url;
  c.cancel_url = order->cancel_url;
  if (order->platform_fee > 0) c.lines.push_back({"Platform fee", order->platform_fee, 1});
  if (order->processing_fee > 0) c.lines.push_back({"Processing fee", order->processing_fee, 1});
  return c;
}

void event_state::call(const gateway_call& order) {
  const auto* p = sale_->payments().find(order.payment);
  if (p == nullptr) {
    if (const auto lost = sale_->unknown_charge(order.refund)) call(order, *lost);
    return;
  }
  const auto* refund = sale_->payments().find_refund(order.refund);
  const auto& entry = *sale_->queue().find(sale_->claims().find(p->claim)->entry);
  self_->send(services_->payments, call_gateway{.kind = order.kind,
                                                .gateway = p->gateway,
                                                .payment = p->id,
                                                .charge = charge_of(*p),
                                                .refund = order.refund,
                                                .refund_amount = refund != nullptr ? refund->amount : 0,
                                                .priority_class = entry.priority_class});
}

/// A call about a payment whose row is lost.
void event_state::call(const gateway_call& order, const unknown_payment& lost) {
  call_gateway x;
  x.kind = order.kind;
  x.gateway = lost.gateway;
  x.payment = order.payment;
  x.charge.reference = lost.reference;
  x.charge.gateway_id = lost.gateway_id;
  x.charge.money = {lost.captured, lost.currency};
  x.refund = order.refund;
  x.refund_amount = lost.captured;
  self_->send(services_->payments, std::move(x));
}

void event_state::on_gateway_answered(const gateway_answered& x) {
  if (is_closed()) return; // repeated at the claim's deadline or the next sweep
  apply_block_list();
  const auto t = now();
  decision d;
  switch (x.result) {
    case gateway_result::initialized:
      sale_->initialized(x.payment, x.authorization_url, x.gateway_id, t, d);
      break;
    case gateway_result::paid:
      sale_->apply({.gateway = x.gateway,
                    .gateway_event = "verify:" + x.reference,
                    .what = verdict::paid,
                    .reference = x.reference,
                    .amount = x.amount,
                    .currency = x.currency,
                    .tax = x.tax,
                    .gateway_id = x.gateway_id},
                   t, d);
      break;
    case gateway_result::unpaid: sale_->unpaid(x.payment, x.kind == gateway_call_kind::expire, t, d); break;
    case gateway_result::closed:
    case gateway_result::unknown_reference: sale_->closed(x.payment, t, d); break;
    case gateway_result::rejected:
      sale_->refused_by_gateway(x.payment, x.reference_already_used, t, d);
      break;
    case gateway_result::refunded:
      sale_->apply({.gateway = x.gateway,
                    .gateway_event = "refund:" + to_string(x.refund),
                    .what = verdict::refund_processed,
                    .reference = x.reference,
                    .amount = x.amount,
                    .currency = x.currency,
                    .refund = to_string(x.refund)},
                   t, d);
      break;
    case gateway_result::refund_pending: sale_->refund_not_processed(x.refund, false, t, d); break;
    case gateway_result::refund_refused: sale_->refund_not_processed(x.refund, true, t, d); break;
    case gateway_result::unavailable: sale_->not_answered(x.payment, t); break;
  }
  if (x.kind == gateway_call_kind::verify && x.result != gateway_result::unavailable)
    sale_->rechecked(x.payment, t, d);
  commit(std::move(d), t);
  answer_page_waiters(x.payment);
  apply_confirmation(x);
}

} // namespace fq
