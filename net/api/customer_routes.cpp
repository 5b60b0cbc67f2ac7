// SPDX-License-Identifier: Apache-2.0
// What is kept of a customer, for the customer: to read, and to erase.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/order_codec.hpp"

namespace fq::net {
namespace {

awaitable<response> show_me(call c) {
  page_wish page;
  if (auto no = read_page(c.rq, page)) co_return std::move(*no);
  find_customer who{c.who};
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(who));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  list_orders wish{c.who, page.before, page.limit};
  auto orders = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto no = refused(c.rq, orders)) co_return std::move(*no);
  co_return response{.status = 200, .body = customer_text(got.reply, orders.reply.orders, orders.reply.more)};
}

/// Looks through all orders: an open one holds tickets, and its payment may still come.
awaitable<response> erase_me(call c) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  list_orders wish{c.who, {}, static_cast<std::uint32_t>(list_limit_max)};
  for (bool more = true; more;) {
    auto page = wish;
    auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(page));
    if (auto no = refused(c.rq, got)) co_return std::move(*no);
    for (const auto& o : got.reply.orders)
      if (is_open(o.order.status))
        co_return problem(refusal{reason::payment_open, "An order is open: pay or cancel it first."},
                          c.rq.request_id);
    more = got.reply.more;
    if (more) wish.before = got.reply.orders.back().order.id;
  }
  erase_customer erasure{c.who, {R"({"by":"customer"})", {}}, c.ctx.options.tokens.ttl};
  auto done = co_await ask(c.ctx, c.ctx.accounts, std::move(erasure));
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
