// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/box_office.hpp"

#include "tests/sim/fan.hpp"
#include "tests/sim/staff_ask.hpp"

#include "domain/line/queue.hpp"

namespace fq::sim {
namespace {

principal organizer_of(const world& w) { return {principal_kind::organizer, default_tenant, w.organizer}; }

/// Sets promo codes with small limits; sometimes changes a code that is in use.
void set_promo(caf::event_based_actor* self, world* w) {
  promo_code_patch p;
  const auto* old = any(w, w->check->promo_codes());
  const bool changes = old != nullptr && chance(w->rng, 400);
  if (changes) p.id = old->id;
  if (!changes || chance(w->rng, 200)) p.code = {true, "CODE" + std::to_string(between(w->rng, 0, 3))};
  set_promo_code x{w->managed_event(), {}, {}, {}};
  if (!changes || chance(w->rng, 500)) {
    const auto kind = static_cast<discount_kind>(between(w->rng, 0, 2));
    // sometimes a 100 % discount
    const auto most = kind == discount_kind::percent && chance(w->rng, 800) ? 6'000 : 10'000;
    p.reduction = {true, {kind, kind == discount_kind::none ? 0 : between(w->rng, 1, most), 0}};
    if (chance(w->rng, 300)) x.ticket_types.push_back(w->some_type());
  }
  p.uses_max = {true, static_cast<std::uint32_t>(between(w->rng, 0, 4))};
  p.uses_per_customer = {true, static_cast<std::uint32_t>(between(w->rng, 0, 2))};
  if (chance(w->rng, 150)) p.is_active = {true, chance(w->rng, 500)};
  x.patch = p;
  ask_owner<promo_codes_reply>(self, w, std::move(x), [=](const promo_codes_reply& told) {
    if (!told.no) w->check->saw_promo_code(told.codes.front());
  });
}

void prefer(caf::event_based_actor* self, world* w) {
  set_priorities x{w->managed_event(), {}, {}, {}};
  for (std::uint32_t i = 0; i < w->options.fans; ++i)
    if (chance(w->rng, 250)) x.customers.push_back(customer_of(i));
  if (chance(w->rng, 800))
    x.priority_class = {true, static_cast<std::uint8_t>(chance(w->rng, 800) ? priority_vip : 2)};
  ask_owner<count_reply>(self, w, std::move(x), [=](const count_reply& told) {
    if (told.no.why == reason::limit_exceeded) w->check->reached(rare::priorities_full);
  });
}

/// Refunds some tickets of an order, or all remaining ones.
void refund(caf::event_based_actor* self, world* w) {
  const auto* order = any(w, w->check->orders());
  if (order == nullptr) return;
  refund_tickets x{{order->id, organizer_of(*w)}, {}, {}};
  const auto* claim = w->check->find_claim(order->claim);
  if (claim != nullptr && chance(w->rng, 650))
    for (const auto& i : claim->items)
      if (chance(w->rng, 600))
        x.items.push_back({w->check->ticket_types()[i.ticket_type].id,
                           static_cast<std::uint32_t>(between(w->rng, 1, i.quantity)), 0});
  if (claim != nullptr && x.items.empty())
    for (const auto& [ticket, row] : w->check->event_tickets())
      if (row.claim == claim->id && is_valid(row.status) && chance(w->rng, 400))
        x.event_tickets.push_back(ticket);
  ask_owner<order_reply>(self, w, std::move(x), [=, id = order->id](const order_reply& told) {
    if (!told.no) w->check->saw_refund_begun(id, told.order);
  });
}

customer_id some_customer(world* w) {
  return customer_of(static_cast<std::uint32_t>(w->rng() % w->options.fans));
}

/// Holders give tickets away, and receivers answer.
void transfer(caf::event_based_actor* self, world* w) {
  const auto* offer = any(w, w->check->transfers());
  if (offer != nullptr && chance(w->rng, 600)) {
    const auto how = static_cast<transfer_trigger>(w->rng() % 3);
    const auto by = how == transfer_trigger::withdraw ? offer->giver : offer->receiver;
    return ask_owner<transfer_reply>(self, w, end_transfer{offer->id, by, how}, [](const transfer_reply&) {});
  }
  const auto* ticket = any(w, w->check->event_tickets());
  if (ticket == nullptr) return;
  offer_ticket x{{ticket->id, ticket->holder, some_customer(w), "giver@example.org", "taker@example.org"}};
  ask_owner<transfer_reply>(self, w, std::move(x), [](const transfer_reply&) {});
}

void resend(caf::event_based_actor* self, world* w) {
  const auto* order = any(w, w->check->orders());
  if (order == nullptr) return;
  resend_order x{{order->id, organizer_of(*w)},
                 {.detail = "{}", .reason = to_string(order->id)}}; // mail_watch reads the order id there
  ask_owner<ack_reply>(self, w, std::move(x), [](const ack_reply&) {});
}

void settle(caf::event_based_actor* self, world* w) {
  const auto* letter = any(w, w->check->open_letters());
  if (letter == nullptr) return;
  settle_dead_letter x{{letter->id, organizer_of(*w)}, {}, chance(w->rng, 750)};
  ask_owner<ack_reply>(self, w, std::move(x), [=, id = letter->id](const ack_reply& told) {
    if (!told.no) w->check->saw_settled(id);
  });
}

} // namespace

caf::behavior box_office(caf::event_based_actor* self, world* w) {
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::sweep, 0});
  return {[=](const timer_fired&) {
    if (w->closing) return; // finish what is in progress
    self->delayed_send(self, between(w->rng, milliseconds{100}, milliseconds{1'200}),
                       timer_fired{timer_kind::sweep, 0});
    const auto what = w->rng() % 100;
    if (what < 25) return set_promo(self, w);
    if (what < 35) return prefer(self, w);
    if (what < 65) return refund(self, w);
    if (what < 78) return resend(self, w);
    if (what < 88) return transfer(self, w);
    settle(self, w);
  }};
}

} // namespace fq::sim
