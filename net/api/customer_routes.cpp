// SPDX-License-Identifier: Apache-2.0
// What is kept of a customer, for the customer: to read, and to erase.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/customer_codec.hpp"

namespace fq::net {
namespace {

static_assert(record_reads_max == static_cast<int>(record_kind::letter) + 1 + 2);

awaitable<response> show_me(call c) {
  std::optional<response> no;
  const auto query = query_parameters::read(c.rq, {"limit", "cursor"}, no);
  if (no) co_return std::move(*no);
  std::uint32_t limit = 0;
  if (no = read_limit(c.rq, query, limit); no) co_return std::move(*no);
  const auto cursor = query.find("cursor");
  auto from = cursor ? parse_export_cursor(*cursor) : std::optional{export_cursor{}};
  if (!from) co_return problem(fault::invalid_cursor, c.rq.request_id);
  if (no = net::limit(c.ctx, c.rq, c.ctx.shared->exports, c.who); no) co_return std::move(*no);
  find_customer question{c.who};
  auto who = co_await ask(c.ctx, c.ctx.accounts, std::move(question));
  if (auto refusal = refused(c.rq, who)) co_return std::move(*refusal);
  customer_export page{who.reply, std::move(from)};
  if (page.wants_orders()) {
    list_orders wish{c.who, page.next->before, limit};
    auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
    if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
    page.add(std::move(got.reply));
  }
  int reads = 0, scans = 0;
  for (; page.wants_records(limit) && reads < record_reads_max && scans < record_scans_max; ++reads) {
    if (is_scanned(page.next->records->kind)) ++scans;
    const auto known = static_cast<std::uint32_t>(page.orders.size() + page.records.size());
    list_records wish{c.who, page.who.email, *page.next->records, limit - known};
    auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
    if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
    page.add(std::move(got.reply.page));
  }
  co_return response{.status = 200, .body = customer_text(std::move(page))};
}

awaitable<response> erase_me(call c) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  const auto network = limit_key(c.rq.peer);
  if (auto no = limit(c.ctx, c.rq, c.ctx.shared->erasures, network)) co_return std::move(*no);
  erase_customer erasure{c.who, {R"({"by":"customer"})", {}}, c.ctx.options.tokens.ttl};
  auto done = co_await ask(c.ctx, c.ctx.accounts, std::move(erasure));
  if (done.error || done.reply.no) c.ctx.shared->erasures.give_back(network, c.ctx.environment.steady_now());
  if (auto no = refused(c.rq, done)) co_return std::move(*no);
  if (c.ctx.directory) {
    auto refreshed = co_await ask(c.ctx, c.ctx.directory, refresh_directory{});
    if (auto no = refused(c.rq, refreshed)) co_return std::move(*no);
  }
  co_return response{.status = 204, .content_type = {}};
}

} // namespace

std::span<const route> customer_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/customers/me", for_customers<show_me, query_use::own>},
    {del, "/customers/me", for_customers<erase_me>},
  };
  return table;
}

} // namespace fq::net
