// SPDX-License-Identifier: Apache-2.0
// The event actor's requests about orders, promo codes and dead letters, from fans and organizers.
#include "actors/sale/event_actor.hpp"
#include "actors/sale/limits.hpp"
#include "actors/sale/mails.hpp"
#include "domain/base/planted.hpp"
#include "domain/delivery/outbox.hpp"

#include <algorithm>

namespace fq {

order_reply event_state::order_answer(const order_id& id) const {
  order_reply reply;
  reply.order = sale_->view_of(*sale_->orders().find(id));
  reply.async_percent = sale_->event().async_percent;
  return reply;
}

/// With the order's event tickets, which few callers read; none in a refusal. A customer does not read to
/// whom others gave them.
order_reply event_state::whole(order_reply reply, bool is_for_organizer) const {
  const auto tickets = sale_->event_tickets().of_claim(reply.order.order.claim);
  reply.order.event_tickets = sale_->views_of(tickets);
  if (is_for_organizer) reply.order.transfers = sale_->history_of(tickets);
  return reply;
}

/// The stored order with its current state.
std::optional<order_reply> event_state::replayed_order(const idempotency_ref& ref, timestamp t) {
  auto before = replayed<order_reply>(ref, t);
  if (before && !before->no) {
    auto now = order_answer(before->order.order.id);
    now.replayed = before->replayed;
    return now;
  }
  return before;
}

// -- fans

caf::result<quote_reply> event_state::on_get_quote(const get_quote& x) {
  if (refuses()) return refused(x);
  if (is_no_sale(x.event)) return quote_reply{reason::not_found};
  quote_reply reply;
  reply.no = sale_->quote(x.customer, x.wish, now(), reply.quote);
  return reveal(std::move(reply));
}

caf::result<order_reply> event_state::on_place_order(const place_order& x) {
  if (refuses()) return refused(x);
  if (is_no_sale(x.event)) return order_reply{reason::not_found};
  follow_rules();
  const auto t = now();
  if (auto before = replayed_order(x.idempotency, t)) return reveal(std::move(*before));
  const auto* entry = x.admission_token.empty() ? nullptr : admitted_by(x.admission_token);
  if (entry == nullptr && !x.admission_token.empty()) return reveal(order_reply{reason::not_admitted});
  decision d;
  auto placed = sale_->place_order(x.customer, entry, x.wish, t, d);
  if (placed.no) {
    if (!d.content.empty()) commit(std::move(d), t); // refused, but the customer has joined the queue
    return reveal(order_reply{std::move(placed.no)});
  }
  auto work = begin_work(x.trace, "place_order");
  traces_.note(sale_->orders().find(placed.order)->claim, work.context());
  auto reply = order_answer(placed.order);
  remember(x.idempotency, reply, t, d);
  const auto seq = commit(std::move(d), t);
  end_work(std::move(work), seq);
  return reply_after(seq, std::move(reply));
}

caf::result<order_reply> event_state::on_find_order(const find_order& x) {
  if (refuses()) return refused(x);
  const auto* order = sale_->orders().find(x.order);
  const bool is_theirs = order != nullptr && (order->is_of(x.customer) || !refused_to(own(x.by)));
  if (!is_theirs) return order_reply{reason::not_found};
  if (order->status != order_status::pending || x.wait <= milliseconds{0}
      || (order_waiters_.size() >= services_->bounds.order_waiters && !planted(bug::waits_without_limit)))
    return reveal(x.with_tickets && !is_guest(x.customer) ? whole(order_answer(x.order), x.customer.is_nil())
                                                          : order_answer(x.order));
  last_request_ = services_->env->steady_now();
  const auto deadline = last_request_ + x.wait;
  order_waiters_.emplace(x.order, order_waiter{self_->make_response_promise(), deadline});
  order_deadlines_.emplace(deadline, x.order);
  set_timer(timer_kind::flush, x.wait, 0);
  return caf::delegated<order_reply>{};
}

void event_state::answer_order_waiters(const std::vector<order_change>& changed, std::uint64_t seq) {
  if (order_waiters_.empty()) return;
  for (const auto& c : changed) {
    if (c.status == order_status::pending) continue;
    const auto [first, last] = order_waiters_.equal_range(c.order);
    for (auto i = first; i != last; ++i)
      hold(std::max(seq, journal_->reveal_barrier()), std::move(i->second.promise), order_answer(c.order));
    order_waiters_.erase(first, last);
  }
}

void event_state::on_order_timeout() {
  if (!serving_) return;
  const auto t = services_->env->steady_now();
  while (!order_deadlines_.empty() && order_deadlines_.begin()->first <= t) {
    const auto order = order_deadlines_.begin()->second;
    order_deadlines_.erase(order_deadlines_.begin());
    const auto [first, last] = order_waiters_.equal_range(order);
    for (auto i = first; i != last;) {
      if (i->second.deadline > t) {
        ++i;
        continue;
      }
      hold(journal_->reveal_barrier(), std::move(i->second.promise), order_answer(order));
      i = order_waiters_.erase(i);
    }
  }
}

caf::result<order_reply> event_state::on_cancel_order(const cancel_order& x) {
  if (refuses()) return refused(x);
  const auto t = now();
  decision d;
  if (auto no = sale_->cancel_order(x.customer, x.order, t, d)) return reveal(order_reply{std::move(no)});
  const auto seq = commit(std::move(d), t);
  return reveal(order_answer(x.order), seq);
}

std::vector<order_change> event_state::order_changes_of(const changes& content) const {
  std::vector<order_change> changed;
  for (const auto& c : content) {
    const auto* moved = std::get_if<order_moved>(&c);
    if (moved == nullptr) continue;
    const bool has_new_page = moved->from == moved->row.status && is_set(moved->row.payment_link_at);
    if (moved->from == moved->row.status && !has_new_page) continue;
    const auto view = sale_->view_of(*sale_->orders().find(moved->row.id));
    changed.push_back({moved->row.id, view.claim.claim.entry, moved->row.status, view.payment_url,
                       moved->row.failure, view.claim.claim.expires_at});
  }
  return changed;
}

// -- organizers

namespace {

/// The event tickets of attendees who gave answers, which are few: other orders may have thousands.
std::vector<event_ticket_view> tickets_of_attendees(const order_row& order, const sale& now) {
  const auto& answers = order.contact.answers;
  const auto has_answer = [&](std::uint32_t attendee) {
    return std::ranges::find(answers, attendee, &answer_row::attendee) != answers.end();
  };
  if (std::ranges::all_of(answers, [](const answer_row& a) { return a.attendee == 0; })) return {};
  auto tickets = now.views_of(now.event_tickets().of_claim(order.claim));
  std::erase_if(tickets,
                [&](const event_ticket_view& t) { return t.attendee == 0 || !has_answer(t.attendee); });
  return tickets;
}

} // namespace

caf::result<orders_reply> event_state::on_list_orders(const list_event_orders& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return orders_reply{std::move(no)};
  const auto& all = sale_->orders().all();
  orders_reply reply;
  for (auto i = std::make_reverse_iterator(x.before.is_nil() ? all.end() : all.lower_bound(x.before));
       i != all.rend(); ++i) {
    reply.more = reply.orders.size() == x.limit;
    if (reply.more) break;
    reply.orders.push_back(sale_->view_of(i->second));
    if (x.with_attendees) reply.orders.back().event_tickets = tickets_of_attendees(i->second, *sale_);
  }
  return reveal(std::move(reply));
}

caf::result<order_reply> event_state::on_refund(const refund_tickets& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(own(x.what.by))) return order_reply{std::move(no)};
  const auto t = now();
  if (auto before = replayed_order(x.idempotency, t)) return reveal(whole(std::move(*before), true));
  decision d;
  refund_id opened;
  if (auto no = sale_->refund_order(x.what.id, {x.items, x.event_tickets}, t, d, opened)) {
    if (!d.content.empty()) commit(std::move(d), t); // refused, but its event tickets are settled
    return reveal(order_reply{std::move(no)});
  }
  auto work = begin_work(x.trace, "refund_tickets");
  traces_.note(sale_->orders().find(x.what.id)->claim, work.context());
  record(d, own(x.what.by), x.note, "refund", t);
  auto reply = order_answer(x.what.id);
  remember(x.idempotency, reply, t, d);
  const auto seq = commit(std::move(d), t);
  end_work(std::move(work), seq);
  return reply_after(seq, whole(std::move(reply), true));
}

caf::result<ack_reply> event_state::on_resend(const resend_order& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(own(x.what.by))) return ack_reply{std::move(no)};
  const auto* order = sale_->orders().find(x.what.id);
  if (order == nullptr) return ack_reply{reason::not_found};
  auto mail = mail_again(*order, *sale_, services_->shop_url);
  if (mail.empty()) return ack_reply{{reason::invalid_transition, std::string{name_of(order->status)}}};
  const auto t = now();
  decision d;
  outbox_row row{services_->env->make_id(t, aggregate_), std::string{topic::mail_send}, std::move(mail), t,
                 bit_of(lane::mail)};
  d.content.emplace_back(outbox_appended{std::move(row)});
  record(d, own(x.what.by), x.note, "resend", t);
  return reply_after(commit(std::move(d), t), ack_reply{});
}

// -- promo codes

caf::result<promo_codes_reply> event_state::on_set_promo_code(const set_promo_code& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return promo_codes_reply{std::move(no)};
  auto patch = x.patch;
  for (const auto& id : x.ticket_types) {
    const auto* type = sale_->stock().find(id);
    if (type == nullptr)
      return reveal(promo_codes_reply{{reason::invalid_field, "ticket_type_ids: no such ticket type"}});
    patch.reduction.value.ticket_types |= std::uint64_t{1} << type->ordinal;
  }
  const auto t = now();
  decision d;
  promo_code_id id;
  if (auto no = sale_->set_promo_code(patch, t, d, id)) return reveal(promo_codes_reply{std::move(no)});
  record(d, x.what, x.note, patch.id.is_nil() ? "promo_code.create" : "promo_code.change", t);
  const auto seq = commit(std::move(d), t);
  promo_codes_reply reply;
  reply.codes.push_back(*sale_->promo_codes().find(id));
  for (const auto& type : sale_->stock().types()) reply.ticket_types.push_back(type.id);
  return reply_after(seq, std::move(reply));
}

caf::result<promo_codes_reply> event_state::on_find_promo_codes(const find_promo_codes& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return promo_codes_reply{std::move(no)};
  promo_codes_reply reply;
  for (const auto& row : sale_->promo_codes().all())
    if (x.code.is_nil() || row.id == x.code) reply.codes.push_back(row);
  if (!x.code.is_nil() && reply.codes.empty()) return promo_codes_reply{reason::not_found};
  for (const auto& type : sale_->stock().types()) reply.ticket_types.push_back(type.id);
  return reveal(std::move(reply));
}

// -- dead letters

caf::result<ack_reply> event_state::on_settle(const settle_dead_letter& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(own(x.what.by))) return ack_reply{std::move(no)};
  const auto t = now();
  decision d;
  auto no = x.retry ? sale_->retry_dead_letter(x.what.id, t, d) : sale_->dismiss_dead_letter(x.what.id, t, d);
  if (no) return reveal(ack_reply{std::move(no)});
  record(d, own(x.what.by), x.note, x.retry ? "dead_letter.retry" : "dead_letter.dismiss", t);
  return reply_after(commit(std::move(d), t), ack_reply{});
}

caf::result<ack_reply> event_state::on_undelivered(const report_undelivered& x) {
  if (refuses()) return refused(x);
  const auto t = now();
  decision d;
  sale_->undelivered(x.row, x.detail, t, d);
  return reply_after(commit(std::move(d), t), ack_reply{});
}

} // namespace fq
