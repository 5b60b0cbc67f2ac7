// SPDX-License-Identifier: Apache-2.0
// A customer's entry in an event's queue: join, read, leave. The two hottest routes of the system. The
// event actor decides; most reads do not reach it.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/bridge/line_table.hpp"
#include "net/service/code_guesses.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/wire/challenge_codec.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"

namespace fq::net {
namespace {

response entry_answer(const call& c, const entry_reply& reply) {
  const auto lifetime = std::chrono::duration_cast<seconds>(c.ctx.options.tokens.ttl);
  const auto ticket =
    c.ctx.issuer.issue(token_kind::ticket, reply.entry.id, c.ctx.environment.wall_now(), lifetime);
  response answer;
  answer.status = reply.created ? 201 : 200;
  append_entry(answer.body, reply.entry, c.ctx.sessions, ticket);
  if (reply.replayed) mark_replayed(c.ctx, answer);
  (reply.created ? c.ctx.shared->counts.joins_created : c.ctx.shared->counts.joins_repeated).add();
  return answer;
}

awaitable<response> join_line(call c) {
  std::string access_code, challenge, party_code;
  auto wrong = read_json(c.rq, body_need::optional, [&](object_reader& body) {
    access_code = body.text("access_code", promo_code_size).value;
    challenge = body.text("challenge", challenge_size).value;
    party_code = body.text("party_code", party_code_size).value;
  });
  if (wrong) co_return std::move(*wrong);
  auto key = read_idempotency(c.rq, c.who);
  if (key.no) co_return std::move(*key.no);
  if (auto no = limit_join(c.ctx, c.rq, c.who)) co_return std::move(*no);
  join wish{c.id, c.who, join_key_of(key.ref)};
  const bool may_guess = !access_code.empty() || !party_code.empty();
  code_guess guess{c.ctx, c.rq, c.who, c.id, may_guess};
  if (guess.no) co_return std::move(*guess.no);
  wish.access_code = std::move(access_code);
  wish.client = limit_key(c.rq.peer);
  wish.solved = read_solved(challenge);
  wish.party_code = std::move(party_code);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  guess.settle(got);
  const bool new_place =
    got.error || (got.reply.created && !got.reply.replayed); // a join that timed out may have created one
  if (!new_place && !may_guess) give_back_join(c.ctx, c.rq, c.who);
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return entry_answer(c, got.reply);
}

response position_answer(const call& c, const entry_view& entry) {
  response answer;
  append_entry(answer.body, entry, c.ctx.sessions);
  c.ctx.shared->counts.positions_read.add();
  return answer;
}

awaitable<response> ask_position(call c) {
  if (auto line = c.ctx.lines->find_stale(c.id, c.who)) {
    const auto renewed = co_await c.ctx.lines->renew(std::move(line));
    if (auto no = refused(c.rq, renewed)) co_return std::move(*no);
    if (const auto known = c.ctx.lines->find_place(c.id, c.who)) co_return position_answer(c, *known);
  }
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_entry{c.id, c.who});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  c.ctx.lines->learn(got.reply);
  co_return position_answer(c, got.reply.entry);
}

/// Most polls are of places that polled before.
awaitable<response> read_position(call c) {
  if (const auto known = c.ctx.lines->find_place(c.id, c.who)) [[likely]]
    return ready(position_answer(c, *known));
  return ask_position(std::move(c));
}

awaitable<response> leave_line(call c) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), leave{c.id, c.who});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

} // namespace

std::span<const route> queue_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/events/{id}/queue", for_customers_or_guests<join_line>},
    {del, "/events/{id}/queue", for_customers_or_guests<leave_line>},
    {get, "/events/{id}/queue/position", for_customers_or_guests<read_position>},
  };
  return table;
}

} // namespace fq::net
