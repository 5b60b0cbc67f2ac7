// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/gate.hpp"

#include "tests/sim/fan.hpp"
#include "tests/sim/staff_ask.hpp"

namespace fq::sim {
namespace {

/// What a gate has presented; it sends some of it again.
struct presented_scans {
  std::vector<scan_wish> all;
};

void add_list(caf::event_based_actor* self, world* w) {
  set_checkin_list x{w->managed_event(), {}, {}};
  x.patch.name = {true, "Gate"};
  x.patch.mode = {true, chance(w->rng, 600) ? checkin_mode::entry_and_exit : checkin_mode::entry};
  if (chance(w->rng, 300)) x.patch.ticket_types = {true, {w->some_type()}};
  ask_owner<checkin_reply>(self, w, std::move(x), [](const checkin_reply&) {});
}

void add_scanner(caf::event_based_actor* self, world* w) {
  set_checkin_device x{w->managed_event(), {}, {}};
  x.patch.label = "Phone";
  x.patch.secret_hash = "hash";
  x.patch.may_force = chance(w->rng, 500);
  ask_owner<checkin_reply>(self, w, std::move(x), [](const checkin_reply&) {});
}

/// A new scan, of a ticket that the ledger has.
scan_wish present(world* w, std::size_t number) {
  scan_wish wish;
  wish.id = {0x5ca4, number};
  wish.list = any(w, w->check->checkin_lists())->id;
  const auto* ticket = any(w, w->check->event_tickets());
  wish.ticket = ticket->id;
  wish.generation = chance(w->rng, 900) ? ticket->generation : 7;
  wish.type = chance(w->rng, 600) ? scan_type::entry : scan_type::exit;
  wish.force = chance(w->rng, 300);
  wish.passed = chance(w->rng, 200);
  if (chance(w->rng, 500))
    wish.at = w->env->wall_now() - between(w->rng, milliseconds{0}, milliseconds{20'000});
  return wish;
}

void redeem(caf::event_based_actor* self, world* w, presented_scans& presented) {
  redeem_scans x{{any(w, w->check->checkin_devices())->id, "hash"}, {}};
  for (auto n = between(w->rng, 1, 3); n > 0; --n) {
    const bool again = !presented.all.empty() && chance(w->rng, 400);
    if (!again) presented.all.push_back(present(w, presented.all.size()));
    x.scans.push_back({again ? presented.all[w->rng() % presented.all.size()] : presented.all.back(), {}});
  }
  ask_owner<scans_reply>(self, w, x, [w, sent = x.scans](const scans_reply& told) {
    if (told.no) return;
    for (std::size_t i = 0; i < sent.size(); ++i) w->check->saw_scan(sent[i].wish, told.scans.at(i));
  });
}

} // namespace

caf::behavior gate(caf::event_based_actor* self, world* w) {
  self->set_default_handler(caf::drop);
  self->send(self, timer_fired{timer_kind::sweep, 0});
  const auto presented = std::make_shared<presented_scans>();
  return {[=](const timer_fired&) {
    if (w->closing) return; // finish what is in progress
    self->delayed_send(self, between(w->rng, milliseconds{100}, milliseconds{900}),
                       timer_fired{timer_kind::sweep, 0});
    if (w->check->checkin_lists().size() < 2) return add_list(self, w);
    if (w->check->checkin_devices().empty()) return add_scanner(self, w);
    if (!w->check->event_tickets().empty()) redeem(self, w, *presented);
  }};
}

} // namespace fq::sim
