// SPDX-License-Identifier: Apache-2.0
// The event actor's requests about event tickets, from holders and organizers.
#include "actors/sale/event_actor.hpp"
#include "actors/sale/limits.hpp"
#include "domain/sale/attendees.hpp"

namespace fq {

// -- holders

caf::result<event_ticket_reply> event_state::on_find_event_ticket(const find_event_ticket& x) {
  if (refuses()) return refused(x);
  const auto* ticket = sale_->event_tickets().find(x.ticket);
  const bool is_theirs = ticket != nullptr && (ticket->holder == x.customer || !refused_to(own(x.by)));
  if (!is_theirs) return event_ticket_reply{reason::not_found};
  auto view = sale_->views_of({&ticket, 1}).front();
  if (ticket->holder == x.customer && !sale_->is_with_buyer(*ticket))
    view.order = view.ticket.claim = {}; // the buyer's
  return reveal(event_ticket_reply{{}, std::move(view), sale_->event().event_tickets});
}

caf::result<ticket_papers_reply> event_state::on_find_ticket_papers(const find_ticket_papers& x) {
  if (refuses()) return refused(x);
  const auto& book = sale_->event_tickets();
  ticket_papers_reply reply;
  const auto* order = x.of_order ? sale_->orders().find(x.id) : nullptr;
  const bool is_linked =
    x.by_link && order != nullptr && !order->guest.is_nil() && !order->contact.email.empty();
  if (x.by_link && !is_linked)
    return ticket_papers_reply{reason::not_found}; // also if the customer was erased
  const auto holder = is_linked ? order->customer : x.holder;
  const auto* single = x.of_order ? nullptr : book.find(x.id);
  const auto claim = order != nullptr ? order->claim : single != nullptr ? single->claim : claim_id{};
  const auto attendees = asked_attendees(*sale_, claim);
  const auto add = [&](const event_ticket_row* t) {
    if (t != nullptr && t->holder == holder && is_valid(t->status) && reply.papers.size() < papers_max)
      reply.papers.push_back(sale_->paper_of(*t, attendee_of(attendees, t->id)));
  };
  if (order != nullptr)
    for (const auto* ticket : book.of_claim(order->claim)) add(ticket);
  add(single);
  if (reply.papers.empty()) return ticket_papers_reply{reason::not_found};
  reply.event = sale_->event();
  return reveal(std::move(reply));
}

caf::result<ticket_seats_reply> event_state::on_find_ticket_seats(const find_ticket_seats& x) {
  if (refuses()) return refused(x);
  ticket_seats_reply reply;
  for (const auto& id : x.tickets) {
    const auto* ticket = sale_->event_tickets().find(id);
    if (ticket == nullptr || ticket->holder != x.holder || ticket->seat == 0) continue;
    reply.seats.push_back(sale_->seat_of(*ticket));
    if (reply.seats.size() == papers_max) break;
  }
  return reveal(std::move(reply));
}

transfer_reply event_state::transfer_answer(const transfer_id& id) const {
  auto row = *sale_->transfers().find(id);
  row.giver_email.clear();
  row.receiver_email.clear();
  return {{}, std::move(row)};
}

caf::result<transfer_reply> event_state::on_offer_ticket(const offer_ticket& x) {
  if (refuses()) return refused(x);
  const auto t = now();
  decision d;
  transfer_id made;
  if (auto no = sale_->offer_ticket(x.wish, t, d, made)) return reveal(transfer_reply{std::move(no)});
  const auto seq = commit(std::move(d), t);
  return reveal(transfer_answer(made), seq);
}

caf::result<transfer_reply> event_state::on_end_transfer(const end_transfer& x) {
  if (refuses()) return refused(x);
  apply_block_list();
  const auto t = now();
  decision d;
  if (auto no = sale_->end_transfer(x.transfer, x.by, x.how, t, d))
    return reveal(transfer_reply{std::move(no)});
  const auto seq = commit(std::move(d), t);
  return reveal(transfer_answer(x.transfer), seq);
}

// -- organizers

caf::result<event_tickets_reply> event_state::on_list_event_tickets(const list_event_tickets& x) {
  if (refuses()) return refused(x);
  if (auto no = refused_to(x.what)) return event_tickets_reply{std::move(no)};
  const auto& all = sale_->event_tickets();
  event_tickets_reply reply;
  std::vector<const event_ticket_row*> page;
  std::size_t looked_at = 0;
  for (auto place = x.before.is_nil() ? all.size() : all.place_of(x.before); place > 0; --place) {
    if (page.size() == x.limit || ++looked_at > event_tickets_looked_at) {
      reply.next = all.at(place).id;
      break;
    }
    const auto& ticket = all.at(place - 1);
    if (!x.status.given || ticket.status == x.status.value) page.push_back(&ticket);
  }
  reply.tickets = sale_->views_of(page);
  return reveal(std::move(reply));
}

} // namespace fq
