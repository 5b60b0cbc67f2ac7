// SPDX-License-Identifier: Apache-2.0
// A sale's decisions about orders: price, placing (with claim and payment attempt in one decision),
// cancelling, and following the claim and payment. Also promo codes and priorities.
#include "domain/sale/limits.hpp"
#include "domain/sale/questions.hpp"
#include "domain/sale/sale.hpp"

#include "domain/base/planted.hpp"

#include <algorithm>

namespace fq {
namespace {

std::uint32_t units_of(const price_quote& quoted) {
  std::uint32_t units = 0;
  for (const auto& item : quoted.items) units += item.quantity;
  return units;
}

timestamp plus(timestamp t, milliseconds span) { return is_set(t) ? t + span : never; }

} // namespace

// -- prices

refusal sale::wanted_promo(const customer_id& customer, std::string_view typed, timestamp now,
                           const promo_code_row*& out) const {
  if (typed.empty()) return {};
  const auto code = normalized_code(typed);
  const auto* row = code ? promo_codes_.find(*code) : nullptr;
  if (row == nullptr) return reason::promo_code_invalid;
  auto no = may_use(*row, claims_.promo_uses(customer, row->ordinal + 1), now);
  if (!no && is_guest(customer) && row->uses_per_customer != 0) return reason::sign_in_required;
  const bool reference_already_used =
    no.why == reason::promo_code_exhausted || no.why == reason::promo_code_limit;
  if (no && !(reference_already_used && planted(bug::promo_limit_forgotten))) return no;
  out = row;
  return {};
}

refusal sale::price_wish(const customer_id& customer, const std::vector<item_wish>& wishes,
                         const seat_wish& seats, std::string_view promo_code, timestamp now, wanted& w,
                         price_quote& quoted) const {
  if (auto no = wanted_promo(customer, promo_code, now, w.promo)) return no;
  if (w.promo == nullptr && !seats.best.ticket_type.is_nil())
    w.promo = access_code_for(customer, {{seats.best.ticket_type}}, now);
  else if (w.promo == nullptr)
    w.promo = access_code_for(customer, wishes, now);
  w.invitation = invitation_of(customer, now);
  return priced(wishes, seats, now, w, quoted);
}

/// The only price calculation: used by quote, claim and checkout.
refusal sale::priced(const std::vector<item_wish>& wishes, const seat_wish& seats, timestamp now, wanted& w,
                     price_quote& quoted) const {
  std::vector<item_wish> best;
  if (seats.best.count > 0 && !wishes.empty())
    return {reason::invalid_field, "best: cannot be given with items"};
  if (seats.best.count > 0)
    if (auto no = best_items(seats, now, w, best)) return no;
  if (auto no = wanted_items(best.empty() ? wishes : best, now, w)) return no;
  if (seating_ && best.empty())
    if (auto no = choose_seats(wishes, seats, now, w)) return no;
  const auto own = rules_.fees.find(event_.currency);
  quoted = price(w.items, w.promo != nullptr ? w.promo->reduction : discount{},
                 own != rules_.fees.end() ? own->second : rules_.other_fees);
  if (quoted.total > order_total_max) return reason::limit_exceeded;
  if (quoted.total > 0 && !rules_.has_gateway) return reason::no_gateway;
  return {};
}

refusal sale::quote(const customer_id& customer, const order_wish& wish, timestamp now,
                    quote_view& out) const {
  if (event_.status == event_status::draft) return reason::not_found;
  if (is_guest(customer) && !takes_guests()) return reason::sign_in_required;
  wanted w;
  if (auto no = price_wish(customer, wish.items, wish.seats, wish.promo_code, now, w, out.price)) return no;
  out.event = event_.id;
  out.currency = event_.currency;
  for (const auto& i : out.price.items) out.item_ids.push_back(stock_.types()[i.ticket_type].id);
  if (w.promo != nullptr) out.promo_code = w.promo->code;
  return {};
}

// -- placing

sale::placed sale::place_order(const customer_id& customer, const queue_line::entry* entry,
                               const order_wish& wish, timestamp now, decision& out) {
  claim_row claim;
  claim.customer = customer;
  if (auto no = may_hold(customer, now, claim.live_slot)) return {std::move(no)};
  if (is_guest(customer))
    if (auto no = refused_to_guest(wish.buyer)) return {std::move(no)};
  const bool joins_itself = entry == nullptr && event_.queue.policy == admission_policy::open;
  const bool may_shop = entry != nullptr && entry->subject == customer
                        && entry->status == entry_status::admitted && now < deadline_of(entry->session());
  if (!may_shop && !joins_itself) return {reason::not_admitted};
  wanted w;
  price_quote quoted;
  if (auto no = price_wish(customer, wish.items, wish.seats, wish.promo_code, now, w, quoted))
    return {std::move(no)};
  // It would use up the limit of an address without proof, at no cost.
  if (is_guest(customer) && quoted.total == 0) return {reason::sign_in_required};
  order_row order;
  order.contact = wish.contact;
  if (auto no = settle_answers(event_.questions, units_of(quoted), order.contact.answers))
    return {std::move(no)};
  claim.items = items_of(quoted);
  claim.amount = quoted.total;
  claim.promo = w.promo != nullptr ? w.promo->ordinal + 1 : 0;
  if (!stock_.has_free(claim.items)) return {none_free(w, now)};
  order.promo_code = w.promo != nullptr ? w.promo->code : std::string{};
  refusal no;
  out.content.reserve(12); // with the domain events: a change is half a KiB, and costs to move
  if (joins_itself) entry = find_or_admit(customer, w.promo, now, out, no);
  if (entry == nullptr) return {std::move(no)};

  order.claim = hold(*entry, std::move(claim), w.seats, now, out);
  order.id = make_uuid(now, event_.aggregate, random_());
  order.customer = is_guest(customer) ? wish.buyer : customer;
  if (is_guest(customer)) order.guest = customer;
  order.subtotal = quoted.subtotal;
  order.discount = quoted.discount;
  order.donations = quoted.donations;
  order.platform_fee = quoted.platform_fee;
  order.processing_fee = quoted.processing_fee;
  order.total = quoted.total;
  order.success_url = wish.success_url;
  order.cancel_url = wish.cancel_url;
  order.created_at = order.updated_at = now;
  const auto id = order.id, of = order.claim;
  orders_.place(std::move(order), out.content);
  begin_attempt(*claims_.find(of), wish.gateway, now, out);
  return {{}, id};
}

// -- transitions and deadlines of orders

/// Applies `trigger` to the order of `claim`, if it has one.
void sale::move_order(const claim_id& claim, order_trigger trigger, timestamp now, decision& out,
                      std::string_view failure) {
  const auto* order = orders_.of_claim(claim);
  if (order == nullptr) return;
  orders_.move(order->id, trigger, now, out.content, [&](order_row& row) {
    row.failure = trigger == order_trigger::fail ? failure : std::string_view{};
    if (trigger == order_trigger::await_payment) row.payment_link_at = now + rules_.payment_link_after;
  });
  out.reveals = true;
}

/// The payment page exists. Schedules the mail with the page, in case the customer does not pay before.
void sale::payment_page_ready(const claim_id& claim, timestamp now, decision& out) {
  const auto* order = orders_.of_claim(claim);
  if (order == nullptr) return;
  if (order->status == order_status::pending)
    return move_order(claim, order_trigger::await_payment, now, out);
  if (order->status == order_status::awaiting_payment) // another attempt has another page
    orders_.edit(order->id, now, out.content,
                 [&](order_row& row) { row.payment_link_at = now + rules_.payment_link_after; });
}

void sale::cancel_payment_link(const claim_id& claim, timestamp now, decision& out) {
  const auto* order = orders_.of_claim(claim);
  if (order != nullptr && is_set(order->payment_link_at))
    orders_.edit(order->id, now, out.content, [](order_row& row) { row.payment_link_at = never; });
}

/// Not for tickets that cost nothing: see place_order.
bool sale::takes_guests() const {
  return event_.guests
         && std::ranges::any_of(stock_.types(), [](const ticket_type_row& t) { return t.price > 0; });
}

/// Whether a guest may buy for this address. All refusals are equal, because the guest has not proven the
/// address. Unpaid claims of guests do not count: otherwise strangers could use up the limit of an address.
refusal sale::refused_to_guest(const customer_id& buyer) const {
  const bool may_buy = takes_guests() && !buyer.is_nil() && !is_blocked(buyer)
                       && claims_.free_slot(buyer, event_.claims_per_customer);
  return may_buy ? refusal{} : refusal{reason::sign_in_required};
}

/// Whether the buyer may get a guest's paid order: the checks of the order again, at payment. An order
/// without a mail address has no recipient.
bool sale::may_receive(const order_row& order) const {
  return !is_blocked(order.customer) && !order.contact.email.empty() && slot_of_buyer(order.customer);
}

/// Whether the claim's customer is blocked, its order or event is cancelled, or its buyer may not have it.
/// Money that still arrives is then refunded.
bool sale::is_given_up(const claim_id& claim) const {
  const auto& customer = claims_.find(claim)->customer;
  if (is_blocked(customer)) return true;
  const auto* order = orders_.of_claim(claim);
  if (order != nullptr && is_guest(customer) && !may_receive(*order)) return true;
  if (order == nullptr || planted(bug::cancelled_order_sells)) return false;
  return order->status == order_status::cancelled
         || (order->status == order_status::failed && event_.status == event_status::cancelled);
}

/// Releases a live claim: now, or once the gateway has closed its open attempt.
void sale::withdraw(const claim_row& claim, timestamp now, decision& out, claim_end why) {
  const auto* open = payments_.open_of(claim.id);
  if (open == nullptr) return release(claim, now, out, why);
  const auto payment = open->id;
  move_order(claim.id, why.trigger, now, out, why.failure);
  if (claim.status == claim_status::claimed)
    claims_.move(claim.id, claim_trigger::deadline_with_payment, now, out.content);
  payments_.ask_again(payment, now + rules_.verdict_grace / 4);
  out.gateway_calls.push_back({gateway_call_kind::expire, payment, {}});
  out.reveals = true;
}

refusal sale::cancel_order(const customer_id& customer, const order_id& id, timestamp now, decision& out) {
  const auto* order = orders_.find(id);
  if (order == nullptr || !order->is_of(customer)) return reason::not_found;
  if (order->status == order_status::cancelled) return {};
  if (!is_open(order->status)) return {reason::invalid_transition, std::string{name_of(order->status)}};
  withdraw(*claims_.find(order->claim), now, out, {order_trigger::cancel, {}});
  return {};
}

/// Fails orders without a payment page after pending_max. Closes the attempt at the gateway, which may have
/// created the page.
std::size_t sale::end_pending(timestamp now, decision& out) {
  if (planted(bug::order_left_pending)) return 0;
  const auto late = orders_.pending_since(now - rules_.pending_max, orders_per_run);
  for (const auto& id : late) {
    const auto& claim = *claims_.find(orders_.find(id)->claim);
    if (const auto* open = payments_.open_of(claim.id)) {
      const auto payment = open->id;
      payments_.move(payment, payment_trigger::fail, now, out.content);
      out.gateway_calls.push_back({gateway_call_kind::expire, payment, {}});
    }
    release(claim, now, out, {order_trigger::fail, "gateway_unavailable"});
  }
  return late.size();
}

/// The changed row itself triggers the mail with the payment page.
std::size_t sale::send_links(timestamp now, decision& out) {
  const auto due = orders_.links_due(now, orders_per_run);
  for (const auto& id : due)
    orders_.edit(id, now, out.content, [](order_row& row) { row.payment_link_at = never; });
  return due.size();
}

timestamp sale::next_checkout_deadline() const {
  const auto page =
    planted(bug::order_left_pending) ? never : plus(orders_.oldest_pending(), rules_.pending_max);
  const auto link = orders_.next_link();
  if (!is_set(page) || !is_set(link)) return is_set(page) ? page : link;
  return std::min(page, link);
}

// -- promo codes, priorities

refusal sale::set_promo_code(const promo_code_patch& p, timestamp now, decision& out, promo_code_id& id) {
  if (is_closing()) return reason::unavailable;
  const auto* old = p.id.is_nil() ? nullptr : promo_codes_.find(p.id);
  if (old == nullptr && !p.id.is_nil()) return reason::not_found;
  if (old == nullptr && promo_codes_.all().size() >= promo_codes_max)
    return {reason::invalid_field, "code: there are too many"};
  promo_code_row row;
  if (old != nullptr) {
    row = *old;
  } else {
    row.id = make_uuid(now, event_.aggregate, random_());
    row.created_at = now;
  }
  if (p.code.given) row.code = normalized_code(p.code.value).value_or(p.code.value);
  if (p.reduction.given) row.reduction = p.reduction.value;
  if (p.valid_from.given) row.valid_from = p.valid_from.value;
  if (p.valid_until.given) row.valid_until = p.valid_until.value;
  if (p.uses_max.given) row.uses_max = p.uses_max.value;
  if (p.uses_per_customer.given) row.uses_per_customer = p.uses_per_customer.value;
  if (p.is_active.given) row.is_active = p.is_active.value;
  row.updated_at = now;
  if (auto no = validate(row, stock_.types().size())) return no;
  if (row.uses_max != 0 && row.uses > row.uses_max)
    return {reason::invalid_field, "uses_max: it is used more often already"};
  if (const auto* other = promo_codes_.find(std::string_view{row.code});
      other != nullptr && other->id != row.id) {
    refusal no{reason::promo_code_taken};
    no.id = other->id;
    return no;
  }
  id = row.id;
  if (old == nullptr)
    promo_codes_.add(std::move(row), out.content);
  else
    promo_codes_.change_code(std::move(row), out.content);
  const auto first = out.records.size();
  if (old != nullptr) regroup_holders(old->ordinal + 1, now, out);
  if (out.records.size() > first) note_access(first, "promo_code=changed", out);
  open_codes(now, out);
  out.reveals = true;
  return {};
}

refusal sale::set_priorities(const std::vector<customer_id>& customers,
                             std::optional<std::uint8_t> priority_class, timestamp now, decision& out) {
  if (priority_class && priorities_.size() + customers.size() > rules_.bounds.priorities)
    return reason::limit_exceeded;
  note(hand_record{hand_action::priority,
                   {},
                   customers.size(),
                   priority_class ? "class=" + std::to_string(*priority_class) : std::string{"class="},
                   {}},
       out);
  for (const auto& customer : customers) {
    if (!priority_class) {
      if (priorities_.erase(customer) > 0)
        out.content.emplace_back(std::in_place_type<priority_removed>, priority_removed{customer});
      continue;
    }
    auto& row = priorities_[customer];
    if (row.customer == customer && row.priority_class == *priority_class) continue;
    row = {customer, *priority_class, now};
    out.content.emplace_back(std::in_place_type<priority_stored>, priority_stored{row});
  }
  out.reveals = true;
  return {};
}

} // namespace fq
