// SPDX-License-Identifier: Apache-2.0
// /shop: events on sale, ticket choice, orders and receipts, by plain forms. Pages use the same messages to
// the same actors as the API, with the same limits.
#include "domain/sale/questions.hpp"
#include "net/pages/event_facts.hpp"
#include "net/pages/limits.hpp"
#include "net/pages/plain_page.hpp"
#include "net/pages/routes.hpp"
#include "net/pages/shop_form.hpp"
#include "net/pages/shop_page.hpp"
#include "net/pages/visit.hpp"
#include "net/service/code_guesses.hpp"
#include "net/service/guards.hpp"
#include "net/service/idempotency.hpp"
#include "net/service/services.hpp"
#include "net/service/sign_in.hpp"
#include "net/wire/json_in.hpp"

#include <algorithm>
#include <map>

namespace fq::net {
namespace {

shopper shopper_of(const visit& v) {
  return {v.in,
          v.base(),
          v.ctx.environment.wall_now(),
          !v.customer.is_nil(),
          v.token,
          v.ctx.options.http.public_url + "/shop",
          is_guest(v.shopper)};
}

std::string order_path(const order_id& order) { return "/shop/orders/" + to_string(order); }
std::string wait_path(const visit& v) { return "/wait/" + to_string(v.id); }

// -- events on sale

/// Tenant whose brand a page with several events shows: their common tenant, else the default tenant.
tenant_id tenant_of_all(const std::vector<event_view>& events) {
  const auto is_anothers = [&](const event_view& e) { return e.event.tenant != events.front().event.tenant; };
  return events.empty() || std::ranges::any_of(events, is_anothers) ? default_tenant
                                                                    : events.front().event.tenant;
}

awaitable<response> show_shop(visit v) {
  list_events wish;
  wish.limit = events_shown_max;
  const auto& cursors = v.ctx.shared->cursors;
  const auto after = v.cursor.empty() ? std::optional{aggregate_id{}} : cursors.decode(wish.by.id, v.cursor);
  if (!after) co_return problem(fault::invalid_cursor, v.rq.request_id);
  wish.after = *after;
  auto got = co_await ask(v.ctx, v.ctx.catalog, std::move(wish));
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  const auto& events = got.reply.events;
  const auto next = got.reply.more ? cursors.encode({}, events.back().event.aggregate) : std::string{};
  co_return render(on_sale_page(shopper_of(v), events, next), v.base(),
                   brand_of(v.ctx, tenant_of_all(events)));
}

awaitable<response> act_in_shop(visit v) {
  if (v.sent.find("action") != "sign_out")
    return ready(
      problem(fault::invalid_field, v.rq.request_id, {{"action", "invalid", "Must be sign_out."}}));
  // By way of the pages of the tickets' service worker, which forgets what it keeps, also on pages without
  // script.
  auto answer = see_other(v, "/my/tickets?reason=signed_out");
  keep_shopper(v, answer, token_kind::customer, {});
  return ready(std::move(answer));
}

// -- ticket choice

/// What every step of a purchase needs: the event and an admission.
struct counter {
  std::optional<response> no;
  event_view event = {};
  std::optional<entry_view> place = {}; ///< none for events without a waiting room
};

/// Redirects a visitor without an admission to the waiting page.
awaitable<counter> come_to_counter(const visit& v) {
  if (v.shopper.is_nil()) co_return counter{see_other(v, wait_path(v))};
  auto got = co_await ask_event(v.ctx, owner_of(v.id), find_event{{v.id, {}, event_kind::sale}, v.shopper});
  if (auto no = refused(v.rq, got)) co_return counter{std::move(no)};
  auto own = co_await ask_event(v.ctx, owner_of(v.id), find_entry{v.id, v.shopper});
  const bool may_buy = !own.error && !own.reply.no && own.reply.entry.status == entry_status::admitted;
  if (may_buy) co_return counter{std::nullopt, std::move(got.reply.event), std::move(own.reply.entry)};
  if (own.error) co_return counter{infrastructure_problem(own.error, v.rq)};
  if (got.reply.event.event.queue.policy == admission_policy::open)
    co_return counter{std::nullopt, std::move(got.reply.event), std::nullopt};
  co_return counter{see_other(v, wait_path(v))};
}

struct shown_choice {
  std::optional<quote_view> quote = {};
  std::string problem = {};
  unsigned status = 200;
  std::string_view used_code = {};
};

response show_choice(const visit& v, const counter& at, shown_choice state) {
  const auto sent_key = v.sent.find("key");
  choice_view choice{at.event,
                     at.place ? &*at.place : nullptr,
                     v.sent,
                     std::move(state.quote),
                     std::move(state.problem),
                     sent_key.empty() ? random_key(v.ctx) : std::string{sent_key},
                     !v.ctx.shared->gateways.empty(),
                     state.used_code};
  return render(choice_page(shopper_of(v), choice), v.base(), brand_of(v.ctx, at.event.event.tenant),
                state.status);
}

awaitable<response> show_tickets(visit v) {
  auto at = co_await come_to_counter(v);
  if (at.no) co_return std::move(*at.no);
  co_return show_choice(v, at, {});
}

/// Key of the text of a refusal.
std::string text_of(reason why) {
  static const std::map<reason, std::string_view> texts{
    {reason::none_free, "none_free"},
    {reason::no_best_seats, "not_together"},
    {reason::seat_single, "seat_single"},
    {reason::seat_taken, "seat_taken"},
    {reason::seat_accessible_only, "seat_accessible_only"},
    {reason::seat_accessible_unclear, "seat_accessible_unclear"},
    {reason::event_sold_out, "none_free"},
    {reason::not_on_sale, "not_on_sale"},
    {reason::sale_not_started, "not_on_sale"},
    {reason::limit_exceeded, "limit_exceeded"},
    {reason::promo_code_invalid, "promo_code_refused"},
    {reason::promo_code_expired, "promo_code_refused"},
    {reason::promo_code_exhausted, "promo_code_refused"},
    {reason::promo_code_limit, "promo_code_refused"},
    {reason::access_code_invalid, "access_code_refused"},
    {reason::not_admitted, "not_your_turn"},
    {reason::customer_blocked, "customer_blocked"},
    {reason::sign_in_required, "sign_in_required"},
  };
  const auto found = texts.find(why);
  return std::string{found == texts.end() ? "try_again" : found->second};
}

/// Whether a rule refused, which the page explains with the form as filled in. Other refusals are errors.
bool is_said_in_page(const refusal& no) { return text_of(no.why) != "try_again"; }

/// Whether the form asks for one seat of its type, which need not be accessible: then it is no group that is
/// too large.
bool asks_one_seat(const visit& v, const counter& at) {
  const auto items = items_of(v.sent, at.event).value_or(std::vector<item_wish>{});
  return !wants_accessible(v.sent) && std::ranges::all_of(items, [](const item_wish& item) {
    return item.quantity == 1 || !item.seats.empty();
  });
}

response show_refusal(const visit& v, const counter& at, reason why) {
  const bool is_alone = why == reason::no_best_seats && asks_one_seat(v, at);
  return show_choice(v, at, {std::nullopt, is_alone ? "not_alone" : text_of(why), status_of(why)});
}

/// Key of the text of what is wrong with the form; empty if it is complete.
std::string problem_of(const form& sent, const std::vector<item_wish>& items, const event_view& event,
                       bool with_contact, bool is_guest) {
  if (items.empty()) return "nothing_chosen";
  if (auto why = why_not_asked(items, event); !why.empty()) return why;
  if (!donation_in(sent, event.event.currency)) return "donation_wrong";
  if (!with_contact) return {};
  const auto units = units_in(items);
  auto answers = answers_in(sent, event.event.questions, units);
  if (settle_answers(event.event.questions, units, answers)) return "answers_missing";
  for (const auto* name : {"first_name", "last_name", "email"})
    if (sent.find(name).empty()) return "field_missing";
  if (!is_email(sent.find("email"))) return "email_wrong";
  const bool is_as_again = lower_email(sent.find("email")) == lower_email(sent.find("email_again"));
  return is_as_again || !is_guest ? "" : "email_differs";
}

/// As many as are named, else one: the page asks who needs one, not how many do.
std::uint32_t accessible_in(const form& sent, const std::vector<item_wish>& items) {
  std::uint32_t named = 0;
  for (const auto& item : items) named += static_cast<std::uint32_t>(item.seats.size());
  return wants_accessible(sent) ? std::max(1u, named) : 0;
}

awaitable<response> show_quote(const visit& v, const counter& at, std::vector<item_wish> items) {
  get_quote wish{v.id, v.shopper, {}};
  wish.wish.seats.asks_accessible = accessible_in(v.sent, items);
  wish.wish.items = std::move(items);
  wish.wish.promo_code = v.sent.find("promo_code");
  code_guess guess{v.ctx, v.rq, v.shopper, v.id, !wish.wish.promo_code.empty()};
  if (guess.no) co_return std::move(*guess.no);
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  guess.settle(got);
  if (!got.error && got.reply.no && is_said_in_page(got.reply.no))
    co_return show_refusal(v, at, got.reply.no.why);
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  co_return show_choice(v, at, {std::move(got.reply.quote), {}, 200});
}

place_order order_of(const visit& v, const counter& at, std::vector<item_wish> items) {
  place_order order;
  order.event = v.id;
  order.customer = v.shopper;
  if (at.place)
    order.admission_token = make_session_token(v.ctx.sessions, at.place->id, at.place->admission_no);
  order.wish.seats.asks_accessible = accessible_in(v.sent, items);
  const auto units = units_in(items);
  order.wish.items = std::move(items);
  order.wish.promo_code = v.sent.find("promo_code");
  order.wish.contact = {std::string{v.sent.find("first_name")}, std::string{v.sent.find("last_name")},
                        std::string{v.sent.find("email")}, std::string{v.sent.find("phone")}};
  order.wish.contact.answers = answers_in(v.sent, at.event.event.questions, units);
  order.wish.success_url = order.wish.cancel_url =
    v.ctx.options.http.public_url + "/shop/events/" + to_string(v.id) + "/return";
  order.wish.gateway = v.ctx.options.payments.gateway;
  order.idempotency = idempotency_of(v.rq, v.shopper, v.sent.find("key"));
  order.trace = v.rq.trace;
  return order;
}

bool fits(const form& sent) {
  return sent.find("first_name").size() <= name_bytes_max && sent.find("last_name").size() <= name_bytes_max
         && (sent.find("phone").empty() || sent.find("phone").size() >= phone_bytes_min)
         && sent.find("phone").size() <= phone_bytes_max
         && sent.find("promo_code").size() <= promo_code_bytes_max && parse_idempotency_key(sent.find("key"));
}

awaitable<response> buy(const visit& v, const counter& at, std::vector<item_wish> items) {
  if (!v.ctx.shared->may_name(v.ctx.options.payments.gateway))
    co_return problem(refusal{reason::gateway_unavailable}, v.rq.request_id);
  auto wish = order_of(v, at, std::move(items));
  auto account = co_await find_account_address(v.ctx, v.rq, v.shopper, wish.wish.contact.email);
  if (account.no) co_return std::move(*account.no);
  wish.wish.contact.account_email = account.email;
  wish.wish.buyer = account.buyer;
  wish.wish.contact.language = v.in;
  code_guess guess{v.ctx, v.rq, v.shopper, v.id, !wish.wish.promo_code.empty()};
  if (guess.no) {
    give_back_address(v.ctx, v.rq, account);
    co_return std::move(*guess.no);
  }
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  guess.settle(got);
  if (!got.error && (got.reply.no || got.reply.replayed)) give_back_address(v.ctx, v.rq, account);
  if (!got.error && got.reply.no.why == reason::already_claimed)
    co_return see_other(v, "/shop/events/" + to_string(v.id) + "/return"); // bought in another tab
  if (!got.error && got.reply.no.why == reason::challenge_required) // without a waiting room
    co_return see_other(v, wait_path(v) + "?reason=challenge_required");
  if (!got.error && got.reply.no && is_said_in_page(got.reply.no))
    co_return show_refusal(v, at, got.reply.no.why);
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  const auto order = got.reply.order.order.id;
  if (got.reply.order.order.status == order_status::pending) {
    find_order question{order, v.shopper, {}, std::min(page_wait, v.ctx.options.http.request_timeout / 2)};
    co_await ask_event(v.ctx, owner_of(v.id), std::move(question));
  }
  auto answer = see_other(v, order_path(order));
  if (is_guest(v.shopper)) {
    const auto life = std::chrono::duration_cast<seconds>(v.ctx.options.tokens.ttl).count();
    set_cookie(answer, v.cookie_name(order_cookie), to_string(order), {v.base(), life, v.is_secure()});
  }
  co_return answer;
}

/// A code that opens hidden ticket types: the page has them then, with the form as filled in.
awaitable<response> open_types(const visit& v, const counter& at) {
  if (v.sent.find("access_code").empty()) co_return show_refusal(v, at, reason::access_code_invalid);
  if (auto no = limit_join(v.ctx, v.rq, v.shopper)) co_return std::move(*no);
  code_guess guess{v.ctx, v.rq, v.shopper, v.id, true};
  if (guess.no) co_return std::move(*guess.no);
  join wish{v.id, v.shopper, 0};
  wish.access_code = v.sent.find("access_code").substr(0, promo_code_bytes_max);
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  guess.settle(got);
  if (!got.error && got.reply.no && is_said_in_page(got.reply.no))
    co_return show_refusal(v, at, got.reply.no.why);
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  auto wider = co_await come_to_counter(v);
  if (wider.no) co_return std::move(*wider.no);
  co_return show_choice(v, wider, {.used_code = v.sent.find("access_code")});
}

awaitable<response> act_on_choice(visit v) {
  const auto action = v.sent.find("action");
  // Also before a purchase: the Enter key in the code's field presses the first button of the form.
  const bool has_code = action == "join" || !v.sent.find("access_code").empty();
  if ((action != "buy" && action != "quote" && action != "join") || (!has_code && !fits(v.sent)))
    co_return problem(fault::invalid_field, v.rq.request_id,
                      {{"action", "invalid", "Must be buy, quote or join, with the fields of our page."}});
  auto at = co_await come_to_counter(v);
  if (at.no) co_return std::move(*at.no);
  if (has_code) {
    auto opening = open_types(v, at);
    co_return co_await opening;
  }
  auto items = items_of(v.sent, at.event);
  if (!items)
    co_return problem(fault::invalid_field, v.rq.request_id,
                      {{"t.", "invalid", "Must be a number of tickets."}});
  const bool is_purchase = action == "buy";
  if (auto why = problem_of(v.sent, *items, at.event, is_purchase, is_guest(v.shopper)); !why.empty())
    co_return show_choice(v, at, {std::nullopt, std::move(why), 400});
  for (auto& item : *items) item.donation = donation_in(v.sent, at.event.event.currency).value_or(0);
  auto answering = is_purchase ? buy(v, at, std::move(*items)) : show_quote(v, at, std::move(*items));
  co_return co_await answering;
}

// -- orders

awaitable<response> show_order(visit v) {
  if (v.shopper.is_nil()) co_return see_other(v, "/shop");
  find_order wish{v.id, v.shopper};
  wish.with_tickets = true;
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  const auto event = got.reply.order.claim.event;
  auto sale = co_await ask_event(v.ctx, owner_of(v.id), find_event{{event, {}, event_kind::sale}, v.shopper});
  if (auto no = refused(v.rq, sale)) co_return std::move(*no);
  auto page = order_page(shopper_of(v), got.reply.order, sale.reply.event.event);
  co_return render(std::move(page), v.base(), brand_of(v.ctx, sale.reply.event.event.tenant));
}

awaitable<response> cancel(const visit& v) {
  auto got = co_await ask_event(v.ctx, owner_of(v.id), cancel_order{v.id, v.shopper});
  if (auto no = refused(v.rq, got);
      no && no->status != 409) // too late to cancel: the page shows the current state
    co_return std::move(*no);
  co_return see_other(v, order_path(v.id));
}

awaitable<response> pay_again(const visit& v) {
  find_order question{v.id, v.shopper};
  auto found = co_await ask_event(v.ctx, owner_of(v.id), std::move(question));
  if (auto no = refused(v.rq, found)) co_return std::move(*no);
  open_payment wish{v.shopper, found.reply.order.order.claim, v.ctx.options.payments.gateway, {}, v.rq.trace};
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  if (auto no = refused(v.rq, got); no && no->status != 409) co_return std::move(*no);
  co_return see_other(v, order_path(v.id));
}

awaitable<response> act_on_order(visit v) {
  const auto action = v.sent.find("action");
  if (action != "cancel" && action != "pay")
    co_return problem(fault::invalid_field, v.rq.request_id,
                      {{"action", "invalid", "Must be cancel or pay."}});
  if (v.shopper.is_nil()) co_return see_other(v, "/shop");
  auto answering = action == "cancel" ? cancel(v) : pay_again(v);
  co_return co_await answering;
}

struct own_orders {
  std::optional<response> no;
  std::vector<order_listing> orders = {}; ///< newest first
};

awaitable<own_orders> find_own_orders(const visit& v) {
  if (v.customer.is_nil()) co_return own_orders{see_other(v, "/shop")};
  list_orders wish{v.customer, {}, orders_shown_max};
  auto got = co_await ask(v.ctx, v.ctx.catalog, std::move(wish));
  if (auto no = refused(v.rq, got)) co_return own_orders{std::move(no)};
  co_return own_orders{std::nullopt, std::move(got.reply.orders)};
}

awaitable<response> show_orders(visit v) {
  auto own = co_await find_own_orders(v);
  if (own.no) co_return std::move(*own.no);
  co_return render(orders_page(shopper_of(v), own.orders), v.base(), brand_of(v.ctx, default_tenant));
}

/// The return from the gateway, which knows the event but not the order: shows the newest order of the
/// event.
awaitable<response> come_back(visit v) {
  if (is_guest(v.shopper)) { // its orders are listed for the owner of the address only
    const auto last = parse_event_owned_id(cookie(v.rq, v.cookie_name(order_cookie)));
    co_return see_other(v, last && owner_of(*last) == owner_of(v.id) ? order_path(*last) : "/shop");
  }
  auto own = co_await find_own_orders(v);
  if (own.no) co_return std::move(*own.no);
  const auto newest = std::ranges::find(own.orders, v.id, &order_listing::event);
  if (newest == own.orders.end()) co_return see_other(v, "/shop/orders");
  co_return see_other(v, order_path(newest->order.id));
}

awaitable<response> get_calendar(call c) {
  auto got = co_await ask_event(c.ctx, owner_of(c.id), find_event{{c.id, {}, event_kind::sale}});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  const auto url = c.ctx.options.http.public_url + "/wait/" + to_string(c.id);
  response answer{.status = 200, .content_type = "text/calendar; charset=utf-8"};
  answer.body = event_calendar(got.reply.event.event, url);
  if (answer.body.empty()) co_return problem(fault::not_found, c.rq.request_id);
  answer.fields.emplace_back("Content-Disposition", "attachment; filename=\"event.ics\"");
  co_return answer;
}
} // namespace

/// Return page of an order without its own return URL. Ignores parameters that gateways add.
awaitable<response> get_checkout_return(context&, const request&, const path_parameters&) {
  return ready(plain_page("thanks", {}, page_rights::none));
}

std::span<const route> shop_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/checkout/return", self_guarded_for_anybody<get_checkout_return>},
    {get, "/events/{id}/calendar.ics", for_anybody<get_calendar, address_limit::anonymous>},
    {get, "/shop", page_of<show_shop, extra_query::cursor>},
    {post, "/shop", form_to<act_in_shop>},
    {get, "/shop/orders", page_of<show_orders>},
    {get, "/shop/orders/{id}", page_of<show_order>},
    {post, "/shop/orders/{id}", form_to<act_on_order>},
    {get, "/shop/events/{id}", page_of<show_tickets>},
    {post, "/shop/events/{id}", form_to<act_on_choice>, order_body_max},
    {get, "/shop/events/{id}/return", page_of<come_back, extra_query::ignored>},
  };
  return table;
}

} // namespace fq::net
