// SPDX-License-Identifier: Apache-2.0
// Seat plans that a tenant keeps, for events to copy. The catalog stores them.
#include "domain/seats/plan_text.hpp"
#include "net/api/limits.hpp"
#include "net/api/plan_files.hpp"
#include "net/api/routes.hpp"
#include "net/http/json_text.hpp"
#include "net/http/query.hpp"
#include "net/service/services.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/view_codec.hpp"

namespace fq::net {
namespace {

/// With the plan's own name, which people choose it by.
awaitable<response> keep_plan(call c, std::function<made_plan()> make) {
  auto making = read_aside(c, std::move(make));
  auto read = co_await making;
  if (read.no) co_return std::move(*read.no);
  if (read.plan->name().empty())
    co_return problem(fault::invalid_field, c.rq.request_id,
                      std::vector<field_error>{{"name", "required", "A plan that is kept needs a name."}});
  store_tenant_plan wish{c.by, {}, c.id, read.plan->name(), std::move(read.text)};
  wish.note.detail = R"({"name":)";
  append_text(wish.note.detail, wish.name);
  wish.note.detail += '}';
  const bool is_new = c.id.is_nil();
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  response answer{.status = 200};
  append_tenant_plan(answer.body, got.reply.plan);
  if (!is_new) co_return answer;
  answer.status = 201;
  answer.fields.emplace_back("Location", location(c.ctx, "/seat-plans/", got.reply.plan.id));
  co_return answer;
}

awaitable<response> keep_file(call c) { return keep_plan(c, reader_of(c.rq)); }

awaitable<response> keep_hall(call c) {
  hall made;
  if (auto no = read_hall(c.rq, made)) return ready(std::move(*no));
  return keep_plan(c, [made = std::move(made)] { return make_plan(draft_of(made)); });
}

awaitable<response> list_kept_plans(call c) {
  page_wish page;
  if (auto no = read_page(c.rq, page)) co_return std::move(*no);
  list_tenant_plans wish{c.by, {}, page.before, page.limit};
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 200, .body = tenant_plans_text(got.reply.plans, got.reply.more)};
}

awaitable<response> show_kept_plan(call c) {
  std::optional<response> no;
  const auto form = read_plan_form(c.rq, no);
  if (no) co_return std::move(*no);
  auto finding = find_tenant_plan(c, c.id);
  auto found = co_await finding;
  if (found.no) co_return std::move(*found.no);
  auto make = [form, content = std::move(found.row.content)] {
    const auto plan = plan_of_text(content);
    return plan == nullptr ? std::string{} : plan_file(form, *plan);
  };
  auto text = co_await offload(c.ctx.io, c.ctx.shared->printing_lane, std::move(make), plan_pages);
  if (!text || text->empty()) co_return problem(fault::unavailable, c.rq.request_id, {}, plan_retry_after);
  co_return response{.status = 200, .content_type = plan_file_type(form), .body = std::move(*text)};
}

awaitable<response> remove_kept_plan(call c) {
  store_tenant_plan wish{c.by, {}, c.id, {}, {}};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  if (c.id.is_nil()) co_return problem(fault::not_found, c.rq.request_id);
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 204, .content_type = {}};
}

} // namespace

std::span<const route> plan_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/seat-plans", for_managers<list_kept_plans, query_use::own>},
    {post, "/seat-plans", for_managers<keep_file>, plan_body_max},
    {post, "/seat-plans/hall", for_managers<keep_hall>},
    {get, "/seat-plans/{seat_plan_id}", for_managers<show_kept_plan, query_use::own_foreign_id>},
    {put, "/seat-plans/{seat_plan_id}", for_managers<keep_file, query_use::foreign_id>, plan_body_max},
    {del, "/seat-plans/{seat_plan_id}", for_managers<remove_kept_plan, query_use::foreign_id>},
  };
  return table;
}

} // namespace fq::net
