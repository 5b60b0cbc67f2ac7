// SPDX-License-Identifier: Apache-2.0
// Tickets: entries of standalone queues, for visitors of other sites. A publishable key can join; only a
// server key or the tenant's signature can name the subject. Afterwards the entry's own token suffices.
#include "crypto/subject_token.hpp"
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/service/code_guesses.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/wire/challenge_codec.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"

namespace fq::net {
namespace {

void append_ticket_with_pass(const call& c, std::string& out, const entry_view& entry,
                             std::string_view ticket_token = {}) {
  std::string pass;
  if (entry.status == entry_status::admitted)
    pass = c.ctx.shared->pass_of(entry, c.ctx.environment.wall_now());
  append_ticket(out, entry, c.ctx.sessions, pass, ticket_token);
}

// -- join

struct new_place {
  std::string subject; ///< empty: anonymous
  std::string subject_token;
  std::string challenge;
  std::string party_code;
};

std::optional<response> read_new_place(const request& rq, new_place& wish) {
  return read_json(rq, body_need::optional, [&wish](object_reader& body) {
    wish.subject = body.text("subject", subject_size).value;
    wish.subject_token = body.text("subject_token", subject_token_size).value;
    wish.challenge = body.text("challenge", challenge_size).value;
    wish.party_code = body.text("party_code", party_code_size).value;
    if (!wish.subject.empty() && !wish.subject_token.empty())
      body.reject("subject", "Give either subject or subject_token.");
  });
}

/// Finds the subject. Requires a signature or a server key, so that knowing a name is not enough to take
/// over its entry.
std::optional<response> find_subject(const call& c, new_place& wish) {
  if (!wish.subject.empty() && c.key->scope != api_key_scope::server)
    return problem(fault::subject_not_allowed, c.rq.request_id);
  if (wish.subject_token.empty()) return std::nullopt;
  const auto keys = c.ctx.shared->keys.get();
  auto subject = verify_subject_token(wish.subject_token, keys->subject_jwk_of(c.key->tenant),
                                      c.ctx.environment.wall_now());
  if (!subject) return problem(fault::invalid_subject_token, c.rq.request_id);
  wish.subject = std::move(*subject);
  return std::nullopt;
}

response ticket_answer(const call& c, const entry_reply& reply) {
  const auto lifetime = std::chrono::duration_cast<seconds>(c.ctx.options.tokens.ticket_ttl);
  const auto ticket =
    c.ctx.issuer.issue(token_kind::ticket, reply.entry.id, c.ctx.environment.wall_now(), lifetime);
  response answer;
  answer.status = reply.created ? 201 : 200;
  append_ticket_with_pass(c, answer.body, reply.entry, ticket);
  if (reply.created) answer.fields.emplace_back("Location", location(c.ctx, "/tickets/", reply.entry.id));
  if (reply.replayed) mark_replayed(c.ctx, answer);
  (reply.created ? c.ctx.shared->counts.joins_created : c.ctx.shared->counts.joins_repeated).add();
  return answer;
}

awaitable<response> join_queue(call c) {
  new_place wish;
  if (auto no = read_new_place(c.rq, wish)) co_return std::move(*no);
  if (c.key->scope == api_key_scope::join) // before the expensive signature check
    if (auto no = limit(c.ctx, c.rq, c.ctx.shared->join_clients, limit_key(c.rq.peer)))
      co_return std::move(*no);
  if (auto no = find_subject(c, wish)) co_return std::move(*no);
  auto idempotency = read_idempotency(c.rq, c.who);
  if (idempotency.no) co_return std::move(*idempotency.no);
  if (wish.subject.empty() && idempotency.ref.given
      && parse_idempotency_key(c.rq.field("Idempotency-Key"))->size() < anonymous_key_min)
    co_return problem(fault::invalid_idempotency_key, c.rq.request_id,
                      "Without a subject the key is all that tells whose place it is: at least 16 characters "
                      "that nobody can guess.");
  join message;
  message.event = c.id;
  message.kind = event_kind::queue;
  message.tenant = c.key->tenant;
  message.join_key = join_key_of(idempotency.ref);
  message.subject_name = wish.subject;
  message.client = limit_key(c.rq.peer);
  message.solved = read_solved(wish.challenge);
  message.is_trusted = c.key->scope == api_key_scope::server;
  // An anonymous visitor is a new subject; the same again for the same Idempotency-Key.
  if (!wish.subject.empty())
    message.customer = c.ctx.shared->subject_of(c.key->tenant, wish.subject);
  else if (idempotency.ref.given)
    message.customer = {idempotency.ref.key[0], idempotency.ref.key[1]};
  else
    message.customer = {c.ctx.environment.random_u64(), c.ctx.environment.random_u64()};
  // A publishable key makes as many new subjects as it likes.
  const auto guesser = c.key->scope == api_key_scope::join ? uuid{} : message.customer;
  code_guess guess{c.ctx, c.rq, guesser, c.id, !wish.party_code.empty()};
  if (guess.no) co_return std::move(*guess.no);
  message.party_code = std::move(wish.party_code);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(message));
  guess.settle(got);
  if (got.reply.no.why == reason::challenge_required
      && c.key->scope == api_key_scope::join) { // it comes again
    c.ctx.shared->join_clients.give_back(limit_key(c.rq.peer), c.ctx.environment.steady_now());
    if (auto no = limit_address(c.ctx, c.rq, address_limit::anonymous)) co_return std::move(*no);
  }
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return ticket_answer(c, got.reply);
}

// -- the entry

awaitable<response> read_ticket(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_ticket{c.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  append_ticket_with_pass(c, answer.body, got.reply.entry);
  c.ctx.shared->counts.positions_read.add();
  co_return answer;
}

awaitable<response> leave_with_ticket(call c) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), leave_ticket{c.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

} // namespace

std::span<const route> ticket_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/queues/{id}/tickets", for_api_keys<join_queue, api_key_scope::join, api_key_scope::server>},
    {get, "/tickets/{id}", for_ticket_holders<read_ticket>},
    {del, "/tickets/{id}", for_ticket_holders<leave_with_ticket>},
  };
  return table;
}

} // namespace fq::net
