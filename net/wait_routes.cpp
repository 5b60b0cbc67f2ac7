// SPDX-License-Identifier: Apache-2.0
// GET and POST /wait/{id}: the waiting page of an event or a standalone queue, from signing in to "your turn", by plain forms. An event's
// visitor is a customer, known by a cookie; a queue's visitor has the place's own token in a cookie of that page.
#include "net/cors.hpp"
#include "net/guards.hpp"
#include "net/handlers.hpp"
#include "net/json_in.hpp"
#include "net/services.hpp"
#include "net/sign_in.hpp"
#include "net/visit.hpp"
#include "net/wait_page.hpp"

#include <algorithm>

namespace fq::net {
namespace {

constexpr std::size_t join_key_min = 16, join_key_max = 64, code_max = 32;

// -- what there is -------------------------------------------------------------------------------------

struct line_found {
  std::optional<response> no;
  event_view line = {};
};

/// An event; else a queue of that id.
awaitable<line_found> find_line(const visit& v) {
  auto got = co_await ask_event(v.ctx, owner_of(v.id), find_event{{v.id, {}, event_kind::sale}});
  if (!got.error && got.reply.no.why == reason::not_found)
    got = co_await ask_event(v.ctx, owner_of(v.id), find_event{{v.id, {}, event_kind::queue}});
  if (auto no = refused(v.rq, got))
    co_return line_found{std::move(no), {}};
  co_return line_found{std::nullopt, std::move(got.reply.event)};
}

/// The ticket in this page's cookie; nothing if it is none of this queue.
std::optional<entry_id> ticket_of(const visit& v) {
  const auto token = cookie(v.rq, place_cookie);
  if (token.empty())
    return std::nullopt;
  const auto checked = v.ctx.verifier.verify(token, v.ctx.environment.wall_now());
  if (!checked || checked.claims.kind != token_kind::ticket || owner_of(checked.claims.subject) != owner_of(v.id))
    return std::nullopt;
  return checked.claims.subject;
}

struct place_found {
  std::optional<response> no;
  std::optional<entry_view> place = {};
};

place_found found_place(const visit& v, answer<entry_reply>& got) {
  const bool is_none = !got.error && (got.reply.no.why == reason::not_in_queue || got.reply.no.why == reason::not_found);
  if (is_none)
    return {};
  if (auto no = refused(v.rq, got))
    return {std::move(no), {}};
  v.ctx.shared->counts.positions_read.add();
  return {std::nullopt, std::move(got.reply.entry)};
}

awaitable<place_found> find_own_place(const visit& v, event_kind kind) {
  answer<entry_reply> got;
  if (kind == event_kind::sale) {
    if (v.customer.is_nil())
      co_return place_found{};
    got = co_await ask_event(v.ctx, owner_of(v.id), find_entry{v.id, v.customer});
  } else {
    const auto ticket = ticket_of(v);
    if (!ticket)
      co_return place_found{};
    got = co_await ask_event(v.ctx, owner_of(v.id), find_ticket{*ticket});
  }
  co_return found_place(v, got);
}

// -- the page ------------------------------------------------------------------------------------------

struct sign_in_state {
  sign_in_step step = sign_in_step::address;
  std::string email = {};
  bool was_wrong = false;
};

std::string random_key(const visit& v) {
  std::array<std::byte, 16> bytes{};
  v.ctx.environment.random_bytes(bytes);
  std::string text;
  for (const auto b : bytes)
    for (const auto digit : {std::to_integer<unsigned>(b) >> 4, std::to_integer<unsigned>(b) & 15u})
      text += "0123456789abcdef"[digit];
  return text;
}

awaitable<response> show(visit v, sign_in_state sign_in, unsigned status) {
  auto found = co_await find_line(v);
  if (found.no)
    co_return std::move(*found.no);
  const auto& event = found.line.event;
  auto own = co_await find_own_place(v, event.kind);
  if (own.no)
    co_return std::move(*own.no);
  const auto* brand = brand_of(v, event.tenant);
  wait_view view{.in = v.in, .base = v.base(), .line = found.line};
  view.place = own.place ? &*own.place : nullptr;
  view.now = v.ctx.environment.wall_now();
  view.signed_in = event.kind == event_kind::sale && !v.customer.is_nil();
  view.token = event.kind == event_kind::sale ? v.token : cookie(v.rq, place_cookie);
  view.step = sign_in.step;
  view.email = std::move(sign_in.email);
  view.was_wrong = sign_in.was_wrong;
  view.mail_is_local = v.ctx.options.mail.mode == "file" && v.ctx.options.environment != config::environment_kind::production;
  if (event.kind == event_kind::queue)
    view.join_key = random_key(v);
  if (brand)
    view.return_url = brand->return_url;
  if (own.place && own.place->status == entry_status::admitted)
    view.session_token = make_session_token(v.ctx.sessions, own.place->id, own.place->admission_no);
  auto page = wait_page(view);
  page.form_target = origin_of(page.form_target);
  co_return render(page, v.base(), brand, status);
}

awaitable<response> show_wait(visit v) { return show(std::move(v), {}, 200); }

// -- signing in ----------------------------------------------------------------------------------------

std::string lower_email(std::string_view typed) {
  std::string text{typed};
  for (char& c : text)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return text;
}

awaitable<response> send_code(visit v) {
  auto email = lower_email(v.sent.find("email"));
  if (!is_email(email)) {
    sign_in_state again{sign_in_step::address, std::move(email), true};
    auto page = show(std::move(v), std::move(again), 400);
    co_return co_await page;
  }
  auto no = co_await mail_code(v.ctx, v.rq, email);
  if (no)
    co_return std::move(*no);
  sign_in_state next{sign_in_step::code, std::move(email), false};
  auto page = show(std::move(v), std::move(next), 200);
  co_return co_await page;
}

/// A new place costs a token of the customer's bucket, the one that there is costs none.
awaitable<std::optional<response>> take_place(const visit& v, const uuid& customer) {
  auto& limiter = v.ctx.shared->joins;
  if (auto no = limit(v.ctx, v.rq, limiter, customer))
    co_return std::move(no);
  join wish{v.id, customer, 0};
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  if (!got.error && !got.reply.created)
    limiter.give_back(customer, v.ctx.environment.steady_now());
  if (auto no = refused(v.rq, got))
    co_return std::move(no);
  (got.reply.created ? v.ctx.shared->counts.joins_created : v.ctx.shared->counts.joins_repeated).add();
  co_return std::nullopt;
}

std::string page_path(const visit& v) { return "/wait/" + to_string(v.id); }

awaitable<response> enter(visit v) {
  auto email = lower_email(v.sent.find("email"));
  const std::string code{v.sent.find("otp").substr(0, code_max)};
  if (!is_email(email))
    co_return problem(fault::invalid_field, v.rq.request_id, {{"email", "invalid", "Must be an e-mail address."}});
  auto got = co_await redeem_code(v.ctx, v.rq, email, code);
  if (got.was_wrong) {
    const auto status = got.no->status;
    sign_in_state again{sign_in_step::code, std::move(email), true};
    auto page = show(std::move(v), std::move(again), status);
    co_return co_await page;
  }
  if (got.no)
    co_return std::move(*got.no);
  // Whoever signs in here wants to wait here. If that cannot be, the page says why.
  auto no = co_await take_place(v, got.customer);
  auto answer = see_other(v, page_path(v));
  const auto life = std::chrono::duration_cast<seconds>(v.ctx.options.tokens.customer_ttl);
  keep_customer(v, answer, v.ctx.issuer.issue(token_kind::customer, got.customer, v.ctx.environment.wall_now(), life));
  co_return answer;
}

// -- joining and leaving -------------------------------------------------------------------------------

/// The hidden key makes a form that is sent twice one place. No subject of the API can have a control character.
std::optional<subject_key> visitor_of(const visit& v, tenant_id tenant) {
  const auto key = v.sent.find("key");
  const bool is_key = key.size() >= join_key_min && key.size() <= join_key_max && std::ranges::all_of(key, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  return is_key ? std::optional{v.ctx.shared->subject_of(tenant, "\x01page " + std::string{key})} : std::nullopt;
}

awaitable<response> join_queue(visit v, tenant_id tenant) {
  const auto visitor = visitor_of(v, tenant);
  if (!visitor)
    co_return problem(fault::invalid_field, v.rq.request_id, {{"key", "invalid", "Must be 16 to 64 visible characters."}});
  if (auto no = limit(v.ctx, v.rq, v.ctx.shared->join_clients, limit_key(v.rq.peer)))
    co_return std::move(*no);
  join wish{v.id, *visitor, 0, event_kind::queue, tenant, {}};
  auto got = co_await ask_event(v.ctx, owner_of(v.id), std::move(wish));
  if (auto no = refused(v.rq, got))
    co_return std::move(*no);
  (got.reply.created ? v.ctx.shared->counts.joins_created : v.ctx.shared->counts.joins_repeated).add();
  const auto life = std::chrono::duration_cast<seconds>(v.ctx.options.tokens.ticket_ttl);
  auto answer = see_other(v, page_path(v));
  set_cookie(answer, place_cookie, v.ctx.issuer.issue(token_kind::ticket, got.reply.entry.id, v.ctx.environment.wall_now(), life),
             {v.base() + page_path(v), life.count(), v.is_secure()});
  co_return answer;
}

awaitable<response> join_line(visit v) {
  auto found = co_await find_line(v);
  if (found.no)
    co_return std::move(*found.no);
  if (found.line.event.kind == event_kind::queue) {
    auto joining = join_queue(std::move(v), found.line.event.tenant);
    co_return co_await joining;
  }
  if (v.customer.is_nil())
    co_return see_other(v, page_path(v)); // signed out meanwhile: the page asks
  auto no = co_await take_place(v, v.customer);
  if (no && no->status != 409) // what stands against it, the page or the order shows
    co_return std::move(*no);
  co_return see_other(v, page_path(v));
}

awaitable<response> leave_line(visit v) {
  const auto ticket = ticket_of(v);
  answer<ack_reply> got;
  if (ticket)
    got = co_await ask_event(v.ctx, owner_of(v.id), leave_ticket{*ticket});
  else if (!v.customer.is_nil())
    got = co_await ask_event(v.ctx, owner_of(v.id), leave{v.id, v.customer});
  if (got.error)
    co_return infrastructure_problem(got.error, v.rq);
  auto answer = see_other(v, page_path(v)); // no place any more is what was wanted
  if (ticket)
    set_cookie(answer, place_cookie, "", {v.base() + page_path(v), 0, v.is_secure()});
  co_return answer;
}

awaitable<response> act(visit v) {
  const auto action = std::string{v.sent.find("action")};
  if (action == "code")
    return send_code(std::move(v));
  if (action == "enter")
    return enter(std::move(v));
  if (action == "join")
    return join_line(std::move(v));
  if (action == "leave")
    return leave_line(std::move(v));
  return ready(problem(fault::invalid_field, v.rq.request_id, {{"action", "invalid", "Must be code, enter, join or leave."}}));
}

} // namespace

awaitable<response> get_wait_page(context& ctx, const request& rq, const path_parameters& path) { return on_page(ctx, rq, path, show_wait); }

awaitable<response> post_wait_page(context& ctx, const request& rq, const path_parameters& path) { return on_form(ctx, rq, path, act); }

} // namespace fq::net
