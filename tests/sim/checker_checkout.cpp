// SPDX-License-Identifier: Apache-2.0
// The checker's part for checkouts: orders against claims and money, promo codes, refunds, dead letters.
#include "tests/sim/checker.hpp"

#include "domain/sale/audit.hpp"

#include <algorithm>

namespace fq::sim {
namespace {

constexpr std::uint64_t batches_per_audit = 64; ///< the audit reads every row

template <class Map>
auto values_of(const Map& map) {
  std::vector<typename Map::mapped_type> rows;
  rows.reserve(map.size());
  for (const auto& [key, row] : map) rows.push_back(row);
  return rows;
}

/// Whether an order in state `from` may reach state `to`.
bool leads_to(order_status from, order_status to) {
  return from == to || std::ranges::any_of(order_rules, [&](const auto& r) {
           return r.from == from && r.to != from && leads_to(r.to, to);
         });
}

/// Compares the members of an order that may not change after its first answer.
bool same_purchase(const order_row& a, const order_row& b) {
  return a.id == b.id && a.customer == b.customer && a.contact == b.contact && a.promo_code == b.promo_code
         && a.total == b.total && a.subtotal == b.subtotal && a.discount == b.discount
         && a.donations == b.donations && a.platform_fee == b.platform_fee
         && a.processing_fee == b.processing_fee && a.created_at == b.created_at;
}

} // namespace

const order_row* checker::order_of(const claim_id& claim) const {
  const auto i = order_of_claim_.find(claim);
  return i == order_of_claim_.end() ? nullptr : &orders_.at(i->second);
}

const order_row* checker::order_of_payment(const payment_id& payment) const {
  const auto i = payments_.find(payment);
  return i == payments_.end() ? nullptr : order_of(i->second.claim);
}

bool checker::was(const order_id& order, order_status status) const {
  const auto i = was_.find(order);
  return i != was_.end() && i->second.contains(status);
}

// -- what the ledger did ----------------------------------------------------------------------------------

void checker::see(const refund_opened& c) { refunds_[c.row.id] = c.row; }

void checker::see(const refund_moved& c) {
  auto& known = refunds_.at(c.row.id);
  if (known.status != c.from) fail("I10", "a refund was not in the state its change starts from");
  if (c.from != c.row.status && !is_step(refund_rules, c.from, c.row.status))
    fail("I10", "illegal step of a refund");
  if (c.from != c.row.status && c.row.status == refund_status::succeeded)
    refunded_tickets_.insert(refunded_tickets_.end(), known.tickets.begin(), known.tickets.end());
  known = c.row;
}

void checker::see(const event_ticket_issued& c) {
  const auto& t = c.row;
  const auto* claim = find_claim(t.claim);
  if (claim == nullptr) return fail("I3", "an event ticket of no claim");
  if (t.status != event_ticket_status::issued) fail("I10", "an event ticket does not begin ISSUED");
  if (t.generation != 1 || t.holder != claim->customer) fail("I3", "an event ticket for somebody else");
  if (!event_tickets_.emplace(t.id, t).second) fail("I3", "two event tickets with one id");
  ++valid_tickets_[{t.claim, t.ticket_type}];
  touched_claims_.insert(t.claim);
}

void checker::see(const event_ticket_moved& c) {
  auto& known = event_tickets_.at(c.row.id);
  if (known.status != c.from) fail("I10", "an event ticket was not in the state its change starts from");
  // Its holder hears that the event is cancelled.
  const bool is_voided = c.from == c.row.status && event().status == event_status::cancelled;
  if (!is_voided && !is_step(event_ticket_rules, c.from, c.row.status))
    fail("I10", "illegal step of an event ticket");
  const bool is_transfer = c.row.status == event_ticket_status::transferred && !is_voided;
  if (known.claim != c.row.claim || known.ticket_type != c.row.ticket_type
      || c.row.generation != known.generation + (is_transfer || is_voided ? 1 : 0)
      || (known.holder != c.row.holder && !is_transfer))
    fail("I3", "an event ticket became another one");
  const bool is_offered = std::ranges::any_of(transfers_, [&](const auto& offer) {
    return offer.second.ticket == c.row.id && offer.second.status == transfer_status::offered;
  });
  if (!is_valid(c.row.status) && is_offered) fail("I10", "a ticket was cancelled and its offer is open");
  if (is_valid(known.status) && !is_valid(c.row.status)) --valid_tickets_[{known.claim, known.ticket_type}];
  known = c.row;
  touched_claims_.insert(known.claim);
}

void checker::see(const transfer_offered& c) {
  const auto ticket = event_tickets_.find(c.row.ticket);
  if (ticket == event_tickets_.end() || ticket->second.holder != c.row.giver)
    return fail("I3", "a ticket was offered by somebody else than its holder");
  if (c.row.status != transfer_status::offered || !transfers_.emplace(c.row.id, c.row).second)
    fail("I10", "an offer of a ticket does not begin OFFERED");
}

/// The ticket moves in front of it, in the same commit.
void checker::see(const transfer_moved& c) {
  auto& known = transfers_.at(c.row.id);
  if (known.status != c.from || !is_step(transfer_rules, c.from, c.row.status))
    fail("I10", "illegal step of an offer of a ticket");
  const bool is_accepted = c.row.status == transfer_status::accepted;
  if (is_accepted && event_tickets_.at(known.ticket).holder != known.receiver)
    fail("I3", "a ticket was accepted and has another holder");
  if (is_accepted) reached(rare::ticket_transferred);
  if (!c.row.giver_email.empty() || !c.row.receiver_email.empty())
    fail("I10", "an offer that has ended keeps addresses");
  known = c.row;
}

void checker::see(const promo_code_added& c) { promo_codes_[c.row.ordinal] = c.row; }

void checker::see(const promo_code_changed& c) {
  auto& known = promo_codes_.at(c.row.ordinal);
  auto next = c.row;
  next.id = known.id;
  next.uses = known.uses;
  next.created_at = known.created_at;
  known = next;
}

void checker::see(const promo_uses_moved& c) {
  auto& known = promo_codes_.at(c.promo_code);
  known.uses = static_cast<std::uint32_t>(known.uses + c.delta);
}

void checker::see(const order_placed& c) {
  if (find_claim(c.row.claim) == nullptr) return fail("I4", "an order for no claim");
  if (c.row.status != order_status::pending) fail("I10", "an order does not begin PENDING");
  if (!order_of_claim_.emplace(c.row.claim, c.row.id).second) fail("I4", "two orders for one claim");
  orders_[c.row.id] = c.row;
  was_[c.row.id].insert(c.row.status);
  touched_orders_.insert(c.row.id);
}

void checker::see(const order_moved& c) {
  auto& known = orders_.at(c.row.id);
  if (known.status != c.from) fail("I10", "an order was not in the state its change starts from");
  if (c.from != c.row.status && !is_step(order_rules, c.from, c.row.status))
    fail("I10", "illegal step of an order");
  const auto before = std::exchange(known, c.row);
  touched_orders_.insert(known.id);
  was_[known.id].insert(known.status);
  if (before.status == order_status::failed && known.status == order_status::success)
    reached(rare::order_paid_late);
  if (known.failure == "gateway_unavailable") reached(rare::order_failed_pending);
  if (known.status == order_status::partially_refunded) reached(rare::order_partly_refunded);
  if (known.claim == before.claim) return;
  order_of_claim_.erase(before.claim);
  if (!order_of_claim_.emplace(known.claim, known.id).second) fail("I4", "two orders for one claim");
}

void checker::see(const dead_letter_stored& c) {
  if (c.row.kind == dead_letter_kind::refund_refused) reached(rare::refund_dead_letter);
  auto& known = dead_letters_.try_emplace(c.row.id, c.row).first->second;
  known.status = c.row.status;
  known.updated_at = c.row.updated_at;
  if (known.status == dead_letter_status::open)
    open_letters_[known.id] = known;
  else
    open_letters_.erase(known.id);
}

void checker::see(const priority_stored& c) {
  priorities_[c.row.customer] = c.row;
  if (priorities_.size() > rules_.bounds.priorities)
    fail("I14", "more preferred customers than an event may have");
}
void checker::see(const priority_removed& c) { priorities_.erase(c.customer); }

/// A claim that uses a promo code must respect the customer's limit of uses at that time. Later changes of
/// the limit do not affect it.
void checker::check_own_uses(const claim_row& claim) {
  if (claim.promo == 0) return;
  const auto code = promo_codes_.find(claim.promo - 1);
  if (code == promo_codes_.end()) return fail("I4", "a claim uses a promo code that does not exist");
  const auto uses = [&](const auto& c) {
    return c.second.customer == claim.customer && c.second.promo == claim.promo
           && (is_live(c.second.status) || c.second.status == claim_status::confirmed);
  };
  const auto limit = code->second.uses_per_customer;
  if (limit != 0 && std::ranges::count_if(claims_, uses) > static_cast<std::ptrdiff_t>(limit))
    fail("I4", "a customer uses a promo code more often than it may");
}

/// Checks items, discount, donations and fees of a new claim and its order.
void checker::check_price(const claim_row& claim) {
  money items = 0, listed = 0, discount = 0, donations = 0;
  std::int64_t paid_tickets = 0;
  for (const auto& i : claim.items) {
    listed += i.unit_price * i.quantity;
    discount += i.unit_discount * i.quantity;
    donations += i.donation * i.quantity;
    if (i.unit_discount > i.unit_price || i.unit_discount < 0 || i.donation < 0)
      fail("I4", "a ticket that costs less than nothing");
    if (i.unit_price > i.unit_discount) paid_tickets += i.quantity;
  }
  items = listed - discount + donations;
  const auto fees = rules_.fees.find(event_.currency);
  const auto& f = fees == rules_.fees.end() ? rules_.other_fees : fees->second;
  const auto platform = paid_tickets * f.platform_per_ticket;
  const auto processing = ((items + platform) * f.processing_basis_points + 5'000) / 10'000
                          + (paid_tickets > 0 ? f.processing_fixed : 0);
  if (claim.amount != items + platform + processing)
    fail("I4", "a claim's amount is not the sum of its items and their fees");
  const auto* order = order_of(claim.id);
  if (order == nullptr) return;
  if (order->subtotal != listed || order->discount != discount || order->donations != donations
      || order->platform_fee != platform || order->processing_fee != processing
      || order->total != items + platform + processing)
    fail("I4", "an order's total is not the sum of its parts");
  if (order->total != claim.amount) fail("I4", "an order's total is not its claim's amount");
}

/// Checks that an order agrees with its claim and, once it succeeded, with the money.
void checker::check_order(const order_row& order) {
  const auto* claim = find_claim(order.claim);
  const auto name =
    "order " + std::string{name_of(order.status)} + ", its claim " + std::string{name_of(claim->status)};
  const bool bought =
    order.status == order_status::success || order.status == order_status::partially_refunded;
  if (bought != (claim->status == claim_status::confirmed)) return fail("I4", name);
  if ((order.status == order_status::refunded) != (claim->status == claim_status::refunded))
    return fail("I4", name);
  if (is_open(order.status) && !is_live(claim->status)) return fail("I4", name);
  const auto pays = [&](const auto& p) {
    return p.second.claim == order.claim && is_kept(p.second.status)
           && p.second.captured - p.second.tax == order.total;
  };
  if (bought && std::ranges::none_of(payments_, pays))
    fail("I4", "an order succeeded, and nobody paid its total");
}

/// I3: a bought unit that is not refunded has exactly one valid event ticket.
void checker::check_event_tickets(const claim_row& claim) {
  std::int64_t due = 0, valid = 0;
  for (const auto& i : claim.items) {
    const auto units = claim.status == claim_status::confirmed ? std::int64_t{i.quantity} - i.refunded : 0;
    if (valid_tickets_[{claim.id, i.ticket_type}] != units)
      fail("I3", std::to_string(units) + " bought tickets of a type, and "
                   + std::to_string(valid_tickets_[{claim.id, i.ticket_type}]) + " valid event tickets");
    due += units;
  }
  const auto of_claim = valid_tickets_.lower_bound({claim.id, 0});
  for (auto i = of_claim; i != valid_tickets_.end() && i->first.first == claim.id; ++i) valid += i->second;
  if (valid != due) fail("I3", "event tickets of a type that the claim does not have");
}

/// A refund that named event tickets has cancelled them.
void checker::check_refunded_tickets() {
  for (const auto& id : refunded_tickets_) {
    reached(rare::event_tickets_named);
    const auto ticket = event_tickets_.find(id);
    if (ticket == event_tickets_.end() || is_valid(ticket->second.status))
      fail("I3", "a refund left one of its event tickets valid");
  }
  refunded_tickets_.clear();
}

void checker::check_promo_codes() {
  for (const auto& [ordinal, code] : promo_codes_) {
    const auto claims = promo_claims_.find(ordinal + 1);
    if (code.uses != (claims == promo_claims_.end() ? 0 : claims->second))
      fail("I4", code.code + " counts other uses than its claims are");
    if (code.uses_max != 0 && code.uses > code.uses_max)
      fail("I4", code.code + " is used more often than it may be");
  }
}

/// Checks the rows that the batch changed, in their committed state.
void checker::check_batch() {
  for (const auto& id : opened_claims_) check_price(claims_.at(id));
  check_refunded_tickets();
  for (const auto& id : touched_claims_) check_event_tickets(claims_.at(id));
  for (const auto& id : touched_claims_) check_seats(claims_.at(id));
  for (const auto& id : touched_claims_)
    if (const auto* order = order_of(id)) touched_orders_.insert(order->id);
  for (const auto& id : touched_orders_) check_order(orders_.at(id));
  check_promo_codes();
  opened_claims_.clear();
  touched_claims_.clear();
  touched_orders_.clear();
  if (++batches_ % batches_per_audit == 0 && !orders_.empty()) check_rows();
}

/// The checks of `fairqueue admin verify`.
void checker::check_rows() {
  const auto entries = values_of(entries_);
  const auto claims = values_of(claims_);
  const auto payments = values_of(payments_);
  const auto refunds = values_of(refunds_);
  const auto orders = values_of(orders_);
  const auto codes = values_of(promo_codes_);
  const auto tickets = values_of(event_tickets_);
  const auto scans = values_of(scans_);
  const auto settings = values_of(seat_settings_);
  const auto seats = values_of(claim_seats_);
  const auto lines = contradictions({event_, types_, entries, claims, payments, refunds, orders, codes,
                                     tickets, true, scans, plan_ ? &*plan_ : nullptr, settings, seats});
  if (!lines.empty()) fail("audit", lines.front());
}

// -- answers to fans --------------------------------------------------------------------------------------

void checker::saw_placed(const idempotency_ref& key, const customer_id& who, const order_wish& wish,
                         const order_reply& told, std::uint64_t asked, bool was_durable) {
  if (told.no) {
    if (was_durable) fail("I9", "an order was placed, then refused under the same key");
    if (told.no.why == reason::event_sold_out && !was_sold_out_for(who, asked))
      fail("I12", "told 'sold out', but the ledger never was while the request lasted");
    if (told.no.why == reason::promo_code_exhausted || told.no.why == reason::promo_code_limit)
      reached(rare::promo_refused);
    return;
  }
  if (told.replayed) reached(rare::replayed_idempotent_answer);
  const auto [known, first] = effect_of_key_.emplace(key.key, told.order.order.id);
  if (!first && known->second != told.order.order.id) fail("I9", "one idempotency key, two orders");
  if (told.order.order.contact != wish.contact) fail("I7", "an order for somebody else");
  saw_order(who, told.order);
}

void checker::saw_order(const customer_id& who, const order_view& told) {
  const auto row = orders_.find(told.order.id);
  if (row == orders_.end() || !row->second.is_of(who) || !same_purchase(row->second, told.order))
    return fail("I7", "an order was acknowledged, but is not durable");
  if (!was(told.order.id, told.order.status)) fail("I7", "an order was shown in a state that is not durable");
  const auto [known, first] =
    acknowledged_.emplace(told.order.id, acknowledged_order{told.order, told.order.status});
  if (!leads_to(known->second.last, told.order.status))
    fail("I7", "an order was " + std::string{name_of(known->second.last)} + ", then "
                 + std::string{name_of(told.order.status)});
  known->second.last = told.order.status;
  for (const auto& t : told.event_tickets) {
    const auto ticket = event_tickets_.find(t.ticket.id);
    if (ticket == event_tickets_.end() || ticket->second.claim != t.ticket.claim
        || (is_valid(ticket->second.status) && !is_valid(t.ticket.status)))
      fail("I7", "an event ticket was shown that is not durable");
  }
  const auto payment = payments_.find(told.payment);
  if (!told.payment_url.empty()
      && (payment == payments_.end() || payment->second.authorization_url != told.payment_url))
    fail("I7", "a payment page was shown that is not durable");
  money refunded = 0;
  for (const auto& [id, p] : payments_) refunded += p.claim == row->second.claim ? p.refunded : 0;
  if (told.refunded > refunded) fail("I7", "a refund was shown that is not durable");
}

void checker::saw_cancelled(const customer_id& who, const order_view& told) {
  saw_order(who, told);
  const auto row = orders_.find(told.order.id);
  if (row == orders_.end() || row->second.status != order_status::cancelled)
    fail("I7", "a cancellation was acknowledged, but is not durable");
}

// -- answers to organizers --------------------------------------------------------------------------------

void checker::saw_refund_begun(const order_id& order, const order_view& told) {
  const auto of_order = [&](const auto& r) {
    const auto* row = order_of_payment(r.second.payment);
    return row != nullptr && row->id == order;
  };
  if (told.order.id != order || std::ranges::none_of(refunds_, of_order))
    fail("I7", "a refund was acknowledged, but is not durable");
}

void checker::saw_promo_code(const promo_code_row& told) {
  const auto known = promo_codes_.find(told.ordinal);
  if (known == promo_codes_.end() || known->second.id != told.id
      || known->second.updated_at < told.updated_at)
    fail("I7", "a promo code was acknowledged, but is not durable");
}

void checker::saw_settled(const uuid& letter) {
  const auto known = dead_letters_.find(letter);
  if (known == dead_letters_.end() || known->second.status == dead_letter_status::open)
    fail("I7", "a dead letter's end was acknowledged, but is not durable");
}

// -- time -------------------------------------------------------------------------------------------------

void checker::check_pending(timestamp now, timestamp owned_since) {
  for (const auto& [id, o] : orders_)
    if (o.status == order_status::pending
        && now > std::max(o.created_at + rules_.pending_max, owned_since) + sweep)
      return fail("I13", "an order waits for its page for longer than pending_max");
}

/// Exactly one payment pays for a ticket. Additional payments are allowed only if the gateway permanently
/// refused their refund.
void checker::check_payers(const claim_row& claim) {
  std::size_t payers = 0, refused = 0;
  for (const auto& [id, p] : payments_) {
    if (p.claim != claim.id) continue;
    payers += is_refundable(p.status) ? 1 : 0;
    refused += p.status == payment_status::refund_failed ? 1 : 0;
  }
  if (payers > 1 || (payers == 0 && refused == 0))
    fail("I4", "a confirmed claim is not paid for exactly once");
}

/// Money that cannot be handled automatically has an open dead letter, or a person has resolved it.
void checker::check_letters(const payment_row& payment) {
  if (payment.status != payment_status::refund_failed && payment.status != payment_status::quarantined)
    return;
  const auto concerns = [&](const auto& letter) {
    if (letter.second.status == dead_letter_status::retried) return false;
    const auto refund = refunds_.find(letter.second.subject);
    return letter.second.subject == payment.id
           || (refund != refunds_.end() && refund->second.payment == payment.id);
  };
  if (std::ranges::none_of(dead_letters_, concerns))
    fail("I3", "money waits for a person, and nobody was told");
}

void checker::check_orders_at_end() {
  if (!orders_.empty()) check_rows();
  for (const auto& [id, o] : orders_)
    if (is_open(o.status)) fail("I13", "an order is still " + std::string{name_of(o.status)});
  const auto* image = store_.committed(aggregate_);
  for (const auto& [id, told] : acknowledged_) {
    const auto row = std::ranges::find(image->orders, id, &order_row::id);
    if (row == image->orders.end() || !same_purchase(*row, told.row) || !leads_to(told.last, row->status))
      fail("I7", "an acknowledged order is not what its customer was told");
  }
}

} // namespace fq::sim
