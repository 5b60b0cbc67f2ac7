// SPDX-License-Identifier: Apache-2.0
// Check-in: lists and devices for organizers; scans, the state of a list and search for devices at gates.
#include "crypto/digest.hpp"
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/device_token.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/checkin_codec.hpp"
#include "net/wire/json_in.hpp"
#include "print/qr/qr_code.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>

namespace fq::net {
namespace {

namespace json = boost::json;

response gate_answer(std::string body, unsigned status = 200) {
  return {.status = status, .body = std::move(body)};
}

// -- organizers: lists

awaitable<response> show_checkin(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_checkin{{c.id, c.by}});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return gate_answer(checkin_text(got.reply));
}

std::optional<response> read_list(const call& c, set_checkin_list& wish, bool is_new) {
  wish.note.detail = c.rq.body;
  return read_json(c.rq, body_need::required, [&](object_reader& body) {
    auto& p = wish.patch;
    if (is_new) body.require("name");
    p.name = body.text("name", checkin_name_size);
    p.ticket_types = {body.has("ticket_type_ids"), body.ids("ticket_type_ids", {0, types_count.high})};
    p.gates = {body.has("gates"), body.texts("gates", gates_count, checkin_name_size)};
    const auto mode = body.text("mode", kind_size);
    const auto parsed = parse_checkin_mode(mode.value);
    if (mode.given && !parsed) body.reject("mode", "Must be entry or entry_and_exit.");
    p.mode = {mode.given && parsed, parsed.value_or(checkin_mode::entry)};
    wish.note.reason = read_reason(body);
  });
}

awaitable<response> add_list(call c) {
  set_checkin_list wish{{c.id, c.by}, {}, {}};
  if (auto no = read_list(c, wish, true)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  auto answer = gate_answer(checkin_list_text(got.reply), 201);
  answer.fields.emplace_back("Location", location(c.ctx, "/events/", c.id) + "/checkin/lists/"
                                           + to_string(got.reply.changed));
  co_return answer;
}

awaitable<response> change_list(call c) {
  set_checkin_list wish{{c.id, c.by}, {}, {}};
  if (auto no = read_list(c, wish, false)) co_return std::move(*no);
  wish.patch.id = c.part;
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return gate_answer(checkin_list_text(got.reply));
}

awaitable<response> remove_list(call c) {
  set_checkin_list wish{{c.id, c.by}, {}, {}};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  wish.patch.id = c.part;
  wish.patch.remove = true;
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

awaitable<response> list_conflicts(call c) {
  page_wish page;
  if (auto no = read_page(c.rq, page)) co_return std::move(*no);
  list_checkin_conflicts wish{{c.id, c.by}, page.before, page.limit};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return gate_answer(checkin_conflicts_text(got.reply));
}

// -- organizers: devices

json::object qr_object(const std::string& content) {
  const auto code = print::qr_code_of(content, print::qr_surface::screen);
  std::string path;
  for (const auto& run : code.runs) {
    const auto width = std::to_string(run.length);
    path += "M" + std::to_string(run.x) + "," + std::to_string(run.y) + "h" + width + "v1h-" + width + "z";
  }
  return {{"quiet_zone", print::qr_quiet_zone}, {"size", code.size}, {"path", path}};
}

/// The token is shown once: the ledger has its hash only.
awaitable<response> issue_device(call c) {
  set_checkin_device wish{{c.id, c.by}, {}, {}};
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    body.require("label");
    wish.patch.label = body.text("label", checkin_name_size).value;
    wish.patch.gate = body.text_or_null("gate", checkin_name_size).value;
    wish.patch.lists = body.ids("list_ids", gates_count);
    const auto may_force = body.flag("may_force");
    wish.patch.may_force = may_force.given && may_force.value;
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  wish.note.detail = c.rq.body;
  const auto secret = c.ctx.shared->gate_secrets.issue(owner_of(c.id), c.ctx.environment);
  wish.patch.secret_hash = device_secret_hash(secret);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  auto device = checkin_device_object(got.reply);
  const auto token = device_token(got.reply.changed, secret);
  // In the fragment, so that it is in no request and in no log.
  const auto url = c.ctx.options.http.public_url + "/scan#" + token;
  device["token"] = token;
  device["scan_url"] = url;
  device["qr"] = qr_object(url);
  auto answer = gate_answer(json::serialize(device), 201);
  answer.fields.emplace_back("Location", location(c.ctx, "/events/", c.id) + "/checkin/devices/"
                                           + to_string(got.reply.changed));
  co_return answer;
}

awaitable<response> revoke_device(call c) {
  set_checkin_device wish{{c.id, c.by}, {}, {}};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  wish.patch.id = c.part;
  wish.patch.revoke = true;
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

// -- devices

/// Who is refused keeps nothing of what the guard took from the address.
template <class Reply>
std::optional<response> refused_at_gate(const call& c, const answer<Reply>& got) {
  const bool is_absent = got.error && is(got.error, errc::absent);
  const bool is_unknown = is_absent || (!got.error && got.reply.no.why == reason::device_unknown);
  if (is_unknown) {
    c.ctx.shared->counts.unauthenticated.add();
    return problem(refusal{reason::device_unknown}, c.rq.request_id);
  }
  if (!is_known_device(c.ctx, c.rq, c.who)) give_back(c.ctx, c.rq, address_limit::webhook);
  return refused(c.rq, got);
}

awaitable<response> show_gate(call c) {
  find_gate wish{*pass_of(c.rq)};
  auto got = co_await ask_event(c.ctx, owner_of(c.who), std::move(wish));
  if (auto no = refused_at_gate(c, got)) co_return std::move(*no);
  co_return gate_answer(gate_text(got.reply));
}

void read_scan(object_reader& body, presented_scan& scan) {
  auto& wish = scan.wish;
  for (const auto* name : {"nonce", "list_id"}) body.require(name);
  wish.id = body.id("nonce").value;
  wish.list = body.id("list_id").value;
  const auto code = body.text("code", ticket_code_size);
  const auto ticket = body.id("event_ticket_id");
  if (code.given == ticket.given) body.reject("code", "Give either code or event_ticket_id.");
  scan.code = code.value;
  wish.ticket = ticket.value;
  const auto at = body.time("at");
  if (at.given) wish.at = at.value;
  const auto type = body.text("type", kind_size);
  const auto parsed = parse_scan_type(type.value);
  if (type.given && !parsed) body.reject("type", "Must be entry or exit.");
  wish.type = parsed.value_or(scan_type::entry);
  const auto force = body.flag("force");
  wish.force = force.given && force.value;
  const auto passed = body.flag("passed");
  wish.passed = passed.given && passed.value;
  const auto refused = body.text("refused", status_size);
  const auto why = parse_scan_objection(refused.value);
  if (refused.given && !why) body.reject("refused", "Must be a reason of a refused scan.");
  if (refused.given && wish.passed) body.reject("refused", "A holder that has passed was not refused.");
  wish.refused = refused.given;
  wish.objection = why.value_or(scan_objection::none);
}

/// The guard took one for the request. A batch costs at most half of the limit: all of a low limit would
/// never be free.
std::optional<response> limit_scans(const call& c, const redeem_scans& wish) {
  auto& devices = c.ctx.shared->devices;
  const auto more = std::min<std::size_t>(wish.scans.size() - 1, devices.rule().quota / 2);
  return limit(c.ctx, c.rq, devices, limit_key(wish.by), static_cast<std::uint32_t>(more));
}

awaitable<response> redeem(call c) {
  redeem_scans wish{*pass_of(c.rq), {}};
  bool is_batch = false;
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    is_batch = body.objects("scans", scans_count,
                            [&](object_reader& scan) { read_scan(scan, wish.scans.emplace_back()); });
    if (!is_batch) read_scan(body, wish.scans.emplace_back());
  });
  if (no) co_return std::move(*no);
  if (auto late = limit_scans(c, wish)) co_return std::move(*late);
  auto got = co_await ask_event(c.ctx, owner_of(c.who), std::move(wish));
  if (auto refusal = refused_at_gate(c, got)) co_return std::move(*refusal);
  if (is_batch) co_return gate_answer(scans_text(got.reply));
  const auto& only = got.reply.scans.front();
  if (only.no != reason::none) co_return problem(refusal{only.no}, c.rq.request_id);
  co_return gate_answer(scan_text(got.reply));
}

awaitable<response> show_state(call c) {
  std::optional<response> no;
  const auto query = query_parameters::read(c.rq, {"since"}, no);
  const auto since = query.find("since");
  const auto version = since ? parse_version(*since) : gate_version{};
  if (!no && !version) no = problem(fault::invalid_cursor, c.rq.request_id);
  if (no) co_return std::move(*no);
  find_gate_state wish{*pass_of(c.rq), c.id, *version, gate_page_rows};
  auto got = co_await ask_event(c.ctx, owner_of(c.who), std::move(wish));
  if (auto refusal = refused_at_gate(c, got)) co_return std::move(*refusal);
  co_return gate_answer(gate_state_text(got.reply));
}

/// Not a query: a name belongs into no log.
awaitable<response> search_tickets(call c) {
  search_gate wish{*pass_of(c.rq), {}, {}};
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    for (const auto* name : {"list_id", "text"}) body.require(name);
    wish.list = body.id("list_id").value;
    wish.text = body.text("text", gate_search_size).value;
  });
  if (no) co_return std::move(*no);
  if (auto late = limit(c.ctx, c.rq, c.ctx.shared->gate_searches, limit_key(wish.by)))
    co_return std::move(*late);
  auto got = co_await ask_event(c.ctx, owner_of(c.who), std::move(wish));
  if (auto refusal = refused_at_gate(c, got)) co_return std::move(*refusal);
  co_return gate_answer(gate_tickets_text(got.reply));
}

} // namespace

std::span<const route> checkin_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/events/{id}/checkin", for_managers<show_checkin>},
    {get, "/events/{id}/checkin/conflicts", for_managers<list_conflicts, query_use::own>},
    {post, "/events/{id}/checkin/lists", for_managers<add_list>},
    {patch, "/events/{id}/checkin/lists/{list_id}", for_managers<change_list>},
    {del, "/events/{id}/checkin/lists/{list_id}", for_managers<remove_list>},
    {post, "/events/{id}/checkin/devices", for_managers<issue_device>},
    {del, "/events/{id}/checkin/devices/{device_id}", for_managers<revoke_device>},
    {get, "/checkin", for_devices<show_gate>},
    {post, "/checkin/redeem", for_devices<redeem>, redeem_body_max},
    {post, "/checkin/search", for_devices<search_tickets>},
    {get, "/checkin/{list_id}/state", for_devices<show_state, query_use::own>},
  };
  return table;
}

} // namespace fq::net
