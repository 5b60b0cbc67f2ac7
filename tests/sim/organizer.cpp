// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/organizer.hpp"

#include "tests/sim/fan.hpp"
#include "tests/sim/hall.hpp"
#include "tests/sim/settings.hpp"
#include "tests/sim/staff_ask.hpp"

#include <caf/send.hpp>

namespace fq::sim {
namespace {

customer_id some_customer(world* w) {
  return customer_of(static_cast<std::uint32_t>(w->rng() % w->options.fans));
}

/// A caller says how many it calls in the audit row, where the checker finds it.
void call_next(caf::event_based_actor* self, world* w) {
  const auto count = static_cast<std::uint32_t>(between(w->rng, 1, 4));
  advance_line x{w->managed_event(), {std::to_string(count), {}}, count};
  ask_owner<count_reply>(self, w, std::move(x), [=](const count_reply& told) {
    if (!told.no && told.count > count) w->check->fail("I5", "more were called than the operator asked for");
  });
}

void revoke(caf::event_based_actor* self, world* w) {
  revoke_sessions x{w->managed_event(), {}, revocation_scope::all, {}, {}};
  queue_number n{};
  if (!chance(w->rng, w->options.small_bounds ? 400 : 100)) {
    const auto* entry = any(w, w->check->live_places());
    if (entry == nullptr) return;
    n = *entry;
    const auto& row = w->check->entries().at(n);
    w->check->may_leave(row.subject);
    x.scope = chance(w->rng, 500) ? revocation_scope::ticket : revocation_scope::subject;
    if (x.scope == revocation_scope::ticket)
      x.ticket = make_entry_id(row.joined_at, w->aggregate, n);
    else
      x.subject = row.subject;
  }
  ask_owner<count_reply>(self, w, std::move(x), [=](const count_reply& told) {
    if (told.no) return;
    const auto most = w->options.rules.bounds.revocations;
    if (told.count > most) w->check->fail("I14", "one revocation ended more sessions than it may");
    if (told.count == most && n == queue_number{}) w->check->reached(rare::revoked_in_parts);
    w->check->reached(rare::revoked);
    if (n != queue_number{}) w->check->saw_ended(n);
  });
}

void invite(caf::event_based_actor* self, world* w) {
  invite_customers x{w->managed_event(), {}, {}, {}, {}};
  for (auto n = between(w->rng, 1, 3); n > 0; --n) {
    x.customers.push_back(some_customer(w));
    x.emails.push_back(to_string(x.customers.back()) + "@fans.example");
  }
  if (chance(w->rng, 150))
    return ask_owner<count_reply>(self, w, withdraw_invitations{x.what, {}, x.customers},
                                  [](const count_reply&) {});
  x.wish.ticket_type = w->check->some_hidden_type(w->rng());
  x.wish.quantity = static_cast<std::uint32_t>(between(w->rng, 1, 2));
  if (chance(w->rng, 400))
    x.wish.valid_until = w->env->wall_now() + between(w->rng, milliseconds{1'000}, milliseconds{12'000});
  ask_owner<count_reply>(self, w, std::move(x), [=](const count_reply& told) {
    if (told.no.detail.ends_with("too many invitations")) w->check->reached(rare::invitations_full);
  });
}

/// A code that opens hidden types, with small limits; sometimes another is changed.
void set_access_code(caf::event_based_actor* self, world* w) {
  set_promo_code x{w->managed_event(), {}, {}, {w->check->some_hidden_type(w->rng())}};
  auto& p = x.patch;
  if (const auto* old = any(w, w->check->promo_codes()); old != nullptr && chance(w->rng, 400))
    p.id = old->id;
  p.code = {true, "CODE" + std::to_string(between(w->rng, 0, 3))};
  p.reduction = {true, {discount_kind::none, 0, 0}};
  p.uses_max = {true, static_cast<std::uint32_t>(between(w->rng, 0, 4))};
  p.uses_per_customer = {true, static_cast<std::uint32_t>(between(w->rng, 0, 2))};
  p.is_active = {true, chance(w->rng, 850)};
  const auto now = w->env->wall_now();
  if (chance(w->rng, 200))
    p.valid_until = {true, now + between(w->rng, milliseconds{1'000}, milliseconds{10'000})};
  if (chance(w->rng, 100))
    p.valid_from = {true, now + between(w->rng, milliseconds{-1'000}, milliseconds{900})};
  ask_owner<promo_codes_reply>(self, w, std::move(x), [=](const promo_codes_reply& told) {
    if (!told.no) w->check->saw_promo_code(told.codes.front());
  });
}

/// The value that the lobby announced; rarely an operator ends the wait.
void draw_lobby(caf::event_based_actor* self, world* w) {
  const auto& lobby = w->check->lobby();
  if (!lobby || !is_set(lobby->closed_at) || w->check->event().lobby.beacon == beacon_kind::none) return;
  if (is_set(lobby->drawn_at) && !chance(w->rng, 50)) return;
  if (chance(w->rng, 100)) {
    auto what = w->managed_event();
    what.by.kind = principal_kind::operate;
    return ask_owner<event_reply>(self, w, end_draw_wait{what, {}}, [](const event_reply&) {});
  }
  enter_beacon x{w->managed_event(), {}, std::to_string(between(w->rng, 1, 1'000))};
  ask_owner<event_reply>(self, w, std::move(x), [](const event_reply&) {});
}

/// Replaces the block list at once for all processes, and tells those that run.
void block(world* w) {
  auto list = w->blocked ? *w->blocked : blocked_customers::list{};
  if (!list.empty() && (list.size() > 3 || chance(w->rng, 350))) {
    w->check->unblocked(list.begin()->first);
    list.erase(list.begin());
  } else {
    const auto customer = some_customer(w);
    list.emplace(customer, chance(w->rng, 300));
    w->check->blocked(customer, w->env->wall_now());
  }
  w->blocked = std::make_shared<const blocked_customers::list>(std::move(list));
  for (const auto& region : w->regions)
    if (region) caf::anon_send(region, blocks_changed{});
}

/// The organizer's own changes: status and settings.
void manage(caf::event_based_actor* self, world* w) {
  const auto& o = w->options;
  const auto turn = [=](event_trigger t) {
    ask_owner<event_reply>(self, w, turn_event{w->managed_event(), {}, t}, [](const event_reply&) {});
  };
  if (w->check->event().status == event_status::paused) return turn(event_trigger::resume);
  if (!w->chaos) return;
  if (o.organizer_may_end && w->sells() && chance(w->rng, 40)) return turn(event_trigger::end);
  if (o.organizer_may_cancel && chance(w->rng, 60)) return turn(event_trigger::cancel);
  if (chance(w->rng, 250)) return turn(event_trigger::pause);
  ask_owner<event_reply>(self, w, patch_event{w->managed_event(), {}, some_patch(w)},
                         [](const event_reply&) {});
}

} // namespace

caf::behavior organizer(caf::event_based_actor* self, world* w) {
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::sweep, 0});
  return {[=](const timer_fired&) {
    self->delayed_send(self, between(w->rng, milliseconds{300}, milliseconds{3'000}),
                       timer_fired{timer_kind::sweep, 0});
    const auto& o = w->options;
    if (o.organizer_acts) manage(self, w);
    draw_lobby(self, w);
    if (w->closing) return;
    if (w->check->event().queue.policy == admission_policy::operated) call_next(self, w);
    if (!w->chaos) return;
    const bool has_hidden = w->sells() && w->check->has_hidden_type();
    if (has_hidden && strikes(w->rng, o.access.invites)) invite(self, w);
    if (has_hidden && strikes(w->rng, o.access.sets_codes)) set_access_code(self, w);
    if (strikes(w->rng, o.seats.changes))
      ask_owner<ack_reply>(self, w, set_seats{w->managed_event(), {}, some_seat_patch(*w)},
                           [](const ack_reply&) {});
    if (strikes(w->rng, o.people.blocks)) block(w);
    if (strikes(w->rng, o.people.revokes)) revoke(self, w);
  }};
}

} // namespace fq::sim
