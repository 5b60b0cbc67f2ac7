// SPDX-License-Identifier: Apache-2.0
// Guards of the naive ledger: expected old state, legal step (I10), counters (I1), slots (I2).
#include "tests/domain/sale/naive_ledger.hpp"

#include <algorithm>

namespace fq::test {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error{what};
}

template <class Map>
auto& stored(Map& rows, const typename Map::key_type& key, const char* what) {
  const auto i = rows.find(key);
  require(i != rows.end(), what);
  return i->second;
}

bool sound(const ticket_type_row& t) { return t.held >= 0 && t.sold >= 0 && t.held + t.sold <= t.total; }

bool takes_slot(claim_status s) { return is_live(s) || s == claim_status::confirmed; }

} // namespace

void naive_ledger::apply(const changes& content) {
  for (const auto& c : content) std::visit([this](const auto& x) { one(x); }, c);
}

line_totals naive_ledger::totals() const {
  line_totals t;
  for (const auto& [n, e] : entries) {
    t.last_number = e.number;
    t.admitted += is_set(e.admitted_at);
    t.completed += e.status == entry_status::completed;
    t.last_batch = std::max(t.last_batch, e.admission_batch);
  }
  return t;
}

bool naive_ledger::slot_is_free(const claim_row& row) const {
  for (const auto& [id, other] : claims)
    if (id != row.id && other.customer == row.customer && other.live_slot == row.live_slot
        && takes_slot(other.status) && takes_slot(row.status))
      return false;
  return true;
}

bool naive_ledger::attempt_is_alone(const payment_row& row) const {
  for (const auto& [id, other] : payments)
    if (id != row.id && other.claim == row.claim && is_open(other.status) && is_open(row.status))
      return false;
  return true;
}

void naive_ledger::one(const event_changed& x) {
  require(event.status == x.from, "event: other state");
  require(x.from == x.event.status || is_step(event_rules, x.from, x.event.status),
          "event: illegal step (I10)");
  event = x.event;
}

void naive_ledger::one(const ticket_type_added& x) {
  require(x.row.ordinal == types.size() && x.row.held == 0 && x.row.sold == 0, "type: not a fresh one");
  types.push_back(x.row);
}

void naive_ledger::one(const ticket_type_changed& x) {
  auto& t = types.at(x.row.ordinal);
  const auto held = t.held, sold = t.sold;
  t = x.row;
  t.held = held;
  t.sold = sold;
  require(sound(t), "type: total below held + sold (I1)");
}

void naive_ledger::one(const stock_moved& x) {
  auto& t = types.at(x.ticket_type);
  t.held += x.held_delta;
  t.sold += x.sold_delta;
  require(sound(t), "stock: held + sold > total, or negative (I1)");
}

void naive_ledger::one(const entry_joined& x) {
  require(entries.empty() || entries.rbegin()->first < x.row.number, "entry: number not at the end");
  require(x.row.status == entry_status::waiting, "entry: joins WAITING");
  entries.emplace(x.row.number, x.row);
}

void naive_ledger::one(const entry_moved& x) {
  auto& e = stored(entries, x.row.number, "entry: absent");
  require(e.status == x.from, "entry: other state");
  require(x.from == x.row.status || is_step(entry_rules, x.from, x.row.status), "entry: illegal step (I10)");
  require(e.subject == x.row.subject && e.joined_at == x.row.joined_at && e.join_key == x.row.join_key,
          "entry: an immutable column changed");
  e = x.row;
}

void naive_ledger::one(const claim_opened& x) {
  require(x.row.status == claim_status::claimed, "claim: opens CLAIMED");
  require(slot_is_free(x.row), "claim: slot taken (I2)");
  require(claims.emplace(x.row.id, x.row).second, "claim: id taken");
}

void naive_ledger::one(const claim_moved& x) {
  auto& k = stored(claims, x.row.id, "claim: absent");
  require(k.status == x.from, "claim: other state");
  require(x.from == x.row.status || is_step(claim_rules, x.from, x.row.status), "claim: illegal step (I10)");
  require(slot_is_free(x.row), "claim: slot taken (I2)");
  require(k.customer == x.row.customer
            || (is_guest(k.customer) && x.row.status == claim_status::confirmed && !is_guest(x.row.customer)),
          "claim: another customer");
  require(k.amount == x.row.amount && k.entry == x.row.entry && k.created_at == x.row.created_at,
          "claim: an immutable column changed");
  k = x.row;
}

void naive_ledger::one(const payment_opened& x) {
  require(x.row.status == payment_status::initializing, "payment: opens INITIALIZING");
  require(claims.contains(x.row.claim), "payment: without a claim");
  require(attempt_is_alone(x.row), "payment: a second open attempt");
  require(payments.emplace(x.row.id, x.row).second, "payment: id taken");
}

void naive_ledger::one(const payment_moved& x) {
  auto& p = stored(payments, x.row.id, "payment: absent");
  require(p.status == x.from, "payment: other state");
  require(x.from == x.row.status || is_step(payment_rules, x.from, x.row.status),
          "payment: illegal step (I10)");
  require(p.amount == x.row.amount && p.reference == x.row.reference && p.gateway == x.row.gateway
            && (p.customer == x.row.customer || (is_guest(p.customer) && x.row.captured > 0))
            && p.created_at == x.row.created_at,
          "payment: an immutable column changed");
  require(x.row.refunded <= x.row.captured, "payment: more refunded than captured");
  require(x.row.tax >= 0 && x.row.tax <= x.row.captured, "payment: more tax than captured");
  p = x.row;
}

void naive_ledger::one(const refund_opened& x) {
  require(payments.contains(x.row.payment), "refund: without a payment");
  require(refunds.emplace(x.row.id, x.row).second, "refund: id taken");
}

void naive_ledger::one(const refund_moved& x) {
  auto& r = stored(refunds, x.row.id, "refund: absent");
  require(r.status == x.from, "refund: other state");
  require(x.from == x.row.status || is_step(refund_rules, x.from, x.row.status),
          "refund: illegal step (I10)");
  require(r.amount == x.row.amount && r.payment == x.row.payment && r.items == x.row.items
            && r.tickets == x.row.tickets,
          "refund: an immutable column changed");
  r = x.row;
}

void naive_ledger::one(const order_placed& x) {
  require(x.row.status == order_status::pending, "order: placed PENDING");
  require(claims.contains(x.row.claim), "order: without a claim");
  for (const auto& [id, other] : orders)
    require(other.claim != x.row.claim, "order: a second one of a claim");
  require(orders.emplace(x.row.id, x.row).second, "order: id taken");
}

void naive_ledger::one(const order_moved& x) {
  auto& o = stored(orders, x.row.id, "order: absent");
  require(o.status == x.from, "order: other state");
  require(x.from == x.row.status || is_step(order_rules, x.from, x.row.status), "order: illegal step (I10)");
  require(o.total == x.row.total && o.contact == x.row.contact && o.customer == x.row.customer,
          "order: an immutable column changed");
  o = x.row;
}

void naive_ledger::one(const event_ticket_issued& x) {
  require(x.row.status == event_ticket_status::issued, "event ticket: begins ISSUED");
  require(claims.contains(x.row.claim), "event ticket: without a claim");
  require(event_tickets.emplace(x.row.id, x.row).second, "event ticket: id taken");
}

void naive_ledger::one(const scan_recorded& x) {
  require(checkin_lists.contains(x.row.list) && checkin_devices.contains(x.row.device), "scan: of no list");
  require(x.row.is_admitted || x.row.objection != scan_objection::none, "scan: refused without a reason");
  require(scans.emplace(x.row.id, x.row).second, "scan: recorded twice");
}

void naive_ledger::one(const event_ticket_moved& x) {
  auto& t = stored(event_tickets, x.row.id, "event ticket: absent");
  require(t.status == x.from, "event ticket: other state");
  const bool is_voided = x.from == x.row.status && event.status == event_status::cancelled;
  require(is_voided || is_step(event_ticket_rules, x.from, x.row.status), "event ticket: illegal step (I10)");
  require(t.claim == x.row.claim && t.ticket_type == x.row.ticket_type && t.created_at == x.row.created_at,
          "event ticket: an immutable column changed");
  const bool is_transfer = x.row.status == event_ticket_status::transferred && !is_voided;
  require(x.row.generation == t.generation + (is_transfer || is_voided ? 1 : 0),
          "event ticket: only a transfer, and the mail that its event is cancelled, void its codes");
  require(is_transfer || x.row.holder == t.holder, "event ticket: only a transfer changes its holder");
  t = x.row;
}

void naive_ledger::one(const event_plan_set& x) {
  require(!plan, "plan: there is one");
  plan = x.row;
}

void naive_ledger::one(const seat_rules_set& x) {
  require(plan.has_value(), "rules of seats: without a plan");
  plan = x.applied_to(*plan);
}

void naive_ledger::one(const event_plan_removed&) {
  require(claim_seats.empty(), "plan: claims have seats of it");
  plan.reset();
  seat_settings.clear();
}

void naive_ledger::one(const seats_taken& x) {
  require(plan.has_value(), "seats: without a plan");
  for (const auto& row : x.rows) {
    require(claims.contains(row.claim), "seats: without a claim");
    for (const auto& [key, other] : claim_seats)
      require(other.seat != row.seat || !other.is_live, "seats: two claims have one (I1)");
    require(row.is_live && claim_seats.emplace(std::pair{row.claim, row.seat}, row).second,
            "seats: a claim had one before");
  }
}

void naive_ledger::one(const seats_ended& x) {
  for (const auto seat : x.seats) {
    auto& row = stored(claim_seats, {x.claim, seat}, "seats: absent");
    require(row.is_live, "seats: ended twice");
    row.is_live = false;
  }
}

void naive_ledger::one(const seats_set& x) {
  require(plan.has_value(), "seats: without a plan");
  for (const auto& row : x.rows) {
    for (const auto& [key, other] : claim_seats)
      require(other.seat != row.seat || !other.is_live, "seats: one of a claim is changed");
    seat_settings[row.seat] = row;
  }
}

void naive_ledger::one(const transfer_offered& x) {
  require(x.row.status == transfer_status::offered, "transfer: begins OFFERED");
  require(event_tickets.contains(x.row.ticket), "transfer: of no ticket");
  require(event_tickets.at(x.row.ticket).holder == x.row.giver, "transfer: not the holder's");
  for (const auto& [id, other] : transfers)
    require(other.ticket != x.row.ticket || other.status != transfer_status::offered,
            "transfer: the ticket has an open offer");
  require(transfers.emplace(x.row.id, x.row).second, "transfer: id taken");
}

void naive_ledger::one(const transfer_moved& x) {
  auto& t = stored(transfers, x.row.id, "transfer: absent");
  require(t.status == x.from, "transfer: other state");
  require(is_step(transfer_rules, x.from, x.row.status), "transfer: illegal step (I10)");
  require(t.ticket == x.row.ticket && t.giver == x.row.giver && t.receiver == x.row.receiver
            && t.created_at == x.row.created_at && t.expires_at == x.row.expires_at,
          "transfer: an immutable column changed");
  require(x.row.giver_email.empty() && x.row.receiver_email.empty(), "transfer: it has ended with addresses");
  require(x.row.status != transfer_status::accepted || event_tickets.at(t.ticket).holder == t.receiver,
          "transfer: accepted, and the ticket has another holder");
  t = x.row;
}

void naive_ledger::one(const promo_code_added& x) {
  require(x.row.ordinal == promo_codes.size() && x.row.uses == 0, "promo code: not a fresh one");
  promo_codes.push_back(x.row);
}

void naive_ledger::one(const promo_code_changed& x) {
  auto& p = promo_codes.at(x.row.ordinal);
  const auto uses = p.uses;
  p = x.row;
  p.uses = uses;
  require(p.uses_max == 0 || uses <= p.uses_max, "promo code: used more often than it may be");
}

void naive_ledger::one(const promo_uses_moved& x) {
  auto& p = promo_codes.at(x.promo_code);
  require(std::int64_t{p.uses} + x.delta >= 0, "promo code: negative uses");
  p.uses = static_cast<std::uint32_t>(std::int64_t{p.uses} + x.delta);
  require(p.uses_max == 0 || p.uses <= p.uses_max, "promo code: redeemed too often");
}

void naive_ledger::one(const dead_letter_stored& x) {
  if (x.row.status == dead_letter_status::open)
    dead_letters[x.row.id] = x.row;
  else
    require(dead_letters.erase(x.row.id) == 1, "dead letter: absent");
}

void naive_ledger::one(const priority_stored& x) { priorities[x.row.customer] = x.row; }

void naive_ledger::one(const priority_removed& x) { priorities.erase(x.customer); }

void naive_ledger::one(const access_given& x) {
  require(x.row.promo_code < promo_codes.size(), "access: by no promo code");
  require(entries.contains(x.row.number), "access: to no entry");
  require(std::ranges::find(access, x.row) == access.end(), "access: given twice");
  access.push_back(x.row);
}
void naive_ledger::one(const lock_taken& x) {
  const auto e = entries.find(x.row.number);
  require(e != entries.end() && e->second.status == entry_status::admitted, "lock: of no session");
  require(locks.emplace(x.row.name, x.row).second, "lock: held by another session");
}
void naive_ledger::one(const lock_freed& x) { require(locks.erase(x.name) == 1, "lock: absent"); }

void naive_ledger::one(const lobby_stored& x) {
  require(!lobby || (lobby->seed == x.row.seed && lobby->opened_at == x.row.opened_at), "lobby: opens once");
  require(!lobby || !is_set(lobby->closed_at)
            || (lobby->closed_at == x.row.closed_at && lobby->last == x.row.last
                && lobby->entrants == x.row.entrants),
          "lobby: closes once");
  require(!lobby || !is_set(lobby->drawn_at), "lobby: is drawn once");
  lobby = x.row;
}

void naive_ledger::one(const invitation_stored& x) {
  require(x.row.ticket_type < types.size(), "invitation: to no ticket type");
  invitations[x.row.customer] = x.row;
}

void naive_ledger::one(const idempotency_stored& x) { answers.push_back(x.row); }

void naive_ledger::one(const receipt_stored& x) {
  for (const auto& r : receipts)
    require(r.gateway != x.row.gateway || r.gateway_event != x.row.gateway_event, "receipt: twice (I9)");
  receipts.push_back(x.row);
}

} // namespace fq::test
