// SPDX-License-Identifier: Apache-2.0
// What only some fans do: access codes, absence, and visits through a standalone queue.
#include "tests/sim/fan_ask.hpp"

#include <algorithm>

namespace fq::sim {

/// Often the hidden type that it is invited to; else any, also one that it may not buy.
ticket_type_id fan::some_type() {
  const auto invitation = world_->check->invitations().find(me_);
  if (invitation != world_->check->invitations().end() && wants(600))
    return world_->check->ticket_types()[invitation->second.ticket_type].id;
  return world_->some_type();
}

std::string fan::some_code() { return "CODE" + std::to_string(between(world_->rng, 0, 3)); }

bool fan::is_about_code(reason why) {
  constexpr std::array all{reason::access_code_invalid, reason::promo_code_invalid,
                           reason::promo_code_expired, reason::promo_code_exhausted,
                           reason::promo_code_limit};
  return std::ranges::find(all, why) != all.end();
}

/// Whether it puts its phone away until its place is AWAY.
bool fan::dozes() {
  const auto& event = world_->check->event();
  return event.queue.presence_timeout.count() > 0 && !is_set(event.waiting_list.began_at)
         && strikes(world_->rng, world_->options.people.dozes);
}

// -- standalone queues ------------------------------------------------------------------------------------

void fan::do_show_ticket() {
  ask(find_ticket{ticket_},
      on<entry_reply>([this](const entry_reply& told, std::uint64_t) { world_->check->saw_entry(me_, told); },
                      [this](const entry_reply& told) { on_place(told); }));
}

void fan::do_return_ticket() {
  ask(leave_ticket{ticket_}, on<ack_reply>(
                               [this, ticket = ticket_](const ack_reply& told, std::uint64_t) {
                                 if (told.no)
                                   return world_->check->fail("I7", "a ticket to return is unknown");
                                 world_->check->saw_ended(queue_number_of(ticket));
                               },
                               [this](const ack_reply&) { next(goal::poll, soon(10, 400)); }));
}

/// The origin tells that its guest has left.
void fan::do_end_visit() {
  ask(end_session{token_},
      on<ack_reply>([this, ticket = ticket_](
                      const ack_reply&, std::uint64_t) { world_->check->saw_ended(queue_number_of(ticket)); },
                    [this](const ack_reply&) { next(goal::poll, soon(10, 400)); }));
}

/// One of few names, so that sessions meet.
void fan::do_lock() {
  change_lock x{world_->event, token_, "A-" + std::to_string(between(world_->rng, 0, 2)), wants(200)};
  const auto name = x.frees ? std::string{} : x.name;
  ask(std::move(x), on<locks_reply>(
                      [this, name, ticket = ticket_](const locks_reply& told, std::uint64_t) {
                        if (told.no || name.empty()) return;
                        world_->check->saw_locked(name, queue_number_of(ticket));
                      },
                      [this](const locks_reply&) { next(goal::poll, soon(10, 400)); }));
}

/// Opens a party, of which others learn the code, or joins one of them.
void fan::do_change_party() {
  change_party x{world_->event, me_};
  if (!world_->sells()) x = {{}, {}, ticket_};
  const auto& codes = world_->party_codes;
  if (!codes.empty() && wants(500)) x.party_code = codes[world_->rng() % codes.size()];
  ask(std::move(x), on<entry_reply>(
                      [this](const entry_reply& told, std::uint64_t) {
                        if (!told.no)
                          world_->check->saw_entry(me_, told); // a refusal says nothing about the place
                      },
                      [this](const entry_reply& told) {
                        if (!told.no && !told.entry.party_code.empty())
                          world_->party_codes.push_back(told.entry.party_code);
                        next(goal::poll, soon(10, 400));
                      }));
}

} // namespace fq::sim
