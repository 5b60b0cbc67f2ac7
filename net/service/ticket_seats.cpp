// SPDX-License-Identifier: Apache-2.0
#include "net/service/ticket_seats.hpp"

#include "actors/protocol/fan_messages.hpp"
#include "net/bridge/actor_bridge.hpp"
#include "net/service/guards.hpp"
#include "net/service/limits.hpp"
#include "net/service/services.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fq::net {
namespace {

std::vector<find_ticket_seats> questions_about(const customer_id& holder, const held_tickets_reply& held) {
  std::vector<find_ticket_seats> questions;
  for (const auto& l : held.tickets) {
    if (l.ticket.seat == 0) continue;
    auto its = std::ranges::find(questions, l.event, &find_ticket_seats::event);
    if (its == questions.end()) {
      if (questions.size() == events_asked_for_seats) continue;
      its = questions.insert(its, {l.event, holder, {}});
    }
    its->tickets.push_back(l.ticket.id);
  }
  return questions;
}

} // namespace

awaitable<std::vector<ticket_seat>> find_seats_of(context& ctx, const held_tickets_reply& held,
                                                  customer_id holder) {
  std::vector<ticket_seat> seats;
  auto questions = questions_about(holder, held);
  const auto until = ctx.environment.steady_now() + seats_patience;
  for (auto& question : questions) {
    if (ctx.environment.steady_now() >= until) break;
    const auto owner = owner_of(question.event);
    auto got = co_await ask_event(ctx, owner, std::move(question));
    if (got.error) break; // tickets are shown without seats rather than late
    if (got.reply.no) continue;
    std::ranges::move(got.reply.seats, std::back_inserter(seats));
  }
  co_return seats;
}

} // namespace fq::net
