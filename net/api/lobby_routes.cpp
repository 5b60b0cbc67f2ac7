// SPDX-License-Identifier: Apache-2.0
// The draw of a lobby, by its managers, and parties. The event actor decides.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"

namespace fq::net {
namespace {

template <event_kind Kind>
response drawn_answer(const event_reply& reply) {
  response answer;
  Kind == event_kind::sale ? append_event(answer.body, reply.event) : append_queue(answer.body, reply.event);
  return answer;
}

template <event_kind Kind>
awaitable<response> give_beacon(call c) {
  enter_beacon wish{{c.id, c.by, Kind}, {}, {}};
  wish.note.detail = c.rq.body;
  if (auto no = read_json(c.rq, body_need::required, [&wish](object_reader& body) {
        body.require("value");
        wish.value = body.text("value", beacon_value_size).value;
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

awaitable<response> begin_party(call c) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), open_party{c.id, c.who});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  append_entry(answer.body, got.reply.entry, c.ctx.sessions);
  co_return answer;
}

constexpr char ends_waits[] = "Only an operator can end the wait for a beacon.";

} // namespace

std::span<const route> lobby_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/events/{id}/queue/party", for_customers<begin_party>},
    {post, "/events/{id}/draw/beacon", for_managers<give_beacon<event_kind::sale>>},
    {post, "/events/{id}/draw/end-wait", for_operators<end_wait<event_kind::sale>, ends_waits>},
    {post, "/queues/{id}/draw/beacon", for_managers<give_beacon<event_kind::queue>>},
    {post, "/queues/{id}/draw/end-wait", for_operators<end_wait<event_kind::queue>, ends_waits>},
  };
  return table;
}

} // namespace fq::net
