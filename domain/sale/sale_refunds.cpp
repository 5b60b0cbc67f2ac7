// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about outgoing money: late money, refunds by an organizer, and dead letters, which wait
// for a person because no automatic action is left.
#include "domain/sale/limits.hpp"
#include "domain/sale/sale.hpp"

#include "domain/base/planted.hpp"
#include "domain/delivery/outbox.hpp"

#include <algorithm>
#include <unordered_set>

namespace fq {
namespace {

/// Kept money as quoted; a payment of another amount or currency waits for a person or is refunded.
bool pays(const payment_row& p) {
  return is_kept(p.status) && p.captured - p.tax == p.amount && p.other_currency.empty();
}

/// The tickets of `claim` that are not refunded yet.
std::vector<refund_item> left_of(const claim_row& claim) {
  std::vector<refund_item> left;
  for (const auto& i : claim.items)
    if (i.quantity > i.refunded) left.push_back({i.ticket_type, i.quantity - i.refunded});
  return left;
}

} // namespace

/// A refund of `payment` began or ended: phones that work offline hear of the tickets that it is about.
void sale::tell_gates(const payment_id& payment, timestamp at) {
  event_tickets_.refund_changed(payments_.find(payment)->claim, at);
}

/// Requests a refund of all remaining money of the payment; false if its state does not allow it.
bool sale::request_refund(const payment_id& id, timestamp now, decision& out) {
  const auto& p = *payments_.find(id);
  if (!next(payment_rules, p.status, payment_trigger::request_refund)) return false;
  begin_refund(id, p.captured - p.refunded, {}, now, out);
  return true;
}

/// An amount of 0 succeeds at once, without a gateway call.
refund_id sale::begin_refund(const payment_id& id, money amount, units_back units, timestamp now,
                             decision& out) {
  payments_.move(id, payment_trigger::request_refund, now, out.content);
  refund_row row;
  row.id = make_uuid(now, event_.aggregate, random_());
  row.payment = id;
  row.amount = amount;
  row.items = std::move(units.items);
  row.tickets = std::move(units.tickets);
  row.next_attempt_at =
    now + rules_.refund_retry.cap; // the first call goes out now; this is the retry if its answer is lost
  row.created_at = row.updated_at = now;
  const auto refund = row.id;
  payments_.open(std::move(row), out.content);
  tell_gates(id, now);
  out.reveals = true;
  if (amount == 0)
    refund_done(refund, now, out);
  else
    out.gateway_calls.push_back({gateway_call_kind::refund, id, refund});
  return refund;
}

void sale::refund_done(const refund_id& id, timestamp now, decision& out) {
  const auto* refund = payments_.find_refund(id);
  if (refund == nullptr || refund->status == refund_status::succeeded) return;
  const auto payment = refund->payment;
  const auto amount = refund->amount;
  const auto before = *payments_.find(payment);
  const bool given_up = refund->status == refund_status::failed;
  if (given_up && (before.status != payment_status::refund_failed || !is_owed(*refund))) {
    // Another refund replaced it.
    if (!has_letter_about(id))
      add_dead_letter(dead_letter_kind::refund_refused, id,
                      "the gateway made a refund that had been given up", {}, now, out);
    return;
  }
  if (given_up) settle_dead_letter_about(id, now, out);
  const auto claim = before.claim;
  settle_tickets(*claims_.find(claim), now, out);
  const auto units = taken_by(*refund);
  const bool whole = refund->items.empty() || refund->items == left_of(*claims_.find(claim));
  payments_.move(id, refund_trigger::succeed, now, out.content);
  payments_.move(payment, whole ? payment_trigger::refund_done : payment_trigger::refund_part_done, now,
                 out.content, [&](payment_row& row) { row.refunded += amount; });
  tell_gates(payment, now);
  out.reveals = true;
  if (is_blocked(before.customer)) blocked_to_refund_.push_back(before.customer); // refund the rest
  if (!units.items.empty()) return_tickets(claim, units, now, out);
}

/// What `refund` takes back when it succeeds; nothing if another payment pays for the tickets.
sale::units_back sale::taken_by(const refund_row& refund) const {
  const auto& payment = *payments_.find(refund.payment);
  const auto& claim = *claims_.find(payment.claim);
  if (claim.status != claim_status::confirmed) return {};
  if (!refund.items.empty()) return {refund.items, refund.tickets};
  const bool pays_it = payment.refunded > 0; // a partial refund is only possible for the paying one
  for (const auto& other :
       payments_.of_claim(claim.id)) // second capture of a sold claim: the other payment still pays it
    if (!pays_it && other != payment.id && pays(*payments_.find(other))) return {};
  return {left_of(claim), {}};
}

/// The event tickets of `claim` that refunds in progress take. If all captures of a claim go back as a whole,
/// the last one takes them.
std::vector<event_ticket_id> sale::pending_refunds(const claim_row& claim) const {
  std::vector<event_ticket_id> pending;
  if (claim.status != claim_status::confirmed) return pending;
  bool is_whole = false, is_kept_elsewhere = false;
  for (const auto& id : payments_.of_claim(claim.id)) {
    const auto& payment = *payments_.find(id);
    bool goes_back = false;
    for (const auto& requested : payments_.requested_of(id)) {
      const auto& refund = *payments_.find_refund(requested);
      goes_back = refund.items.empty();
      if (goes_back) continue;
      const auto some = chosen(claim.id, {refund.items, refund.tickets});
      pending.insert(pending.end(), some.begin(), some.end());
    }
    if (goes_back && payment.refunded > 0) return chosen(claim.id, {left_of(claim), {}}); // see taken_by
    is_whole = is_whole || goes_back;
    is_kept_elsewhere = is_kept_elsewhere || (pays(payment) && !goes_back);
  }
  return is_whole && !is_kept_elsewhere ? chosen(claim.id, {left_of(claim), {}}) : pending;
}

/// The same for all claims of `tickets`, sorted: an order may have 5,000 tickets, and all go back.
std::vector<event_ticket_id> sale::pending_refunds(ticket_rows tickets) const {
  std::vector<event_ticket_id> pending;
  std::unordered_set<claim_id> claims;
  for (const auto* t : tickets) {
    if (!claims.insert(t->claim).second) continue;
    const auto of_claim = pending_refunds(*claims_.find(t->claim));
    pending.insert(pending.end(), of_claim.begin(), of_claim.end());
  }
  std::ranges::sort(pending);
  return pending;
}

/// The money for these tickets of a CONFIRMED claim is refunded: they are cancelled, also if another customer
/// holds them, and their stock becomes free.
void sale::return_tickets(const claim_id& id, const units_back& units, timestamp now, decision& out) {
  if (!planted(bug::refund_keeps_tickets)) stock_.take_back(units.items, out.content);
  auto cancelled = chosen(id, units);
  if (planted(bug::refund_keeps_event_ticket) && !cancelled.empty()) cancelled.pop_back();
  end_offers_of(cancelled, now, out);
  std::vector<seat_number> seats;
  for (const auto& ticket : cancelled) {
    event_tickets_.move(ticket, event_ticket_trigger::cancel, now, out.content);
    if (const auto seat = event_tickets_.find(ticket)->seat; seat != 0) seats.push_back(seat - 1);
  }
  claims_.refund(id, units.items, now, out.content); // next to its tickets: see ticket_teller
  if (seating_) seating_->take_back(id, seats, out.content);
  const auto& claim = *claims_.find(id);
  const bool whole = claim.status == claim_status::refunded;
  if (whole) move_promo_uses(claim.promo, -1, now, out);
  regroup(claim.customer, now, out);
  move_order(id, whole ? order_trigger::refund : order_trigger::refund_part, now, out);
}

void sale::refund_not_processed(const refund_id& id, bool refused, timestamp now, decision& out) {
  const auto* refund = payments_.find_refund(id);
  if (refund == nullptr) {
    const auto lost = unknown_charge(id);
    if (lost && refused) unknown_not_refunded(id, *lost, now, out);
    return;
  }
  if (refused && refund->status == refund_status::succeeded) // days later: the bank rejected it, and the
                                                             // gateway has the money again
    return add_dead_letter(dead_letter_kind::refund_refused, id, "it failed after it had succeeded", {}, now,
                           out);
  if (refund->status != refund_status::requested) return;
  if (refused && !may_retry(rules_.refund_retry, refund->attempts + 1)) {
    const auto payment = refund->payment;
    payments_.move(id, refund_trigger::give_up, now, out.content);
    payments_.move(payment, payment_trigger::refund_refused, now, out.content);
    tell_gates(payment, now);
    if (const auto made = made_after_all(payment)) return refund_done(*made, now, out);
    return add_dead_letter(dead_letter_kind::refund_refused, id, "the gateway refused it", {}, now, out);
  }
  const auto back_off =
    retry_delay(rules_.refund_retry, refund->attempts + 1, random_()) + rules_.refund_retry.base;
  // A pending refund takes a bank days: check less and less often.
  const auto pending = std::clamp<milliseconds>((now - refund->created_at) / 4, rules_.refund_retry.cap,
                                                pending_refund_pause_max);
  payments_.tried(id, refused, now + (refused ? back_off : pending), now, out.content);
}

/// Whether a refund was given up, and its payment and claim still have the money and the tickets.
bool sale::is_owed(const refund_row& refund) const {
  if (refund.status != refund_status::failed) return false;
  const auto& payment = *payments_.find(refund.payment);
  const auto left = left_of(*claims_.find(payment.claim));
  return refund.amount <= payment.captured - payment.refunded
         && std::ranges::all_of(refund.items, [&](const refund_item& back) {
              const auto i = std::ranges::find(left, back.ticket_type, &refund_item::ticket_type);
              return i != left.end() && i->quantity >= back.quantity;
            });
}

/// A refund that was made after it had been given up, while another one was under way: a letter says so.
std::optional<refund_id> sale::made_after_all(const payment_id& payment) const {
  for (const auto& id : payments_.refunds_of(payment)) {
    const auto& refund = *payments_.find_refund(id);
    if (has_letter_about(id) && is_owed(refund)) return id;
  }
  return std::nullopt;
}

/// The refundable payment of the claim; null: none. `is_under_way`: a refund is in progress.
const payment_row* sale::bought_with(const claim_row& claim, bool& is_under_way) const {
  const payment_row* paid = nullptr;
  for (const auto& id : payments_.of_claim(claim.id)) {
    const auto* row = payments_.find(id);
    is_under_way = is_under_way || row->status == payment_status::refund_pending;
    const bool has_none = paid == nullptr || paid->status == payment_status::refund_failed;
    if (is_refundable(row->status) || (row->status == payment_status::refund_failed && has_none)) paid = row;
  }
  return paid;
}

/// Starts all refunds of a customer's purchases that can start automatically; returns their number. A refund
/// that the gateway refused waits for a person. When a refund in progress is done, this runs again.
std::uint32_t sale::refund_customer(const customer_id& customer, timestamp now, decision& out) {
  std::uint32_t begun = 0;
  for (const auto& claim : claims_.standing_of(customer))
    for (const auto& payment : payments_.of_claim(claim))
      if (is_refundable(payments_.find(payment)->status)) begun += request_refund(payment, now, out) ? 1 : 0;
  return begun;
}

// -- by the organizer

refusal sale::refund_order(const order_id& id, const refund_wish& wish, timestamp now, decision& out,
                           refund_id& opened) {
  const auto* order = orders_.find(id);
  if (order == nullptr) return reason::not_found;
  const auto& claim = *claims_.find(order->claim);
  bool is_under_way = false;
  const auto* paid = bought_with(claim, is_under_way);
  if (is_under_way) return reason::refund_open;
  if (paid == nullptr || claim.status != claim_status::confirmed) return reason::nothing_to_refund;
  settle_tickets(claim, now, out);
  units_back units;
  money amount = 0;
  auto named = wish;
  if (auto no = tickets_of_seats(claim.id, named)) return no;
  if (auto no = wanted_back(claim, named, units, amount)) return no;
  if (units.items.empty() || units.items == left_of(claim)) {
    units = {};
    amount = paid->captured - paid->refunded;
  }
  for (const auto& r : payments_.refunds_of(paid->id)) // this one replaces what is still owed
    if (is_owed(*payments_.find_refund(r))) settle_dead_letter_about(r, now, out);
  opened = begin_refund(paid->id, amount, std::move(units), now, out);
  return {};
}

// -- dead letters

void sale::add_dead_letter(dead_letter_kind kind, const uuid& subject, std::string detail,
                           std::string payload, timestamp now, decision& out) {
  dead_letter_row row;
  row.id = make_uuid(now, event_.aggregate, random_());
  row.kind = kind;
  row.subject = subject;
  row.detail = std::move(detail);
  row.payload = std::move(payload);
  store_dead_letter(std::move(row), now, out);
}

void sale::store_dead_letter(dead_letter_row row, timestamp now, decision& out) {
  row.created_at = row.updated_at = now;
  dead_letters_.emplace(row.id, row);
  out.content.emplace_back(std::in_place_type<dead_letter_stored>, dead_letter_stored{std::move(row)});
}

bool sale::has_letter_about(const uuid& subject) const {
  return std::ranges::any_of(dead_letters_, [&](const auto& l) { return l.second.subject == subject; });
}

/// Closes the open dead letter about `subject`, if any.
void sale::settle_dead_letter_about(const uuid& subject, timestamp now, decision& out) {
  const auto letter =
    std::ranges::find_if(dead_letters_, [&](const auto& l) { return l.second.subject == subject; });
  if (letter == dead_letters_.end()) return;
  const auto id = letter->first;
  settle_dead_letter(id, dead_letter_status::retried, now, out);
}

void sale::settle_dead_letter(const uuid& id, dead_letter_status status, timestamp now, decision& out) {
  auto row = dead_letters_.extract(id).mapped();
  row.status = status;
  row.updated_at = now;
  out.content.emplace_back(std::in_place_type<dead_letter_stored>, dead_letter_stored{std::move(row)});
  out.reveals = true;
}

refusal sale::retry_dead_letter(const uuid& id, timestamp now, decision& out) {
  const auto found = dead_letters_.find(id);
  if (found == dead_letters_.end()) return reason::not_found;
  const auto row = found->second;
  switch (row.kind) {
    case dead_letter_kind::refund_refused: {
      // A gateway remembers its refusal under that id: use a new refund.
      const auto refused = *payments_.find_refund(row.subject);
      const auto status = payments_.find(refused.payment)->status;
      if (status != payment_status::refund_failed)
        return {reason::invalid_transition, std::string{name_of(status)}}; // resolved elsewhere
      begin_refund(refused.payment, refused.amount, {refused.items, refused.tickets}, now, out);
      break;
    }
    case dead_letter_kind::payment_quarantined: request_refund(row.subject, now, out); break;
    case dead_letter_kind::payment_unknown:
      // Open until the gateway has answered: no row of a refund remembers the call.
      out.gateway_calls.push_back({gateway_call_kind::refund, row.subject, id});
      return {};
    case dead_letter_kind::undelivered: {
      const auto end_of_topic = row.payload.find('\n');
      outbox_row told{row.subject, row.payload.substr(0, end_of_topic), row.payload.substr(end_of_topic + 1),
                      now};
      told.lanes = lanes_of(told.topic, true); // its id lets a lane that already has it ignore it
      out.content.emplace_back(std::in_place_type<outbox_appended>, outbox_appended{std::move(told)});
      break;
    }
  }
  settle_dead_letter(id, dead_letter_status::retried, now, out);
  return {};
}

refusal sale::dismiss_dead_letter(const uuid& id, timestamp now, decision& out) {
  if (!dead_letters_.contains(id)) return reason::not_found;
  settle_dead_letter(id, dead_letter_status::dismissed, now, out);
  return {};
}

void sale::undelivered(const outbox_row& row, const std::string& detail, timestamp now, decision& out) {
  if (has_letter_about(row.id)) return; // reported again, because our answer was lost
  add_dead_letter(dead_letter_kind::undelivered, row.id, detail, row.topic + '\n' + row.payload, now, out);
}

} // namespace fq
