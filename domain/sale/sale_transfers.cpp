// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about offers of event tickets: the holder offers, the receiver accepts. Money and limits
// stay with the buyer.
#include "domain/model/invalid_field.hpp"
#include "domain/sale/limits.hpp"
#include "domain/sale/sale.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <set>

namespace fq {

/// Whether the ticket may get another holder now.
refusal sale::refused_transfer(const event_ticket_row& ticket) const {
  const auto most = event_.event_tickets.transfers_max;
  if (most == 0) return reason::transfers_off;
  if (!next(event_ticket_rules, ticket.status, event_ticket_trigger::transfer))
    return {reason::not_transferable, std::string{name_of(ticket.status)}};
  if (may_present(ticket)) return {reason::not_transferable, "REFUND_PENDING"};
  if (transfers_.accepted_of(ticket.id) >= most) return reason::transfer_limit;
  return {};
}

refusal sale::offer_ticket(const transfer_wish& wish, timestamp now, decision& out, transfer_id& made) {
  const auto* ticket = event_tickets_.find(wish.ticket);
  if (ticket == nullptr || ticket->holder != wish.giver) return reason::not_found;
  if (wish.receiver == wish.giver) return invalid_field("email", "must be another person's");
  if (auto no = refused_transfer(*ticket)) return no;
  if (const auto* open = transfers_.open_of(wish.ticket)) {
    if (open->receiver == wish.receiver) { // asked again
      made = open->id;
      return {};
    }
    refusal no{reason::transfer_open};
    no.id = open->id;
    return no;
  }
  transfer_row row;
  row.id = made = make_uuid(now, event_.aggregate, random_());
  row.ticket = wish.ticket;
  row.giver = wish.giver;
  row.receiver = wish.receiver;
  row.giver_email = wish.giver_email;
  row.receiver_email = wish.receiver_email;
  row.giver_language = wish.giver_language;
  row.receiver_language = wish.receiver_language;
  row.created_at = now;
  row.expires_at = now + transfer_life;
  out.transfers.push_back(row);
  transfers_.offer(std::move(row), out.content);
  out.reveals = true;
  return {};
}

refusal sale::end_transfer(const transfer_id& id, const customer_id& by, transfer_trigger trigger,
                           timestamp now, decision& out) {
  const auto* offer = transfers_.find(id);
  const bool is_theirs =
    offer != nullptr && (trigger == transfer_trigger::withdraw ? offer->giver : offer->receiver) == by;
  if (!is_theirs) return reason::not_found;
  const auto done = next(transfer_rules, transfer_status::offered, trigger);
  if (offer->status == done) return {}; // asked again
  const auto& ticket = *event_tickets_.find(offer->ticket);
  if (trigger == transfer_trigger::accept && !is_valid(ticket.status)) // that has ended its offer
    return {reason::not_transferable, std::string{name_of(ticket.status)}};
  if (offer->status != transfer_status::offered || offer->expires_at <= now)
    return {reason::invalid_transition, std::string{name_of(offer->status)}};
  if (trigger == transfer_trigger::accept) {
    if (is_blocked(by)) return reason::customer_blocked;
    if (auto no = refused_transfer(ticket)) return no;
    event_tickets_.hand_over(ticket.id, by, now, out.content);
  }
  end_offer(id, trigger, now, out);
  return {};
}

/// Keeps the addresses for the mails.
void sale::end_offer(const transfer_id& id, transfer_trigger trigger, timestamp now, decision& out) {
  auto before = *transfers_.find(id);
  transfers_.end(id, trigger, now, out.content);
  before.status = transfers_.find(id)->status;
  out.transfers.push_back(std::move(before));
  out.reveals = true;
}

std::size_t sale::expire_transfers(timestamp now, decision& out) {
  const auto due = transfers_.due(now, rules_.bounds.rows_per_run);
  for (const auto& id : due) end_offer(id, transfer_trigger::expire, now, out);
  return due.size();
}

/// Call in front of what cancels the tickets, whose changes stay together: see ticket_teller.
void sale::end_offers_of(const std::vector<event_ticket_id>& tickets, timestamp now, decision& out) {
  for (const auto& ticket : tickets)
    if (const auto* offer = transfers_.open_of(ticket))
      end_offer(offer->id, transfer_trigger::withdraw, now, out);
}

/// Of a cancelled event; returns their number.
std::size_t sale::end_all_offers(timestamp now, decision& out) {
  const auto open = transfers_.due(timestamp::max(), rules_.bounds.rows_per_run);
  for (const auto& id : open) end_offer(id, transfer_trigger::withdraw, now, out);
  return open.size();
}

/// One given ticket of each holder whose tickets do not show yet that the event is cancelled. The mail to a
/// buyer is that about the order.
void sale::find_holders_to_tell() {
  const auto cancelled_at = event_.updated_at; // or later, after a small change
  std::map<customer_id, event_ticket_id> gifts;
  std::set<customer_id> told, buyers;
  for (std::size_t i = 0; i < event_tickets_.size(); ++i) {
    const auto& ticket = event_tickets_.at(i);
    if (is_with_buyer(ticket)) continue;
    if (ticket.generation > 1 + transfers_.accepted_of(ticket.id))
      told.insert(ticket.holder);
    else if (is_valid(ticket.status) || ticket.updated_at >= cancelled_at)
      gifts.try_emplace(ticket.holder, ticket.id);
  }
  for (const auto& [id, order] : orders_.all())
    if (is_told_of_end(order, true, cancelled_at) || is_told_of_end(order, false, cancelled_at))
      buyers.insert(order.customer);
  for (const auto& [holder, gift] : gifts | std::views::reverse)
    if (!told.contains(holder)) holders_to_tell_.push_back({holder, gift, buyers.contains(holder)});
}

/// Of a cancelled event; returns their number. The commit that tells a holder voids the codes of one ticket
/// given to them, and that is what a load knows it by, also of buyers.
std::size_t sale::tell_holders(timestamp now, decision& out) {
  std::size_t told = 0;
  for (; !holders_to_tell_.empty() && told < rules_.bounds.rows_per_run; ++told) {
    const auto [holder, gift, is_buyer] = holders_to_tell_.back();
    holders_to_tell_.pop_back();
    event_tickets_.void_codes(gift, now, out.content);
    if (!is_buyer) out.told_holders.push_back(holder);
  }
  if (told > 0) out.reveals = true;
  return told;
}

std::vector<transfer_row> sale::history_of(ticket_rows tickets) const {
  std::vector<transfer_row> history;
  for (const auto* ticket : tickets) {
    std::vector<transfer_row> shown;
    std::size_t refused = 0;
    for (const auto& id : transfers_.of_ticket(ticket->id) | std::views::reverse) {
      auto offer = *transfers_.find(id);
      if (offer.status != transfer_status::accepted && ++refused > refused_offers_shown_max) continue;
      offer.giver_email.clear();
      offer.receiver_email.clear();
      shown.push_back(std::move(offer));
    }
    std::ranges::copy(shown | std::views::reverse, std::back_inserter(history));
  }
  return history;
}

} // namespace fq
