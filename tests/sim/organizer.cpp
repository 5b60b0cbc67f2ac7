// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/organizer.hpp"

namespace fq::sim {
namespace {

template <class Message>
void ask_owner(caf::event_based_actor* self, world* w, Message message) {
  if (w->net != nullptr)
    return self->request(w->some_edge(), seconds{5}, message)
      .then([](const event_reply&) {}, [](caf::error&) {});
  self->request(w->some_region(), seconds{5}, resolve_event{w->aggregate})
    .then(
      [=](const event_handle& owner) {
        self->request(owner, seconds{5}, message).then([](const event_reply&) {}, [](caf::error&) {});
      },
      [](caf::error&) {});
}

event_patch some_patch(world* w) {
  event_patch p;
  const auto& now = w->check->event();
  if (chance(w->rng, 400)) {
    ticket_type_patch t;
    t.values.id = w->ticket_types[w->rng() % w->ticket_types.size()];
    if (chance(w->rng, 700))
      t.set(&ticket_type_row::total, between(w->rng, 1, 20));
    else
      t.set(&ticket_type_row::on_sale, chance(w->rng, 700));
    p.ticket_types.push_back(t);
  } else if (chance(w->rng, 400)) {
    p.set(&queue_settings::claim_window,
          between(w->rng, milliseconds{1'000}, now.queue.session_ttl - now.claim_ttl));
  } else if (chance(w->rng, 200)) {
    p.set(&queue_settings::reclaim_window, between(w->rng, milliseconds{0}, milliseconds{2'000}));
    p.set(&queue_settings::reclaims_max, static_cast<std::uint32_t>(between(w->rng, 0, 2)));
  } else if (now.queue.concurrency != 0) {
    p.set(&queue_settings::concurrency, static_cast<std::uint32_t>(between(w->rng, 1, 10)));
  } else {
    p.set(&queue_settings::batch_size, static_cast<std::uint32_t>(between(w->rng, 1, 8)));
  }
  return p;
}

} // namespace

caf::behavior organizer(caf::event_based_actor* self, world* w) {
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::sweep, 0});
  return {[=](const timer_fired&) {
    self->delayed_send(self, between(w->rng, milliseconds{300}, milliseconds{3'000}),
                       timer_fired{timer_kind::sweep, 0});
    const auto& o = w->options;
    const auto turn = [=](event_trigger t) {
      ask_owner(self, w,
                turn_event{{w->event, {principal_kind::organizer, default_tenant, w->organizer}}, {}, t});
    };
    if (w->check->event().status == event_status::paused) return turn(event_trigger::resume);
    if (!w->chaos) return;
    if (o.organizer_may_end && chance(w->rng, 40)) return turn(event_trigger::end);
    if (o.organizer_may_cancel && chance(w->rng, 60)) return turn(event_trigger::cancel);
    if (chance(w->rng, 250)) return turn(event_trigger::pause);
    ask_owner(
      self, w,
      patch_event{{w->event, {principal_kind::organizer, default_tenant, w->organizer}}, {}, some_patch(w)});
  }};
}

} // namespace fq::sim
