// SPDX-License-Identifier: Apache-2.0
// Standalone queues for the backends of other sites: an operator's token for an API key, queues, and an
// operator's actions on them. Checks types and ranges; the catalog and the event actor, which also owns
// queues, check the rules.
#include "domain/line/admission.hpp"
#include "domain/sale/event_settings.hpp"
#include "net/api/limits.hpp"
#include "net/api/query_text.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/challenges.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/settings_codec.hpp"
#include "net/wire/view_codec.hpp"

namespace fq::net {
namespace {

// -- POST /sessions

awaitable<response> open_operator_session(call c) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  const auto now = c.ctx.environment.wall_now();
  response answer;
  answer.status = 201;
  answer.body = R"({"token":")" + c.ctx.issuer.issue(token_kind::operate, c.key->id, now, operator_token_life)
                + R"(","expires_at":)";
  append_time(answer.body, std::chrono::floor<seconds>(now) + operator_token_life);
  answer.body += '}';
  co_return answer;
}

// -- settings

managed queue_of(const call& c) { return {c.id, c.by, event_kind::queue}; }

response queue_answer(const event_reply& reply) {
  response answer;
  append_queue(answer.body, reply.event);
  return answer;
}

// -- POST /queues

event_row new_queue(const config::options& options) {
  event_row queue;
  queue.kind = event_kind::queue;
  queue.currency = "XXX"; // ISO 4217: no currency
  queue.queue.policy = admission_policy::capacity;
  queue.queue.session_ttl = options.queue.session_ttl;
  queue.queue.ticket_ttl = options.queue.ticket_ttl;
  return queue;
}

std::optional<response> read_new_queue(const call& c, create_event& wish) {
  wish.event = new_queue(c.ctx.options);
  wish.note.detail = c.rq.body;
  return read_json(c.rq, body_need::required, [&](object_reader& body) {
    body.require("name");
    event_patch settings;
    read_settings(body, settings, settings_api::queues);
    check_challenge(body, settings, c.ctx);
    apply_settings(settings, wish.event);
    assign(body.text("external_id", external_id_size), wish.event.external_id);
    wish.note.reason = read_reason(body);
  });
}

awaitable<response> create_queue(call c) {
  auto key = read_idempotency(c.rq, c.who);
  if (key.no) co_return std::move(*key.no);
  create_event wish;
  wish.by = c.by;
  wish.idempotency = key.ref;
  if (auto no = read_new_queue(c, wish)) co_return std::move(*no);
  keys_in_flight::hold working;
  if (auto no = c.ctx.shared->idempotency.enter(key.ref, c.rq.request_id, working)) co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  auto answer = queue_answer(got.reply);
  answer.status = 201;
  answer.fields.emplace_back("Location", location(c.ctx, "/queues/", got.reply.event.event.id));
  if (got.reply.replayed) mark_replayed(c.ctx, answer);
  co_return answer;
}

// -- GET /queues

/// The list that a cursor belongs to.
uuid list_scope(const principal& by) { return {static_cast<std::uint64_t>(by.tenant), 0x71756575}; }

std::optional<response> read_queue_list_request(const call& c, list_events& wish) {
  std::optional<response> no;
  const auto query = query_parameters::read(c.rq, {"limit", "cursor", "external_id"}, no);
  if (no) return no;
  wish.by = c.by;
  wish.kind = event_kind::queue;
  const auto name = decoded(query.find("external_id").value_or(""));
  if (!name || static_cast<std::int64_t>(name->size()) > external_id_size.high)
    return problem(fault::invalid_parameter, c.rq.request_id,
                   "external_id must be percent-encoded text of at most 200 bytes.");
  wish.external_id = *name;
  const auto cursor = query.find("cursor");
  if (no = read_limit(c.rq, query, wish.limit); no) return no;
  const auto after =
    cursor ? c.ctx.shared->cursors.decode(list_scope(c.by), *cursor) : std::optional{aggregate_id{}};
  if (!after) return problem(fault::invalid_cursor, c.rq.request_id);
  wish.after = *after;
  return std::nullopt;
}

awaitable<response> list_queues(call c) {
  list_events wish;
  if (auto no = read_queue_list_request(c, wish)) co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  append_queue_list(answer.body, got.reply.events, got.reply.more, [&](const event_view& last) {
    return c.ctx.shared->cursors.encode(list_scope(c.by), last.event.aggregate);
  });
  co_return answer;
}

// -- one queue

awaitable<response> read_queue(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_event{queue_of(c)});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return queue_answer(got.reply);
}

awaitable<response> read_queue_stats(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_stats{queue_of(c)});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  answer.body = queue_stats_text(got.reply.stats);
  co_return answer;
}

awaitable<response> change_queue(call c) {
  patch_event wish{queue_of(c), {}, {}};
  wish.note.detail = c.rq.body;
  if (auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
        read_settings(body, wish.patch, settings_api::queues);
        check_challenge(body, wish.patch, c.ctx);
        wish.note.reason = read_reason(body);
      }))
    co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return queue_answer(got.reply);
}

template <event_trigger Trigger>
awaitable<response> turn_queue(call c) {
  turn_event wish{queue_of(c), {}, Trigger};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return queue_answer(got.reply);
}

// -- operator actions

response named_count_answer(std::string_view name, std::uint64_t count) {
  response answer;
  answer.body = "{\"" + std::string{name} + "\":";
  append_unsigned(answer.body, count);
  answer.body += '}';
  return answer;
}

template <event_kind Kind>
awaitable<response> advance(call c) {
  advance_line wish{{c.id, c.by, Kind}, {}, 0};
  wish.note.detail = c.rq.body;
  if (auto no = read_json(c.rq, body_need::required, [&wish](object_reader& body) {
        body.require("count");
        wish.count = body.number<std::uint32_t>("count", advance_range).value;
        wish.note.reason = read_reason(body);
      }))
    co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return named_count_answer("admitted", got.reply.count);
}

/// The name of an entry's id in the two APIs.
template <event_kind Kind>
constexpr std::string_view place_id = Kind == event_kind::queue ? "ticket_id" : "entry_id";

/// Reads exactly one of: the entry's id, all, or for a queue a subject.
template <event_kind Kind>
std::optional<response> read_revocation(const call& c, revoke_sessions& wish) {
  wish.note.detail = c.rq.body;
  return read_json(c.rq, body_need::required, [&](object_reader& body) {
    const auto place = body.id(place_id<Kind>);
    const auto subject =
      Kind == event_kind::queue ? body.text("subject", subject_size) : maybe<std::string>{};
    const auto all = body.flag("all");
    wish.note.reason = read_reason(body);
    if (place.given + subject.given + (all.given && all.value) != 1)
      return body.reject(place_id<Kind>, Kind == event_kind::queue
                                           ? "Give exactly one of ticket_id, subject and all."
                                           : "Give either entry_id or all.");
    wish.scope = place.given     ? revocation_scope::ticket
                 : subject.given ? revocation_scope::subject
                                 : revocation_scope::all;
    wish.ticket = place.value;
    if (subject.given) wish.subject = c.ctx.shared->subject_of(c.by.tenant, subject.value);
  });
}

template <event_kind Kind>
awaitable<response> revoke(call c) {
  revoke_sessions wish{{c.id, c.by, Kind}, {}, {}, {}, {}};
  if (auto no = read_revocation<Kind>(c, wish)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return named_count_answer("revoked", got.reply.count);
}

// -- entry search

struct place_wish {
  entry_id place; ///< nil: search by `email`
  std::string email;
};

/// Personal data is in the body, because URLs are logged.
template <event_kind Kind>
std::optional<response> read_place(const request& rq, place_wish& wish) {
  return read_json(rq, body_need::required, [&wish](object_reader& body) {
    const auto place = body.id(place_id<Kind>);
    const bool by_email = Kind == event_kind::sale && body.has("email");
    if (by_email) wish.email = read_email(body, "email");
    if (place.given == by_email)
      body.reject(place_id<Kind>,
                  Kind == event_kind::queue ? "Must be given." : "Give either entry_id or email.");
    wish.place = place.value;
  });
}

response found_place_answer(const request& rq, const answer<entry_reply>& got) {
  if (auto no = refused(rq, got)) return std::move(*no);
  response answer;
  append_place(answer.body, got.reply.entry);
  return answer;
}

/// Requires the right to manage the queue, before any entry is looked up.
template <event_kind Kind>
awaitable<response> find_place(call c) {
  place_wish wish;
  if (auto no = read_place<Kind>(c.rq, wish)) co_return std::move(*no);
  auto allowed = co_await ask_event(c.ctx, owner_of(c.id), find_stats{{c.id, c.by, Kind}});
  if (auto no = refused(c.rq, allowed)) co_return std::move(*no);
  if (wish.email.empty()) {
    if (owner_of(wish.place) != owner_of(c.id)) co_return problem(fault::not_found, c.rq.request_id);
    auto got = co_await ask_event(c.ctx, owner_of(c.id), find_ticket{wish.place, false});
    co_return found_place_answer(c.rq, got);
  }
  find_customers people{c.by.tenant, {std::move(wish.email)}};
  auto known = co_await ask(c.ctx, c.ctx.accounts, std::move(people));
  if (auto no = refused(c.rq, known)) co_return std::move(*no);
  const auto customer = known.reply.customers.empty() ? customer_id{} : known.reply.customers.front();
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_entry{c.id, customer, false});
  co_return found_place_answer(c.rq, got);
}

} // namespace

std::span<const route> waiting_room_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/events/{id}/advance", for_managers<advance<event_kind::sale>>},
    {post, "/events/{id}/revocations", for_managers<revoke<event_kind::sale>>},
    {post, "/events/{id}/places/search", for_managers<find_place<event_kind::sale>>},
    {post, "/sessions", for_api_keys<open_operator_session, api_key_scope::operate>},
    {post, "/queues", for_managers<create_queue>},
    {get, "/queues", for_managers<list_queues, query_use::own>},
    {get, "/queues/{id}", for_managers<read_queue>},
    {patch, "/queues/{id}", for_managers<change_queue>},
    {get, "/queues/{id}/stats", for_managers<read_queue_stats>},
    {post, "/queues/{id}/advance", for_managers<advance<event_kind::queue>>},
    {post, "/queues/{id}/pause", for_managers<turn_queue<event_trigger::pause>>},
    {post, "/queues/{id}/resume", for_managers<turn_queue<event_trigger::resume>>},
    {post, "/queues/{id}/revocations", for_managers<revoke<event_kind::queue>>},
    {post, "/queues/{id}/places/search", for_managers<find_place<event_kind::queue>>},
  };
  return table;
}

} // namespace fq::net
