// SPDX-License-Identifier: Apache-2.0
// Notices: devices of an entry or a customer, webhook endpoints of a tenant or organizer, and the delivery
// log. Reads and writes the ledger directly, without an event's owner.
#include "crypto/webhook_signature.hpp"
#include "domain/delivery/delivery.hpp"
#include "domain/delivery/outbox.hpp"
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/preferences.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/delivery_page.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/notice_codec.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <functional>

namespace fq::net {
namespace {

namespace json = boost::json;

constexpr std::string_view test_topic = "webhook.test";

uuid fresh_id(const call& c) {
  return c.ctx.environment.make_id(c.ctx.environment.wall_now(), accounts_aggregate);
}

// -- devices

bool is_on(const config::push_options& push, channel way) {
  switch (way) {
    case channel::fcm: return push.fcm_is_on();
    case channel::apns: return push.apns_is_on();
    case channel::ntfy: return !push.ntfy_url.empty();
    case channel::webhook: break;
  }
  return false;
}

std::optional<response> read_device(const call& c, device_row& device) {
  return read_json(c.rq, body_need::required, [&](object_reader& body) {
    body.require("platform");
    body.require("token");
    const auto platform = body.text("platform", {1, 16});
    const auto way = parse_platform(platform.value);
    if (platform.given && !way)
      body.reject("platform", "Must be fcm, apns or ntfy.");
    else if (way && !is_on(c.ctx.options.push, *way))
      body.reject("platform", "This server does not send there: it has no " + platform.value + " account.");
    device.way = way.value_or(channel::fcm);
    const auto token = body.text("token", device_token_size);
    if (const auto wrong = token.given && way ? wrong_with_token(*way, token.value) : ""; !wrong.empty())
      body.reject("token", std::string{wrong});
    device.token = token.value;
    device.is_sandbox = body.flag("sandbox").value;
    const auto tag = body.text("language", {2, 2});
    const auto in = tag.given ? language_of(tag.value) : preferred_language(c.rq.field("Accept-Language"));
    if (tag.given && !in) body.reject("language", "Must be en, fr, es, hr or ar.");
    device.language = in.value_or(language::en);
  });
}

const device_row* find_fresh(const std::vector<device_row>& known, const device_row& device) {
  const auto is_it = [&](const device_row& d) {
    return d.way == device.way && d.token == device.token && d.is_sandbox == device.is_sandbox
           && d.language == device.language && device.registered_at < d.registered_at + fresh_for;
  };
  const auto found = std::ranges::find_if(known, is_it);
  return found == known.end() ? nullptr : &*found;
}

awaitable<response> add_device(call c, uuid holder) {
  device_row device;
  if (auto no = read_device(c, device)) co_return std::move(*no);
  device.id = fresh_id(c);
  device.holder = holder;
  device.registered_at = c.ctx.environment.wall_now();
  auto known = co_await ask(c.ctx, c.ctx.notices, list_devices{holder});
  if (auto no = refused(c.rq, known)) co_return std::move(*no);
  if (const auto* same = find_fresh(*known.reply.devices, device))
    co_return response{.status = 201, .body = id_text("device_id", same->id)};
  register_device wish{std::move(device)}; // a variable: g++ 12 destroys parts of such a temporary twice
  auto got = co_await ask(c.ctx, c.ctx.notices, std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 201, .body = id_text("device_id", got.reply.id)};
}

/// Only while the entry is live: its token alone may be old.
awaitable<response> add_device_of_ticket(call c) {
  auto place = co_await ask_event(c.ctx, owner_of(c.id), find_ticket{c.id});
  if (auto no = refused(c.rq, place)) co_return std::move(*no);
  if (!is_live(place.reply.entry.status)) co_return problem(refusal{reason::not_in_queue}, c.rq.request_id);
  auto adding = add_device(c, c.id);
  co_return co_await adding;
}

awaitable<response> add_own_device(call c) { return add_device(c, c.who); }

awaitable<response> show_devices(call c, uuid holder) {
  auto got = co_await ask(c.ctx, c.ctx.notices, list_devices{holder});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 200, .body = devices_text(*got.reply.devices)};
}

awaitable<response> show_devices_of_ticket(call c) { return show_devices(c, c.id); }
awaitable<response> show_own_devices(call c) { return show_devices(c, c.who); }

awaitable<response> drop_device(call c, uuid holder, uuid device) {
  auto got = co_await ask(c.ctx, c.ctx.notices, remove_device{holder, device});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

awaitable<response> drop_device_of_ticket(call c) { return drop_device(c, c.id, c.part); }
awaitable<response> drop_own_device(call c) { return drop_device(c, c.who, c.id); }

// -- the delivery log

/// Reads piece by piece, so that other requests to the ledger do not wait for all of them.
awaitable<response> show_log(call c, delivery_query query) {
  delivery_page page(std::move(query));
  while (auto piece = page.next()) {
    list_deliveries wish{*piece};
    auto got = co_await ask(c.ctx, c.ctx.notices, std::move(wish));
    if (auto no = refused(c.rq, got)) co_return std::move(*no);
    page.look_at(std::move(got.reply.rows), piece->limit);
  }
  co_return response{.status = 200, .body = deliveries_text(page)};
}

/// Targets that a route's log covers; determines its query parameters.
enum class log_of : std::uint8_t { one_target, many_targets };

std::optional<response> read_log_request(const call& c, log_of which, delivery_query& filter) {
  std::optional<response> no;
  const auto query = which == log_of::one_target
                       ? query_parameters::read(c.rq, {"limit", "cursor", "state"}, no)
                       : query_parameters::read(c.rq, {"limit", "cursor", "channel", "state", "target"}, no);
  if (no) return no;
  const auto wrong = [&](std::string_view what) {
    return problem(fault::invalid_parameter, c.rq.request_id, what);
  };
  if (const auto text = query.find("limit")) {
    const auto limit = parse_limit(*text);
    if (!limit) return wrong("limit must be a positive number.");
    filter.limit = *limit;
  }
  if (const auto text = query.find("cursor"); text && !read_log_cursor(*text, filter))
    return wrong("cursor must be the next_cursor of the page before.");
  if (const auto text = query.find("channel")) {
    filter.way =
      *text == to_string(channel::webhook) ? std::optional{channel::webhook} : parse_platform(*text);
    if (!filter.way) return wrong("channel must be webhook, fcm, apns or ntfy.");
  }
  if (const auto text = query.find("state")) {
    filter.state = parse_delivery_state(*text);
    if (!filter.state) return wrong("state must be pending, delivered, expired, failed or dropped.");
  }
  if (const auto text = query.find("target")) {
    const auto target = parse_uuid(*text);
    if (!target) return wrong("target must be the id of a device or a webhook endpoint.");
    filter.target = *target;
  }
  return std::nullopt;
}

awaitable<response> show_log_of_holder(call c, uuid holder) {
  delivery_query filter;
  if (auto no = read_log_request(c, log_of::many_targets, filter)) co_return std::move(*no);
  filter.holder = holder;
  auto showing = show_log(c, filter);
  co_return co_await showing;
}

awaitable<response> show_log_of_ticket(call c) { return show_log_of_holder(c, c.id); }
awaitable<response> show_own_log(call c) { return show_log_of_holder(c, c.who); }

// -- webhook endpoints

/// An organizer sees its own endpoints, a backend all of the tenant.
bool is_theirs(const principal& by, const webhook_endpoint_row& endpoint) {
  return by.kind == principal_kind::operate || endpoint.organizer == by.id;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& w : words) out.append(out.empty() ? "" : " ").append(w);
  return out;
}

void read_endpoint_body(object_reader& body, const call& c, webhook_endpoint_row& endpoint, bool is_new) {
  if (is_new) body.require("url");
  const auto url = body.text("url", url_size);
  if (url.given) {
    if (const auto wrong = wrong_with_url(url.value, c.ctx.shared->webhook_urls); !wrong.empty())
      body.reject("url", "No webhook is sent there: " + std::string{wrong} + ".");
    endpoint.url = url.value;
  }
  const auto topics = body.texts("topics", topic_count, topic_size);
  for (const auto& t : topics)
    if (std::ranges::find(told_topics, t) == told_topics.end())
      body.reject("topics", "There is no topic " + t + "; docs/events.md has them all.");
  if (!endpoint.organizer.is_nil() && std::ranges::find(topics, topic::user_updated) != topics.end())
    body.reject("topics", "Only an operator can receive user.updated.");
  if (body.has("topics")) endpoint.topics = joined(topics);
  if (const auto contact = body.text("contact", {0, 254}); contact.given) {
    if (!contact.value.empty() && !is_email(contact.value))
      body.reject("contact", "Must be an e-mail address, or empty.");
    endpoint.contact = contact.value;
  }
  if (const auto enabled = body.flag("enabled"); enabled.given) {
    endpoint.is_enabled = enabled.value;
    endpoint.off_reason = enabled.value ? "" : "owner";
  }
}

std::string secret_of(const call& c, const webhook_endpoint_row& endpoint) {
  return webhook_secret(c.ctx.shared->webhook_key, endpoint.id, endpoint.secret_no);
}

/// For the audit log: without the URL's path, which may hold a secret, and without the contact's address.
std::string deed_detail(const webhook_endpoint_row& endpoint) {
  const std::string_view url = endpoint.url;
  const auto host = url.substr(std::min(url.size(), url.find("//") + 2));
  json::object detail{{"host", host.substr(0, host.find_first_of("/?"))},
                      {"topics", endpoint.topics},
                      {"enabled", endpoint.is_enabled}};
  return json::serialize(detail);
}

/// Writes the audit row before the change. Returns the problem to answer with if that fails.
awaitable<std::optional<response>> audit(call c, std::string_view action,
                                         const webhook_endpoint_row& endpoint) {
  record_deed deed{c.by, std::string{action}, endpoint.id, {deed_detail(endpoint), {}}};
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(deed));
  co_return refused(c.rq, got);
}

awaitable<response> add_endpoint(call c) {
  webhook_endpoint_row endpoint;
  endpoint.id = fresh_id(c);
  endpoint.tenant = c.by.tenant;
  if (c.by.kind == principal_kind::organizer) endpoint.organizer = c.by.id;
  endpoint.created_at = endpoint.updated_at = c.ctx.environment.wall_now();
  if (auto no = read_json(c.rq, body_need::required,
                          [&](object_reader& body) { read_endpoint_body(body, c, endpoint, true); }))
    co_return std::move(*no);
  auto auditing = audit(c, "endpoint.create", endpoint);
  if (auto no = co_await std::move(auditing)) co_return std::move(*no);
  store_endpoint wish{endpoint};
  auto got = co_await ask(c.ctx, c.ctx.notices, std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer{.status = 201, .body = endpoint_text(endpoint, secret_of(c, endpoint))};
  answer.fields.emplace_back("Location", location(c.ctx, "/webhook-endpoints/", endpoint.id));
  co_return answer;
}

awaitable<response> show_endpoints(call c) {
  auto got = co_await ask(c.ctx, c.ctx.notices, list_endpoints{c.by.tenant});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  auto& endpoints = got.reply.endpoints;
  std::erase_if(endpoints, [&](const webhook_endpoint_row& e) { return !is_theirs(c.by, e); });
  co_return response{.status = 200, .body = endpoints_text(endpoints)};
}

/// The endpoint in the path, or the problem to answer with.
struct endpoint_found {
  std::optional<response> no;
  webhook_endpoint_row endpoint;
};

awaitable<endpoint_found> find_endpoint(call c) {
  endpoint_found found;
  auto got = co_await ask(c.ctx, c.ctx.notices, list_endpoints{c.by.tenant});
  found.no = refused(c.rq, got);
  if (found.no) co_return found;
  const auto known = std::ranges::find(got.reply.endpoints, c.id, &webhook_endpoint_row::id);
  if (known == got.reply.endpoints.end() || !is_theirs(c.by, *known))
    found.no = problem(fault::not_found, c.rq.request_id);
  else
    found.endpoint = std::move(*known);
  co_return found;
}

using endpoint_step = awaitable<response> (*)(call, webhook_endpoint_row);

/// Runs the step of a route whose path names an endpoint.
template <endpoint_step Run>
awaitable<response> at_endpoint(call c) {
  auto finding = find_endpoint(c);
  auto found = co_await finding;
  if (found.no) co_return std::move(*found.no);
  auto running = Run(c, std::move(found.endpoint));
  co_return co_await running;
}

awaitable<response> show_endpoint(call, webhook_endpoint_row endpoint) {
  return ready(response{.status = 200, .body = endpoint_text(endpoint)});
}

/// Changes the endpoint, or returns the problem to answer with.
using endpoint_edit = std::function<std::optional<response>(webhook_endpoint_row&)>;

/// Reads, changes and stores the endpoint. Starts again after a concurrent edit, so that no edit overwrites
/// another.
awaitable<response> edit_endpoint(call c, std::string_view action, endpoint_edit change, bool tells_secret) {
  for (int tries = 0; tries < edit_tries; ++tries) {
    auto finding = find_endpoint(c);
    auto found = co_await finding;
    if (found.no) co_return std::move(*found.no);
    auto& endpoint = found.endpoint;
    if (auto no = change(endpoint)) co_return std::move(*no);
    mark_changed(endpoint, c.ctx.environment.wall_now());
    if (tries == 0) {
      auto auditing = audit(c, action, endpoint);
      if (auto no = co_await std::move(auditing)) co_return std::move(*no);
    }
    store_endpoint wish{endpoint};
    auto got = co_await ask(c.ctx, c.ctx.notices, std::move(wish));
    const bool was_beaten =
      !got.error
      && got.reply.no.why == reason::invalid_field; // the store's only refusal of an existing endpoint
    if (was_beaten) continue;
    if (auto no = refused(c.rq, got)) co_return std::move(*no);
    co_return response{
      .status = 200, .body = endpoint_text(endpoint, tells_secret ? secret_of(c, endpoint) : std::string{})};
  }
  co_return problem(fault::edit_conflict, c.rq.request_id);
}

awaitable<response> change_endpoint(call c) {
  const auto change = [c](webhook_endpoint_row& endpoint) {
    return read_json(c.rq, body_need::required,
                     [&](object_reader& body) { read_endpoint_body(body, c, endpoint, false); });
  };
  return edit_endpoint(c, "endpoint.change", change, false);
}

awaitable<response> renew_secret(call c) {
  bool ends_previous = false;
  if (auto no = read_json(c.rq, body_need::optional,
                          [&](object_reader& body) { ends_previous = body.flag("end_previous").value; }))
    return ready(std::move(*no));
  const auto change = [c, ends_previous](webhook_endpoint_row& endpoint) -> std::optional<response> {
    if (rotate_secret(endpoint, ends_previous, c.ctx.environment.wall_now())) return std::nullopt;
    return problem(fault::secret_overlap, c.rq.request_id,
                   "The secret before this one signs until " + rfc3339(endpoint.previous_until)
                     + ". Rotate after that; with end_previous the new secret signs alone at once.");
  };
  return edit_endpoint(c, ends_previous ? "endpoint.replace_secret" : "endpoint.rotate_secret", change, true);
}

awaitable<response> drop_endpoint(call c, webhook_endpoint_row endpoint) {
  auto auditing = audit(c, "endpoint.remove", endpoint);
  if (auto no = co_await std::move(auditing)) co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.notices, remove_endpoint{c.by.tenant, c.id});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

/// Sends a payload marked as a test. Only one at a time, so that tests do not fill the endpoint's queue or
/// the tenant's share of deliveries.
awaitable<response> test_endpoint(call c, webhook_endpoint_row) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  const auto now = c.ctx.environment.wall_now();
  delivery_row row{.target = c.id,
                   .notice = fresh_id(c),
                   .way = channel::webhook,
                   .tenant = c.by.tenant,
                   .holder = c.id,
                   .topic = std::string{test_topic},
                   .payload = "{}",
                   .created_at = now,
                   .expires_at = never,
                   .state = delivery_state::pending,
                   .due_at = now,
                   .attempts = 0,
                   .status = 0,
                   .reason = {},
                   .ended_at = never};
  response answer{.status = 202, .body = id_text("delivery_id", row.notice)};
  store_deliveries wish{std::make_shared<const std::vector<delivery_row>>(1, std::move(row)), true};
  auto got = co_await ask(c.ctx, c.ctx.notices, std::move(wish));
  if (!got.error && got.reply.no.why == reason::invalid_transition)
    co_return problem(
      fault::test_pending, c.rq.request_id,
      "Its log says what comes of it; another may follow when it has ended, or after a minute.");
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return answer;
}

awaitable<response> show_log_of_endpoint(call c, webhook_endpoint_row) {
  delivery_query filter;
  if (auto no = read_log_request(c, log_of::one_target, filter)) return ready(std::move(*no));
  filter.tenant = c.by.tenant;
  filter.target = c.id;
  return show_log(c, filter);
}

awaitable<response> replay(call c, webhook_endpoint_row) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.notices, replay_delivery{c.by.tenant, c.id, c.part});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 202, .body = "{}"};
}

constexpr char log_is_for_operators[] =
  "The log of a whole tenant needs an operator's token; an organizer reads that of its endpoints.";

awaitable<response> show_tenant_log(call c) {
  delivery_query filter;
  if (auto no = read_log_request(c, log_of::many_targets, filter)) co_return std::move(*no);
  filter.tenant = c.by.tenant;
  auto showing = show_log(c, filter);
  co_return co_await showing;
}

} // namespace

std::span<const route> notice_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/tickets/{id}/devices", for_ticket_holders<add_device_of_ticket>},
    {get, "/tickets/{id}/devices", for_ticket_holders<show_devices_of_ticket>},
    {del, "/tickets/{id}/devices/{device_id}", for_ticket_holders<drop_device_of_ticket>},
    {get, "/tickets/{id}/deliveries", for_ticket_holders<show_log_of_ticket, query_use::own>},
    {post, "/customers/me/devices", for_customers<add_own_device>},
    {get, "/customers/me/devices", for_customers<show_own_devices>},
    {del, "/customers/me/devices/{device_id}", for_customers<drop_own_device, query_use::foreign_id>},
    {get, "/customers/me/deliveries", for_customers<show_own_log, query_use::own>},
    {post, "/webhook-endpoints", for_managers<add_endpoint>},
    {get, "/webhook-endpoints", for_managers<show_endpoints>},
    {get, "/webhook-endpoints/{endpoint_id}",
     for_managers<at_endpoint<show_endpoint>, query_use::foreign_id>},
    {patch, "/webhook-endpoints/{endpoint_id}", for_managers<change_endpoint, query_use::foreign_id>},
    {del, "/webhook-endpoints/{endpoint_id}",
     for_managers<at_endpoint<drop_endpoint>, query_use::foreign_id>},
    {post, "/webhook-endpoints/{endpoint_id}/secret", for_managers<renew_secret, query_use::foreign_id>},
    {post, "/webhook-endpoints/{endpoint_id}/test",
     for_managers<at_endpoint<test_endpoint>, query_use::foreign_id>},
    {get, "/webhook-endpoints/{endpoint_id}/deliveries",
     for_managers<at_endpoint<show_log_of_endpoint>, query_use::own_foreign_id>},
    {post, "/webhook-endpoints/{endpoint_id}/deliveries/{notice_id}/replay",
     for_managers<at_endpoint<replay>, query_use::foreign_id>},
    {get, "/deliveries", for_operators<show_tenant_log, log_is_for_operators, query_use::own>},
  };
  return table;
}

} // namespace fq::net
