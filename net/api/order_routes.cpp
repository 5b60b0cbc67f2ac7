// SPDX-License-Identifier: Apache-2.0
// Checkout for customers: a quote, an order, its status. Checks types and ranges; the event actor checks
// the rules.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/api/seat_wishes.hpp"
#include "net/http/cors.hpp"
#include "net/http/preferences.hpp"
#include "net/http/query.hpp"
#include "net/service/code_guesses.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/service/sign_in.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/order_codec.hpp"
#include "net/wire/question_codec.hpp"

#include <algorithm>
#include <charconv>

namespace fq::net {
namespace {

// -- reading

/// Accepts only origins that the operator allows, so that a payment page never leads a payer to a foreign
/// site.
std::string read_return_url(const context& ctx, object_reader& body, std::string_view name) {
  auto url = body.text(name, url_size);
  if (!url.given) return {};
  const auto origin = origin_of(url.value);
  const auto is_plain = std::ranges::none_of(
    url.value, [](unsigned char c) { return c <= 0x20 || c >= 0x7f || c == '@' || c == '\\'; });
  const bool is_known = origin_allowed(ctx.options.http.allowed_origins, origin)
                        || origin == origin_of(ctx.options.http.public_url);
  if (origin.empty() || !is_plain || !is_known)
    body.reject(name, "Must be an http(s) address of an origin in http.allowed_origins.");
  return std::move(url.value);
}

void read_order_items(object_reader& body, std::vector<item_wish>& items) {
  body.objects("items", items_count, [&items](object_reader& item) {
    items.push_back(read_item(item));
    items.back().donation = item.integer("donation", money_range).value;
  });
}

void read_contact(object_reader& body, contact& who) {
  body.require("contact");
  body.object("contact", [&who](object_reader& contact) {
    contact.require("first_name");
    contact.require("last_name");
    who.first_name = contact.text("first_name", person_name_size).value;
    who.last_name = contact.text("last_name", person_name_size).value;
    who.email = read_email(contact, "email");
    who.phone = contact.text("phone", phone_size).value;
  });
}

struct checkout_wish {
  place_order order;
  std::optional<event_id> event;
};

std::optional<response> read_checkout(const call& c, checkout_wish& wish) {
  auto& order = wish.order.wish;
  auto no = read_json(c.rq, body_need::required, [&](object_reader& body) {
    body.require("event_id");
    const auto event = body.id("event_id");
    wish.order.trace = c.rq.trace;
    wish.order.admission_token = body.text("admission_token", admission_token_size).value;
    read_contact(body, order.contact);
    read_answers(body, order.contact);
    read_order_items(body, order.items);
    read_seats(body, order.seats);
    order.promo_code = body.text("promo_code", promo_code_size).value;
    order.success_url = read_return_url(c.ctx, body, "success_url");
    order.cancel_url = read_return_url(c.ctx, body, "cancel_url");
    const auto gateway = body.text("gateway", gateway_name_size);
    order.gateway = gateway.given ? gateway.value : c.ctx.options.payments.gateway;
    if (!c.ctx.shared->gateways.contains(order.gateway) && gateway.given)
      body.reject("gateway", "Is not a gateway of this server.");
    wish.event = parse_event_owned_id(to_string(event.value));
  });
  if (no) return no;
  if (!wish.event) return problem(refusal{reason::not_found}, c.rq.request_id);
  if (!c.ctx.shared->may_name(order.gateway))
    return problem(refusal{reason::gateway_unavailable}, c.rq.request_id);
  return std::nullopt;
}

/// RFC 7240 "wait=N" of the Prefer field; 0: none.
milliseconds preferred_wait(const request& rq) {
  auto rest = rq.field("Prefer");
  while (!rest.empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    auto one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    constexpr std::string_view name = "wait=";
    unsigned seconds = 0;
    if (!one.starts_with(name)) continue;
    one.remove_prefix(name.size());
    if (const auto [at, error] = std::from_chars(one.data(), one.data() + one.size(), seconds);
        error == std::errc{} && at != one.data())
      return milliseconds{1'000} * std::min(seconds, 3'600u);
  }
  return milliseconds{0};
}

/// Time for an answer, within http.request_timeout.
milliseconds wait_max(const context& ctx) {
  return std::max(milliseconds{0}, ctx.options.http.request_timeout - milliseconds{500});
}

// -- asynchronous or synchronous

/// Maps a customer to 0 to 99; the same at every checkout.
unsigned share_of(const customer_id& customer) {
  auto x = customer.hi ^ (customer.lo * 0x9e3779b97f4a7c15ull); // similar UUIDs: mixed by splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return static_cast<unsigned>((x ^ x >> 31) % 100);
}

bool is_async(const call& c, const order_reply& reply) {
  const auto percent =
    reply.async_percent != async_inherited ? reply.async_percent : c.ctx.shared->async_percent();
  return static_cast<std::int32_t>(share_of(c.who)) < percent;
}

// -- answers

response status_answer(const call& c, const order_view& order) {
  response answer;
  answer.body = order_status_text(order, c.ctx.environment.wall_now(),
                                  location(c.ctx, "/claims/", order.order.claim) + "/payments");
  return answer;
}

/// 202 while the order is in progress, else 200 with its result.
response checkout_answer(const call& c, const order_view& order) {
  auto answer = status_answer(c, order);
  if (order.order.status == order_status::pending) {
    answer.status = 202;
    answer.body = accepted_text(order, c.ctx.environment.wall_now(),
                                location(c.ctx, "/orders/", order.order.id) + "/status");
  }
  answer.fields.emplace_back("Location", location(c.ctx, "/orders/", order.order.id));
  return answer;
}

awaitable<response> check_out(call c) {
  const auto began = c.ctx.environment.steady_now();
  auto key = read_idempotency(c.rq, c.who);
  if (key.no) co_return std::move(*key.no);
  checkout_wish wish;
  if (auto no = read_checkout(c, wish)) co_return std::move(*no);
  wish.order.event = *wish.event;
  wish.order.customer = c.who;
  wish.order.idempotency = key.ref;
  keys_in_flight::hold working;
  if (auto no = c.ctx.shared->idempotency.enter(key.ref, c.rq.request_id, working)) co_return std::move(*no);
  auto account = co_await find_account_address(c.ctx, c.rq, c.who, wish.order.wish.contact.email);
  if (account.no) co_return std::move(*account.no);
  wish.order.wish.contact.account_email = account.email;
  wish.order.wish.buyer = account.buyer;
  wish.order.wish.contact.language =
    preferred_language(c.rq.field("Accept-Language")).value_or(account.language);
  code_guess guess{c.ctx, c.rq, c.who, *wish.event, !wish.order.wish.promo_code.empty()};
  if (guess.no) {
    give_back_address(c.ctx, c.rq, account);
    co_return std::move(*guess.no);
  }
  auto got = co_await ask_event(c.ctx, owner_of(*wish.event), std::move(wish.order));
  guess.settle(got);
  if (!got.error && (got.reply.no || got.reply.replayed)) give_back_address(c.ctx, c.rq, account);
  auto& counts = c.ctx.shared->counts.checkouts;
  const auto wanted = preferred_wait(c.rq);
  if (auto no = refused(c.rq, got)) {
    counts.observe(wanted > milliseconds{0} ? checkout_mode::wait : checkout_mode::async,
                   got.error ? checkout_result::error : checkout_result::refused,
                   c.ctx.environment.steady_now() - began);
    co_return std::move(*no);
  }
  const auto mode = wanted > milliseconds{0} ? checkout_mode::wait
                    : is_async(c, got.reply) ? checkout_mode::async
                                             : checkout_mode::sync;
  const auto wait = std::min(wanted > milliseconds{0}      ? wanted
                             : mode == checkout_mode::sync ? wait_max(c.ctx)
                                                           : milliseconds{0},
                             wait_max(c.ctx));
  const bool replayed = got.reply.replayed,
             waits = wait > milliseconds{0} && got.reply.order.order.status == order_status::pending;
  if (waits) {
    find_order question{got.reply.order.order.id, c.who, {}, wait};
    auto later = co_await ask_event(c.ctx, owner_of(*wish.event), std::move(question));
    if (!later.error && !later.reply.no) // the order is placed, even if this read failed
      got.reply.order = std::move(later.reply.order);
  }
  auto answer = checkout_answer(c, got.reply.order);
  if (wanted > milliseconds{0})
    answer.fields.emplace_back("Preference-Applied", "wait=" + std::to_string(wait.count() / 1'000));
  if (replayed) mark_replayed(c.ctx, answer);
  counts.observe(mode, checkout_result::success, c.ctx.environment.steady_now() - began);
  co_return answer;
}

awaitable<response> quote(call c) {
  get_quote wish{c.id, c.who, {}};
  auto no = read_json(c.rq, body_need::required, [&wish](object_reader& body) {
    read_order_items(body, wish.wish.items);
    read_seats(body, wish.wish.seats);
    wish.wish.promo_code = body.text("promo_code", promo_code_size).value;
  });
  if (no) co_return std::move(*no);
  code_guess guess{c.ctx, c.rq, c.who, c.id, !wish.wish.promo_code.empty()};
  if (guess.no) co_return std::move(*guess.no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  guess.settle(got);
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 200, .body = quote_text(got.reply.quote)};
}

awaitable<response> list_own(call c) {
  page_wish page;
  if (auto no = read_page(c.rq, page)) co_return std::move(*no);
  list_orders wish{c.who, page.before, page.limit};
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 200, .body = own_orders_text(got.reply.orders, got.reply.more)};
}

awaitable<response> read_order(call c) {
  find_order wish{c.id, c.who, c.by};
  wish.with_tickets = true;
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 200, .body = order_text(got.reply.order, c.who.is_nil())};
}

awaitable<response> read_status(call c) {
  const auto wanted = std::min(preferred_wait(c.rq), wait_max(c.ctx));
  find_order wish{c.id, c.who, {}, wanted};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return status_answer(c, got.reply.order);
}

awaitable<response> cancel_own_order(call c) {
  if (auto no = expect_no_body(c.rq)) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), cancel_order{c.id, c.who});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return status_answer(c, got.reply.order);
}

} // namespace

std::span<const route> order_routes() {
  using enum method;
  static constexpr route table[] = {
    {post, "/events/{id}/quote", for_customers_or_guests<quote>},
    {post, "/checkout", for_customers_or_guests<check_out>, order_body_max},
    {get, "/orders", for_customers<list_own, query_use::own>},
    {get, "/orders/{id}", for_customers_or_managers<read_order>},
    {del, "/orders/{id}", for_customers_or_guests<cancel_own_order>},
    {get, "/orders/{id}/status", for_customers_or_guests<read_status>},
  };
  return table;
}

} // namespace fq::net
