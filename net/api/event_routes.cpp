// SPDX-License-Identifier: Apache-2.0
// Events: create, list, read, change, control, statistics. Checks types and ranges; the catalog and the
// event actor check the rules.
#include "display/event_times.hpp"
#include "domain/sale/event_settings.hpp"
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/challenges.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/question_codec.hpp"
#include "net/wire/settings_codec.hpp"
#include "net/wire/view_codec.hpp"

#include <algorithm>

namespace fq::net {
namespace {

void require_new_type(object_reader& type) {
  for (const auto name : {"name", "price", "total"}) type.require(name);
}

/// The database of zones is the system's, which the domain does not know.
void check_time_zone(object_reader& body, const event_patch& settings) {
  const auto* zone = settings.find(&event_facts::time_zone);
  if (zone && !zone->empty() && !is_time_zone(*zone))
    body.reject("time_zone", "Must be a name of the IANA database, such as Africa/Lagos.");
}

// -- POST /events

/// Reads `ticket_types`, or the short form: total_inventory and price of one type called "Standard".
void read_stock(object_reader& body, std::vector<ticket_type_row>& types) {
  const bool listed = body.objects("ticket_types", types_count, [&types](object_reader& type) {
    require_new_type(type);
    ticket_type_patch t;
    read_settings(type, t);
    t.apply_to(types.emplace_back());
  });
  const bool short_form = body.has("total_inventory") || body.has("price");
  const auto total = body.integer("total_inventory", total_range), price = body.integer("price", money_range);
  if (listed && short_form)
    return body.reject("ticket_types", "Give either ticket_types or total_inventory and price.");
  if (listed) return;
  if (!short_form) return body.require("ticket_types");
  body.require("total_inventory");
  body.require("price");
  auto& standard = types.emplace_back();
  standard.name = "Standard";
  standard.price = price.value;
  standard.total = total.value;
}

event_row defaults(const config::options& options) {
  event_row event;
  event.currency = "NGN";
  event.queue.session_ttl = options.queue.session_ttl;
  event.queue.claim_window = options.queue.claim_window;
  event.queue.admission_interval = options.queue.admission_interval;
  event.queue.batch_size = static_cast<std::uint32_t>(options.queue.batch_size);
  event.claim_ttl = options.claims.ttl;
  return event;
}

bool is_currency(std::string_view text) {
  return text.size() == 3
         && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

std::optional<response> read_new_event(const call& c, create_event& wish) {
  wish.event = defaults(c.ctx.options);
  wish.by = c.by;
  wish.note.detail = c.rq.body;
  return read_json(c.rq, body_need::required, [&](object_reader& body) {
    for (const auto name : {"name", "sale_start", "sale_end"}) body.require(name);
    event_patch settings;
    read_settings(body, settings, settings_api::events);
    read_questions(body, settings);
    check_time_zone(body, settings);
    check_challenge(body, settings, c.ctx);
    apply_settings(settings, wish.event);
    if (!settings.find(&event_row::queue_opens_at)) wish.event.queue_opens_at = wish.event.sale_start;
    const auto currency = body.text("currency", currency_size);
    if (currency.given && !is_currency(currency.value))
      body.reject("currency", "Must be an ISO 4217 code in upper case.");
    assign(currency, wish.event.currency);
    wish.note.reason = read_reason(body);
    read_stock(body, wish.ticket_types);
  });
}

response new_event_answer(const call& c, const event_reply& reply) {
  response answer;
  answer.status = 201;
  append_event(answer.body, reply.event);
  answer.fields.emplace_back("Location", location(c.ctx, "/events/", reply.event.event.id));
  if (reply.replayed) mark_replayed(c.ctx, answer);
  return answer;
}

awaitable<response> create_draft(call c) {
  auto key = read_idempotency(c.rq, c.who);
  if (key.no) co_return std::move(*key.no);
  create_event wish;
  wish.idempotency = key.ref;
  if (auto no = read_new_event(c, wish)) co_return std::move(*no);
  keys_in_flight::hold working;
  if (auto no = c.ctx.shared->idempotency.enter(key.ref, c.rq.request_id, working)) co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return new_event_answer(c, got.reply);
}

// -- GET /events

std::optional<response> read_list_request(const call& c, list_events& wish) {
  std::optional<response> no;
  const auto query = query_parameters::read(c.rq, {"limit", "cursor", "mine"}, no);
  if (no) return no;
  const auto cursor = query.find("cursor");
  const bool mine = read_flag(c.rq, query, "mine", no);
  if (no) return no;
  if (mine && c.by.kind == principal_kind::nobody)
    return problem(c.rq.has_field("Authorization") ? fault::forbidden : fault::unauthenticated,
                   c.rq.request_id);
  if (mine) wish.by = c.by;
  if (no = read_limit(c.rq, query, wish.limit); no) return no;
  const auto after =
    cursor ? c.ctx.shared->cursors.decode(wish.by.id, *cursor) : std::optional{aggregate_id{}};
  if (!after) return problem(fault::invalid_cursor, c.rq.request_id);
  wish.after = *after;
  return std::nullopt;
}

awaitable<response> list_page(call c) {
  list_events wish;
  if (auto no = read_list_request(c, wish)) co_return std::move(*no);
  const auto scope = wish.by.id;
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  append_event_list(answer.body, got.reply.events, got.reply.more, [&](const event_view& last) {
    return c.ctx.shared->cursors.encode(scope, last.event.aggregate);
  });
  co_return answer;
}

// -- one event

response event_answer(const event_reply& reply) {
  response answer;
  append_event(answer.body, reply.event);
  return answer;
}

awaitable<response> read_event(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_event{{c.id, c.by}, c.who});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return event_answer(got.reply);
}

std::optional<response> read_patch(const call& c, patch_event& wish) {
  wish.note.detail = c.rq.body;
  return read_json(c.rq, body_need::required, [&](object_reader& body) {
    auto& patch = wish.patch;
    read_settings(body, patch, settings_api::events);
    read_questions(body, patch);
    check_time_zone(body, patch);
    check_challenge(body, patch, c.ctx);
    wish.note.reason = read_reason(body);
    body.objects("ticket_types", types_count, [&patch](object_reader& type) {
      const auto id = type.id("id");
      if (!type.has("id")) require_new_type(type);
      ticket_type_patch t;
      read_settings(type, t);
      t.values.id = id.value;
      patch.ticket_types.push_back(std::move(t));
    });
  });
}

awaitable<response> change_settings(call c) {
  patch_event wish{{c.id, c.by}, {}, {}};
  if (auto no = read_patch(c, wish)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return event_answer(got.reply);
}

template <event_trigger Trigger>
awaitable<response> turn(call c) {
  turn_event wish{{c.id, c.by}, {}, Trigger};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return event_answer(got.reply);
}

awaitable<response> rotate_ticket_keys(call c) {
  renew_ticket_keys wish{{c.id, c.by}, {}};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return event_answer(got.reply);
}

awaitable<response> read_stats(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_stats{{c.id, c.by}});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  answer.body = stats_text(got.reply.stats);
  co_return answer;
}

} // namespace

std::span<const route> event_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/events", for_managers<create_draft>},
    {get, "/events", for_anybody_or_persons<list_page, query_use::own>},
    {get, "/events/{id}", for_anybody_or_persons<read_event>},
    {patch, "/events/{id}", for_managers<change_settings>},
    {get, "/events/{id}/stats", for_managers<read_stats>},
    {post, "/events/{id}/event-tickets/rotate-keys", for_managers<rotate_ticket_keys>},
    {post, "/events/{id}/activate", for_managers<turn<event_trigger::activate>>},
    {put, "/events/{id}/activate", for_managers<turn<event_trigger::activate>>},
    {post, "/events/{id}/pause", for_managers<turn<event_trigger::pause>>},
    {put, "/events/{id}/pause", for_managers<turn<event_trigger::pause>>},
    {post, "/events/{id}/resume", for_managers<turn<event_trigger::resume>>},
    {put, "/events/{id}/resume", for_managers<turn<event_trigger::resume>>},
    {post, "/events/{id}/end", for_managers<turn<event_trigger::end>>},
    {put, "/events/{id}/end", for_managers<turn<event_trigger::end>>},
    {post, "/events/{id}/cancel", for_managers<turn<event_trigger::cancel>>},
    {put, "/events/{id}/cancel", for_managers<turn<event_trigger::cancel>>},
  };
  return table;
}

} // namespace fq::net
