// SPDX-License-Identifier: Apache-2.0
// Organizers' rules about customers, by e-mail address: priority, invitations, block lists. Also the
// tenant's notice routing.
#include "domain/delivery/notice_routing.hpp"
#include "domain/delivery/outbox.hpp"
#include "domain/line/queue.hpp"
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/key_directory.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/json_out.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace fq::net {
namespace {

namespace json = boost::json;

response json_answer(const json::value& body) { return {.status = 200, .body = json::serialize(body)}; }
response count_answer(std::uint64_t count) { return json_answer(json::object{{"count", count}}); }

response ids_answer(const std::vector<customer_id>& customers) {
  json::array ids;
  for (const auto& customer : customers) ids.push_back(json::value(to_string(customer)));
  return json_answer(json::object{{"customer_ids", std::move(ids)}});
}

/// Lower case, without duplicates, in the order sent.
std::vector<std::string> read_emails(object_reader& body) {
  body.require("emails");
  auto emails = body.texts("emails", emails_count, email_size);
  if (!std::ranges::all_of(emails, is_email)) body.reject("emails", "Must be e-mail addresses.");
  std::vector<std::string> once;
  for (const auto& email : emails)
    if (auto lower = lower_email(email); std::ranges::find(once, lower) == once.end())
      once.push_back(std::move(lower));
  return once;
}

/// The audit log has only counts of customers, no addresses.
std::string count_detail(std::size_t count) { return json::serialize(json::object{{"count", count}}); }

/// Sends `wish` to the event's owner with the customers of these addresses; answers with their number.
template <class Wish>
awaitable<response> send_for(call c, find_customers people, Wish wish) {
  auto found = co_await ask(c.ctx, c.ctx.accounts, std::move(people));
  if (auto no = refused(c.rq, found)) co_return std::move(*no);
  wish.customers = std::move(found.reply.customers);
  if constexpr (requires { wish.languages; }) wish.languages = std::move(found.reply.languages);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return count_answer(got.reply.count);
}

// -- priority

/// {emails: [...]}: with or without an account.
template <bool IsPreferred>
awaitable<response> set_vips(call c) {
  find_customers people{c.by.tenant, {}};
  set_priorities wish{{c.id, c.by}, {}, {}, {IsPreferred, priority_vip}};
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    people.emails = read_emails(body);
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  wish.note.detail =
    json::serialize(json::object{{"count", people.emails.size()}, {"preferred", IsPreferred}});
  auto sending = send_for(c, std::move(people), std::move(wish));
  co_return co_await std::move(sending);
}

awaitable<response> read_vips(call c) {
  find_priorities wish{{c.id, c.by}};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return ids_answer(got.reply.customers);
}

// -- invitations

awaitable<response> invite(call c) {
  find_customers people{c.by.tenant, {}};
  invite_customers wish{{c.id, c.by}, {}, {}, {}, {}, {}};
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    people.emails = read_emails(body);
    body.require("ticket_type_id");
    wish.wish.ticket_type = body.id("ticket_type_id").value;
    const auto quantity = body.number<std::uint32_t>("quantity", quantity_range);
    wish.wish.quantity = quantity.given ? quantity.value : 1;
    const auto until = body.time_or_null("valid_until");
    wish.wish.valid_until = until.given ? until.value : never;
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  wish.note.detail = count_detail(people.emails.size());
  wish.emails = people.emails;
  auto sending = send_for(c, std::move(people), std::move(wish));
  co_return co_await std::move(sending);
}

awaitable<response> withdraw(call c) {
  find_customers people{c.by.tenant, {}};
  withdraw_invitations wish{{c.id, c.by}, {}, {}};
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    people.emails = read_emails(body);
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  wish.note.detail = count_detail(people.emails.size());
  auto sending = send_for(c, std::move(people), std::move(wish));
  co_return co_await std::move(sending);
}

json::object invitation_object(const invitations_reply& reply, std::size_t i) {
  const auto& row = reply.invitations[i];
  const auto& type = reply.ticket_types[i];
  return {{"ticket_type_id", to_string(type.id)},
          {"name", type.name},
          {"price", type.price},
          {"currency", reply.currency},
          {"quantity", row.quantity},
          {"left", reply.left[i]},
          {"valid_until", time_or_null(row.valid_until)}};
}

awaitable<response> read_invitations(call c) {
  page_wish page;
  if (auto no = read_page(c.rq, page)) co_return std::move(*no);
  find_invitations wish{{c.id, c.by}, {}, page.before, page.limit};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  json::array rows;
  for (std::size_t i = 0; i < got.reply.invitations.size(); ++i) {
    auto row = invitation_object(got.reply, i);
    row["customer_id"] = to_string(got.reply.invitations[i].customer);
    rows.push_back(std::move(row));
  }
  const auto next =
    got.reply.more ? json::value(to_string(got.reply.invitations.back().customer)) : json::value(nullptr);
  co_return json_answer(json::object{{"items", std::move(rows)}, {"next_cursor", next}});
}

awaitable<response> read_own_invitation(call c) {
  find_invitations wish{{c.id, {}}, c.who, {}, 1};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return json_answer(invitation_object(got.reply, 0));
}

// -- block lists

/// Answers after this node's events were notified; other nodes follow within seconds.
awaitable<response> when_seen(call c, response answer) {
  if (c.ctx.directory) co_await ask(c.ctx, c.ctx.directory, refresh_directory{});
  co_return answer;
}

awaitable<response> block(call c) {
  block_customers wish{c.by, {}, {}, false};
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    wish.emails = read_emails(body);
    wish.includes_ended = body.flag("include_ended").value;
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  auto seeing = when_seen(c, ids_answer(got.reply.customers));
  co_return co_await std::move(seeing);
}

awaitable<response> unblock(call c) {
  unblock_customer wish{c.by, {}, c.id};
  if (auto no = read_json(c.rq, body_need::optional,
                          [&](object_reader& body) { wish.note.reason = read_reason(body); }))
    co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  auto seeing = when_seen(c, {.status = 204, .content_type = {}});
  co_return co_await std::move(seeing);
}

awaitable<response> read_blocks(call c) {
  page_wish page;
  if (auto no = read_page(c.rq, page)) co_return std::move(*no);
  find_blocks wish{c.by, page.before, page.limit};
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  json::array rows;
  for (const auto& row : got.reply.blocks)
    rows.push_back(json::object{{"customer_id", to_string(row.customer)},
                                {"reason", row.reason},
                                {"include_ended", row.includes_ended},
                                {"created_at", time_or_null(row.created_at)}});
  const auto next =
    got.reply.more ? json::value(to_string(got.reply.blocks.back().customer)) : json::value(nullptr);
  co_return json_answer(json::object{{"items", std::move(rows)}, {"next_cursor", next}});
}

// -- notice routing

/// Whether a tenant can route the topic: user.updated goes to the endpoints that name it, and nowhere else.
bool is_routed(std::string_view topic) {
  return topic != topic::user_updated && std::ranges::find(told_topics, topic) != told_topics.end();
}

/// It applies to all of a tenant's events, so an organizer may not.
constexpr char routing_is_for_operators[] =
  "By which channels a tenant's notices go needs an operator's token.";

std::string setting_of(tenant_id tenant) {
  return std::string{notice_routing_setting} + std::to_string(static_cast<std::uint32_t>(tenant));
}

response routing_answer(const notice_routing& routing) {
  json::array routes;
  for (const auto& topic : told_topics) {
    if (!is_routed(topic)) continue;
    json::array media;
    for (const auto m : all_media)
      if (routing.goes(topic, m)) media.push_back(json::value(to_string(m)));
    routes.push_back(json::object{{"topic", topic}, {"channels", std::move(media)}});
  }
  return json_answer(json::object{{"routes", std::move(routes)}});
}

awaitable<response> read_routing(call c) {
  const auto stored = c.ctx.shared->keys.get();
  const auto text = stored ? stored->setting(setting_of(c.by.tenant)) : std::nullopt;
  co_return routing_answer(notice_routing::parse(text.value_or("")));
}

/// Replaces the whole routing: topics that are not listed use all channels again.
awaitable<response> change_routing(call c) {
  notice_routing routing;
  change_setting wish{c.by, {setting_of(c.by.tenant), {}, {}}, {std::string{c.rq.body}, {}}};
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    body.require("routes");
    body.objects("routes", routed_topics_count, [&routing](object_reader& route) {
      route.require("topic");
      route.require("channels");
      const auto topic = route.text("topic", topic_size);
      if (topic.given && !is_routed(topic.value))
        route.reject("topic", "Must be a topic that events tell of.");
      if (routing.chosen().contains(topic.value)) route.reject("topic", "Is given twice.");
      routing.start(topic.value);
      for (const auto& name : route.texts("channels", media_count, topic_size)) {
        const auto m = parse_medium(name);
        if (!m)
          route.reject("channels", "Must be mail, push, webhook or bus.");
        else
          routing.add(topic.value, *m);
      }
    });
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  wish.setting.value = routing.text();
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  auto seeing = when_seen(c, routing_answer(routing));
  co_return co_await std::move(seeing);
}

} // namespace

std::span<const route> people_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/events/{id}/vips", for_managers<set_vips<true>>, emails_body_max},
    {get, "/events/{id}/vips", for_managers<read_vips>},
    {del, "/events/{id}/vips", for_managers<set_vips<false>>, emails_body_max},
    {post, "/events/{id}/invitations", for_managers<invite>, emails_body_max},
    {get, "/events/{id}/invitations", for_managers<read_invitations, query_use::own>},
    {del, "/events/{id}/invitations", for_managers<withdraw>, emails_body_max},
    {get, "/events/{id}/invitations/me", for_customers<read_own_invitation>},
    {post, "/blocked-customers", for_managers<block>, emails_body_max},
    {get, "/blocked-customers", for_managers<read_blocks, query_use::own>},
    {del, "/blocked-customers/{customer_id}", for_managers<unblock, query_use::foreign_id>},
    {get, "/notice-routes", for_operators<read_routing, routing_is_for_operators>},
    {put, "/notice-routes", for_operators<change_routing, routing_is_for_operators>},
  };
  return table;
}

} // namespace fq::net
