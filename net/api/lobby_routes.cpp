// SPDX-License-Identifier: Apache-2.0
// The draw of a lobby, by its managers, and parties. The event actor decides.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/service/code_guesses.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"

#include <algorithm>

namespace fq::net {
namespace {

template <event_kind Kind>
response drawn_answer(const event_reply& reply) {
  response answer;
  Kind == event_kind::sale ? append_event(answer.body, reply.event) : append_queue(answer.body, reply.event);
  return answer;
}

/// Words of printable ASCII, one space between two: another spelling would be another order.
bool is_spelled(std::string_view value) {
  const auto is_allowed = [](char c) { return c >= ' ' && c <= '~'; };
  return std::ranges::all_of(value, is_allowed) && !value.starts_with(' ') && !value.ends_with(' ')
         && value.find("  ") == value.npos;
}

template <event_kind Kind>
awaitable<response> give_beacon(call c) {
  enter_beacon wish{{c.id, c.by, Kind}, {}, {}};
  wish.note.detail = c.rq.body;
  if (auto no = read_json(c.rq, body_need::required, [&wish](object_reader& body) {
        body.require("value");
        wish.value = body.text("value", beacon_value_size).value;
        if (!is_spelled(wish.value))
          body.reject("value", "Must be words of printable ASCII with one space between two.");
        wish.note.reason = read_reason(body);
      }))
    co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return drawn_answer<Kind>(got.reply);
}

template <event_kind Kind>
awaitable<response> end_wait(call c) {
  end_draw_wait wish{{c.id, c.by, Kind}, {}};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return drawn_answer<Kind>(got.reply);
}

/// Opens a party, or joins the one whose code is in the body. `Kind`: queue for the holder of a ticket.
template <event_kind Kind>
awaitable<response> form_party(call c) {
  constexpr bool by_ticket = Kind == event_kind::queue;
  change_party wish{c.id, c.who};
  if (by_ticket) wish = {{}, {}, c.id};
  if (auto no = read_json(c.rq, body_need::optional, [&wish](object_reader& body) {
        wish.party_code = body.text("party_code", party_code_size).value;
      }))
    co_return std::move(*no);
  code_guess guess{c.ctx, c.rq, by_ticket ? c.id : c.who, c.id, !wish.party_code.empty()};
  if (guess.no) co_return std::move(*guess.no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  guess.settle(got);
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  by_ticket ? append_ticket(answer.body, got.reply.entry, c.ctx.sessions, {})
            : append_entry(answer.body, got.reply.entry, c.ctx.sessions);
  co_return answer;
}

constexpr char ends_waits[] = "Only an operator can end the wait for a beacon.";

} // namespace

std::span<const route> lobby_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/events/{id}/queue/party", for_customers_or_guests<form_party<event_kind::sale>>},
    {post, "/tickets/{id}/party", for_ticket_holders<form_party<event_kind::queue>>},
    {post, "/events/{id}/draw/beacon", for_managers<give_beacon<event_kind::sale>>},
    {post, "/events/{id}/draw/end-wait", for_operators<end_wait<event_kind::sale>, ends_waits>},
    {post, "/queues/{id}/draw/beacon", for_managers<give_beacon<event_kind::queue>>},
    {post, "/queues/{id}/draw/end-wait", for_operators<end_wait<event_kind::queue>, ends_waits>},
  };
  return table;
}

} // namespace fq::net
