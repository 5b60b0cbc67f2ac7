// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/mesh_operator.hpp"

#include "tests/sim/ledger_connection.hpp"

namespace fq::sim {
namespace {

constexpr milliseconds again{200};
constexpr std::uint64_t attempts = 8; ///< the sale may be moving already, for rebalancing

} // namespace

caf::behavior mesh_operator(caf::event_based_actor* self, world* w) {
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::sweep, 0});
  return {[=](const timer_fired&) {
    if (!w->chaos) return;
    self->delayed_send(self, between(w->rng, milliseconds{300}, milliseconds{2'000}),
                       timer_fired{timer_kind::sweep, 0});
    if (!chance(w->rng, w->options.mesh.move)) return; // no action in this round
    const auto to = node_name(w->rng() % w->options.nodes);
    self->request(w->some_region(), seconds{5}, move_event{w->aggregate, to})
      .then([w](const ack_reply&) { w->check->reached(rare::handed_over); }, [](caf::error&) {});
  }};
}

caf::behavior sale_mover(caf::event_based_actor* self, world* w, std::string to) {
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::sweep, 0});
  return {[=](const timer_fired& t) {
    if (t.kind == timer_kind::moved) {
      if (w->options.mesh.bystanders == 0 && w->directory == nullptr && !w->leases->is_held_by(to))
        w->check->fail("I13", "the sale was given to " + to + " and is not there");
      return;
    }
    if (t.generation == attempts) return w->check->fail("I13", "the sale could not be given to " + to);
    self->request(w->some_region(), seconds{5}, move_event{w->aggregate, to})
      .then(
        [=](const ack_reply&) {
          self->delayed_send(self, again, timer_fired{timer_kind::moved, 0});
        },
        [=](caf::error&) {
          self->delayed_send(self, again, timer_fired{timer_kind::sweep, t.generation + 1});
        });
  }};
}

} // namespace fq::sim
