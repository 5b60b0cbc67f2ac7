// SPDX-License-Identifier: Apache-2.0
// Reserved seats of an event: its plan, its map, and the organizer's changes. The event actor decides.
#include "domain/seats/hall.hpp"
#include "domain/seats/plan_text.hpp"
#include "net/api/limits.hpp"
#include "net/api/plan_files.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/view_codec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <memory>

namespace fq::net {
namespace {

constexpr std::array<std::string_view, 3> single_names{"strict", "when_needed", "off"}; ///< by single_rule

// -- the map

awaitable<response> show_seats(call c) {
  std::optional<response> no;
  const auto since = query_parameters::read(c.rq, {"since"}, no).find("since");
  if (no) co_return std::move(*no);
  find_seats wish{{c.id, c.by}};
  if (since) {
    const auto [end, failed] = std::from_chars(since->data(), since->data() + since->size(), wish.since);
    if (failed != std::errc{} || end != since->data() + since->size())
      co_return problem(fault::invalid_parameter, c.rq.request_id, "since: must be a version of the map");
  }
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 200, .body = std::move(got.reply.text)};
}

awaitable<response> change_seats(call c) {
  set_seats wish{{c.id, c.by}, {}, {}};
  wish.note.detail = c.rq.body;
  auto no = read_json(c.rq, body_need::required, [&wish](object_reader& body) {
    const auto singles = body.word("singles", single_names);
    wish.patch.singles = {singles.given, static_cast<std::uint8_t>(singles.value)};
    wish.patch.may_split = body.flag("split");
    wish.patch.accessible_for_all = body.flag("accessible_for_all");
    if (!wish.patch.has_rules()) body.require("seats");
    wish.patch.seats = body.texts("seats", changed_seats_count, seat_name_size);
    wish.patch.is_blocked = body.flag("blocked");
    wish.patch.ticket_type = body.id("ticket_type_id").value;
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 204, .content_type = {}};
}

// -- the plan

/// ?singles=, ?split= and ?accessible_for_all=.
std::optional<response> read_rules(const request& rq, set_seat_plan& wish) {
  std::optional<response> no;
  const auto query = query_parameters::read(rq, {"singles", "split", "accessible_for_all"}, no);
  if (no) return no;
  const auto singles = query.find("singles").value_or(single_names[0]);
  const auto found = std::ranges::find(single_names, singles);
  if (found == single_names.end())
    return problem(fault::invalid_parameter, rq.request_id, "singles: must be strict, when_needed or off");
  wish.singles = static_cast<std::uint8_t>(found - single_names.begin());
  wish.may_split = read_flag(rq, query, "split", no);
  if (!no) wish.accessible_for_all = read_flag(rq, query, "accessible_for_all", no);
  return no;
}

/// The event's ticket types with the names of the plan's.
std::vector<field_error> find_types(const seat_plan& plan, const event_view& event,
                                    std::vector<ticket_type_id>& types) {
  std::vector<field_error> errors;
  for (const auto& name : plan.ticket_types()) {
    const auto type = std::ranges::find(event.ticket_types, name, &ticket_type_row::name);
    if (type == event.ticket_types.end())
      errors.push_back({"ticket_types", "invalid", "The event has no ticket type " + name + "."});
    else
      types.push_back(type->id);
  }
  return errors;
}

/// As the owner decides: other people's files are not read.
bool is_manager_of(const event_row& event, const principal& by) {
  return event.tenant == by.tenant && (by.kind == principal_kind::operate || event.organizer == by.id);
}

awaitable<response> store_made(call c, set_seat_plan wish, std::function<made_plan()> make) {
  auto event = co_await ask_event(c.ctx, owner_of(c.id), find_event{{c.id, c.by}, {}});
  if (auto refusal = refused(c.rq, event)) co_return std::move(*refusal);
  if (!is_manager_of(event.reply.event.event, c.by)) co_return problem(fault::not_found, c.rq.request_id);
  auto making = read_aside(c, std::move(make));
  auto read = co_await making;
  if (read.no) co_return std::move(*read.no);
  if (auto errors = find_types(*read.plan, event.reply.event, wish.ticket_types); !errors.empty())
    co_return problem(fault::invalid_field, c.rq.request_id, errors);
  wish.plan = std::move(read.text);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 204, .content_type = {}};
}

awaitable<response> store_plan(call c) {
  set_seat_plan wish{{c.id, c.by}, {{}, "seat plan"}, {}};
  if (auto no = read_rules(c.rq, wish)) co_return std::move(*no);
  auto make = reader_of(c.rq);
  auto storing = store_made(c, std::move(wish), std::move(make));
  co_return co_await storing;
}

awaitable<response> generate_plan(call c) {
  set_seat_plan wish{{c.id, c.by}, {{}, "generated seat plan"}, {}};
  if (auto no = read_rules(c.rq, wish)) co_return std::move(*no);
  hall made;
  if (auto no = read_hall(c.rq, made)) co_return std::move(*no);
  std::function<made_plan()> make = [made = std::move(made)] { return make_plan(draft_of(made)); };
  auto storing = store_made(c, std::move(wish), std::move(make));
  co_return co_await storing;
}

/// The plan of the tenant that the body names.
awaitable<response> copy_plan(call c) {
  set_seat_plan wish{{c.id, c.by}, {}, {}};
  wish.note.detail = c.rq.body;
  if (auto no = read_rules(c.rq, wish)) co_return std::move(*no);
  uuid id;
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    body.require("seat_plan_id");
    id = body.id("seat_plan_id").value;
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  auto finding = find_tenant_plan(c, id);
  auto found = co_await finding;
  if (found.no) co_return std::move(*found.no);
  std::function<made_plan()> make = [text = std::move(found.row.content)] {
    return made_plan{plan_of_text(text), {}};
  };
  auto storing = store_made(c, std::move(wish), std::move(make));
  co_return co_await storing;
}

awaitable<response> remove_plan(call c) {
  set_seat_plan wish{{c.id, c.by}, {}, {}};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 204, .content_type = {}};
}

/// Of this program: another version may draw the same plan differently.
std::string plan_tag(const context& ctx, std::string_view digest) {
  return '"' + std::string{digest} + '-' + ctx.state.release + '"';
}

/// The digest in the first tag that the client names; the owner compares it. Empty: it is of another version.
std::string digest_in(const context& ctx, std::string_view if_none_match) {
  const auto begin = if_none_match.find('"');
  const auto end = begin == std::string_view::npos ? begin : if_none_match.find('-', begin + 1);
  if (end == std::string_view::npos || end - begin > plan_digest_max) return {};
  const auto digest = if_none_match.substr(begin + 1, end - begin - 1);
  return if_none_match.substr(begin).starts_with(plan_tag(ctx, digest)) ? std::string{digest} : std::string{};
}

/// What the owner answered in the asked form, from `services::plans` if it has it. Null: it cannot be made.
awaitable<std::shared_ptr<const std::string>> file_of(call c, std::string form, seat_plan_reply found,
                                                      std::optional<shown_plans::file> known) {
  if (known && known->digest == found.digest) co_return known->text;
  auto make = [&plans = c.ctx.shared->plans, key = to_string(c.id) + form, form, found = std::move(found)] {
    if (const auto made = plans.find(key); made && made->digest == found.digest) return made->text;
    const auto plan = plan_of_text(found.plan);
    if (plan == nullptr) return std::shared_ptr<const std::string>{};
    auto text = std::make_shared<const std::string>(plan_file(form, *plan));
    plans.put(key, {found.digest, text});
    return text;
  };
  auto text = co_await offload(c.ctx.io, c.ctx.shared->printing_lane, std::move(make), plan_pages);
  co_return text ? std::move(*text) : nullptr;
}

awaitable<response> show_plan(call c) {
  std::optional<response> no;
  auto form = read_plan_form(c.rq, no);
  if (no) co_return std::move(*no);
  const auto type = plan_file_type(form);
  const auto tags = c.rq.field("If-None-Match");
  auto known = c.ctx.shared->plans.find(to_string(c.id) + form);
  find_seat_plan wish{{c.id, c.by}, known ? known->digest : digest_in(c.ctx, tags)};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  const auto tag = plan_tag(c.ctx, got.reply.digest);
  response answer{.status = 304, .content_type = {}};
  answer.fields.emplace_back("ETag", tag);
  answer.fields.emplace_back("Cache-Control", "no-cache"); // kept, and compared at each use
  if (tags.find(tag) != std::string_view::npos) co_return answer;
  const auto text = co_await file_of(c, std::move(form), std::move(got.reply), std::move(known));
  if (text == nullptr) co_return problem(fault::unavailable, c.rq.request_id, {}, plan_retry_after);
  answer.status = 200;
  answer.content_type = type;
  answer.body = *text;
  co_return answer;
}

} // namespace

std::span<const route> seat_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/events/{id}/seats", for_anybody_or_persons<show_seats, query_use::own>},
    {patch, "/events/{id}/seats", for_managers<change_seats>},
    {get, "/events/{id}/seat-plan", for_anybody_or_persons<show_plan, query_use::own>},
    {put, "/events/{id}/seat-plan", for_managers<store_plan, query_use::own>, plan_body_max},
    {del, "/events/{id}/seat-plan", for_managers<remove_plan>},
    {put, "/events/{id}/seat-plan/hall", for_managers<generate_plan, query_use::own>},
    {put, "/events/{id}/seat-plan/copy", for_managers<copy_plan, query_use::own>},
  };
  return table;
}

} // namespace fq::net
