// SPDX-License-Identifier: Apache-2.0
// Orders for their organizer: list, search, refund, resend; promo codes; dead letters; the installation's
// settings.
#include "domain/line/queue.hpp"
#include "domain/money/promo_codes.hpp"
#include "domain/sale/event_settings.hpp"
#include "net/api/limits.hpp"
#include "net/api/order_search.hpp"
#include "net/api/routes.hpp"
#include "net/api/seat_wishes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/order_codec.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace fq::net {
namespace {

response text_answer(std::string body, unsigned status = 200) {
  return {.status = status, .body = std::move(body)};
}

// -- orders

awaitable<response> list_of_event(call c) {
  page_wish page;
  if (auto no = read_page(c.rq, page)) co_return std::move(*no);
  list_event_orders wish{{c.id, c.by}, page.before, page.limit};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return text_answer(event_orders_text(got.reply.orders, got.reply.more));
}

struct order_search {
  order_wanted wanted;
  page_wish page;
};

/// The search is in the body, because proxies log URLs.
std::optional<response> read_search(const request& rq, order_search& search) {
  return read_json(rq, body_need::optional, [&search](object_reader& body) {
    search.wanted.text = body.text("text", search_size).value;
    const auto status = body.text("status", status_size);
    search.wanted.status = parse_order_status(status.value);
    if (status.given && !search.wanted.status) body.reject("status", "Must be a state of orders.");
    const auto limit = body.number<std::uint32_t>("limit", limit_range);
    assign(limit, search.page.limit);
    search.page.before = body.id("cursor").value;
  });
}

awaitable<response> search_orders(call c) {
  order_search search;
  if (auto no = read_search(c.rq, search)) co_return std::move(*no);
  std::vector<order_view> found;
  auto& behind = search.page.before;
  bool more = true;
  for (std::size_t looked_at = 0; more && looked_at < searched_max && found.size() < search.page.limit;) {
    list_event_orders wish{{c.id, c.by}, behind, list_limit_max};
    auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
    if (auto no = refused(c.rq, got)) co_return std::move(*no);
    more = got.reply.more;
    for (auto& order : got.reply.orders) {
      if (found.size() == search.page.limit) {
        more = true;
        break;
      }
      ++looked_at;
      behind = order.order.id;
      if (is_wanted(order, search.wanted)) found.push_back(std::move(order));
    }
  }
  co_return text_answer(found_orders_text(found, more ? behind : uuid{}));
}

awaitable<response> refund(call c) {
  auto key = read_idempotency(c.rq, c.who);
  if (key.no) co_return std::move(*key.no);
  refund_tickets wish{{c.id, c.by}, {}, {}, {}, key.ref, c.rq.trace};
  wish.note.detail = c.rq.body.empty() ? "{}" : std::string{c.rq.body};
  auto no = read_json(c.rq, body_need::optional, [&wish](object_reader& body) {
    wish.note.reason = read_reason(body);
    body.objects("items", items_count,
                 [&wish](object_reader& item) { wish.items.push_back(read_item(item)); });
    wish.event_tickets = body.ids("event_ticket_ids", named_tickets_count);
  });
  if (no) co_return std::move(*no);
  keys_in_flight::hold working;
  if (auto busy = c.ctx.shared->idempotency.enter(key.ref, c.rq.request_id, working))
    co_return std::move(*busy);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  auto answer = text_answer(order_text(got.reply.order, true), 202); // the refund is still in progress
  if (got.reply.replayed) mark_replayed(c.ctx, answer);
  co_return answer;
}

awaitable<response> resend(call c) {
  resend_order wish{{c.id, c.by}, {}};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return text_answer("{}", 202);
}

// -- promo codes

void read_discount(object_reader& body, promo_code_patch& patch) {
  body.object("discount", [&patch](object_reader& d) {
    d.require("type");
    const auto kind = d.text("type", kind_size);
    discount reduction;
    if (kind.given && kind.value == "percent") {
      d.require("percent");
      reduction = {discount_kind::percent, d.hundredths("percent", percent_hundredths_range).value, 0};
    } else if (kind.given && kind.value == "amount") {
      d.require("amount");
      reduction = {discount_kind::amount, d.integer("amount", {1, money_range.high}).value, 0};
    } else if (kind.given && kind.value != "none") {
      d.reject("type", "Must be percent, amount or none.");
    }
    patch.reduction = {true, reduction};
  });
}

std::optional<response> read_promo_code(const call& c, set_promo_code& wish, bool is_new) {
  wish.note.detail = c.rq.body;
  return read_json(c.rq, body_need::required, [&](object_reader& body) {
    auto& p = wish.patch;
    if (is_new) {
      body.require("code");
      body.require("discount");
    }
    p.code = body.text("code", promo_code_size);
    if (p.code.given && !normalized_code(p.code.value))
      body.reject("code", "Must be 1 to 40 of A-Z, 0-9, '-' and '_'.");
    read_discount(body, p);
    if (body.has("ticket_type_ids") && !body.has("discount"))
      body.reject("ticket_type_ids", "Goes with discount.");
    wish.ticket_types = body.ids("ticket_type_ids", {0, 50});
    p.valid_from = body.time_or_null("valid_from");
    p.valid_until = body.time_or_null("valid_until");
    p.uses_max = body.number_or_null("uses_max", uses_range);
    p.uses_per_customer = body.number_or_null("uses_per_customer", uses_range);
    p.is_active = body.flag("is_active");
    wish.note.reason = read_reason(body);
  });
}

awaitable<response> store_promo_code(call c, set_promo_code wish, unsigned status) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  const auto& code = got.reply.codes.front();
  auto answer = text_answer(promo_code_text(code, got.reply.ticket_types), status);
  if (status == 201)
    answer.fields.emplace_back("Location",
                               location(c.ctx, "/events/", c.id) + "/promo-codes/" + to_string(code.id));
  co_return answer;
}

awaitable<response> add_promo_code(call c) {
  set_promo_code wish{{c.id, c.by}, {}, {}, {}};
  if (auto no = read_promo_code(c, wish, true)) co_return std::move(*no);
  co_return co_await store_promo_code(c, std::move(wish), 201);
}

awaitable<response> change_promo_code(call c) {
  set_promo_code wish{{c.id, c.by}, {}, {}, {}};
  if (auto no = read_promo_code(c, wish, false)) co_return std::move(*no);
  wish.patch.id = c.part;
  co_return co_await store_promo_code(c, std::move(wish), 200);
}

/// Disables the code; it stays, because orders refer to it.
awaitable<response> end_promo_code(call c) {
  set_promo_code wish{{c.id, c.by}, {}, {}, {}};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  wish.patch.id = c.part;
  wish.patch.is_active = {true, false};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 204, .content_type = {}};
}

awaitable<response> read_promo_codes(call c) {
  find_promo_codes wish{{c.id, c.by}, c.part};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return text_answer(c.part.is_nil() ? promo_codes_text(got.reply)
                                        : promo_code_text(got.reply.codes.front(), got.reply.ticket_types));
}

// -- dead letters

awaitable<response> list_letters(call c) {
  std::optional<response> no;
  const auto query = query_parameters::read(c.rq, {"limit", "cursor", "status"}, no);
  page_wish page;
  if (!no) no = read_page(c.rq, query, page);
  const auto status = query.find("status");
  if (!no && status && *status != "open" && *status != "all")
    no = problem(fault::invalid_parameter, c.rq.request_id, "status must be open or all.");
  if (no) co_return std::move(*no);
  list_dead_letters wish{c.by, !status || *status == "open", page.before, page.limit};
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return text_answer(dead_letters_text(got.reply.letters, got.reply.more));
}

template <bool Retry>
awaitable<response> settle_letter(call c) {
  settle_dead_letter wish{{c.id, c.by}, {}, Retry};
  if (auto no = read_note(c.rq, wish.note)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return text_answer("{}", Retry ? 202 : 200);
}

// -- settings

/// The settings of the installation belong to operators of its first tenant.
bool may_set(const call& c) { return c.by.tenant == default_tenant; }
constexpr char without_detail[] = "";

response settings_answer(const call& c) {
  return text_answer(boost::json::serialize(boost::json::object{
    {"checkout", boost::json::object{{"async_percent", c.ctx.shared->async_percent()}}}}));
}

awaitable<response> read_installation(call c) {
  if (!may_set(c)) co_return problem(fault::forbidden, c.rq.request_id);
  co_return settings_answer(c);
}

awaitable<response> change_installation(call c) {
  if (!may_set(c)) co_return problem(fault::forbidden, c.rq.request_id);
  change_setting wish{c.by, {std::string{async_percent_setting}, {}, {}}, {std::string{c.rq.body}, {}}};
  auto no = read_json(c.rq, body_need::required, [&wish](object_reader& body) {
    body.require("checkout");
    body.object("checkout", [&wish](object_reader& checkout) {
      checkout.require("async_percent");
      wish.setting.value = std::to_string(checkout.integer("async_percent", percent_range).value);
    });
    wish.note.reason = read_reason(body);
  });
  if (no) co_return std::move(*no);
  auto got = co_await ask(c.ctx, c.ctx.accounts, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  if (c.ctx.directory) // applies here at once; other nodes read it within seconds
    co_await ask(c.ctx, c.ctx.directory, refresh_directory{});
  co_return settings_answer(c);
}

} // namespace

std::span<const route> order_desk_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/orders/{id}/refunds", for_managers<refund>},
    {post, "/orders/{id}/resend", for_managers<resend>},
    {get, "/events/{id}/orders", for_managers<list_of_event, query_use::own>},
    {post, "/events/{id}/orders/search", for_managers<search_orders>},
    {post, "/events/{id}/promo-codes", for_managers<add_promo_code>},
    {get, "/events/{id}/promo-codes", for_managers<read_promo_codes>},
    {get, "/events/{id}/promo-codes/{code_id}", for_managers<read_promo_codes>},
    {patch, "/events/{id}/promo-codes/{code_id}", for_managers<change_promo_code>},
    {del, "/events/{id}/promo-codes/{code_id}", for_managers<end_promo_code>},
    {get, "/dead-letters", for_managers<list_letters, query_use::own>},
    {post, "/dead-letters/{id}/retry", for_managers<settle_letter<true>>},
    {post, "/dead-letters/{id}/dismiss", for_managers<settle_letter<false>>},
    {get, "/settings", for_operators<read_installation, without_detail>},
    {patch, "/settings", for_operators<change_installation, without_detail>},
  };
  return table;
}

} // namespace fq::net
