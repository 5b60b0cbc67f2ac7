// SPDX-License-Identifier: Apache-2.0
// A tenant's audit log, newest first.
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/view_codec.hpp"

namespace fq::net {
namespace {

std::optional<response> read_audit_request(const call& c, list_audit& wish) {
  std::optional<response> no;
  const auto query = query_parameters::read(c.rq, {"limit", "cursor", "target"}, no);
  if (no) return no;
  page_wish page;
  if (no = read_page(c.rq, query, page)) return no;
  wish.by = c.by;
  wish.limit = page.limit;
  wish.before = page.before;
  const auto target = query.find("target");
  const auto of = target ? parse_uuid(*target) : std::optional{uuid{}};
  if (!of)
    return problem(fault::invalid_parameter, c.rq.request_id,
                   "target must be the id of an event or a queue.");
  wish.target = *of;
  return std::nullopt;
}

awaitable<response> list_rows(call c) {
  list_audit wish;
  if (auto no = read_audit_request(c, wish)) co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.catalog, list_audit{wish});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  answer.body = audit_text(got.reply.rows, got.reply.more);
  co_return answer;
}

} // namespace

std::span<const route> audit_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/audit", for_managers<list_rows, query_use::own>},
  };
  return table;
}

} // namespace fq::net
