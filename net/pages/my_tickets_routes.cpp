// SPDX-License-Identifier: Apache-2.0
// /my/tickets: a customer's event tickets with their codes, PDFs, and offers to and from other people. Works
// without script; a service worker keeps the page for when there is no network.
#include "crypto/order_link.hpp"
#include "net/http/encoding.hpp"
#include "net/http/preferences.hpp"
#include "net/http/query.hpp"
#include "net/pages/challenge_box.hpp"
#include "net/pages/demo.hpp"
#include "net/pages/limits.hpp"
#include "net/pages/my_tickets_page.hpp"
#include "net/pages/routes.hpp"
#include "net/pages/ticket_papers.hpp"
#include "net/pages/visit.hpp"
#include "net/service/guards.hpp"
#include "net/service/pictures.hpp"
#include "net/service/services.hpp"
#include "net/service/ticket_seats.hpp"
#include "net/service/transfers.hpp"
#include "net/wire/json_in.hpp"
#include "print/pictures.hpp"
#include "web/assets.hpp"

#include <algorithm>
#include <iterator>

namespace fq::net {
namespace {

// -- PDFs

/// Printed by the threads for it, not by this one.
awaitable<response> print_papers(context& ctx, const request& rq, find_ticket_papers wish, language in) {
  const bool by_link = wish.by_link;
  const auto id = wish.id;
  const auto reader = by_link ? id : wish.holder;
  if (auto no = limit(ctx, rq, ctx.shared->prints, reader)) co_return std::move(*no);
  auto got = co_await ask_event(ctx, owner_of(id), std::move(wish));
  if (auto no = refused(rq, got)) co_return std::move(*no);
  const auto pages = std::max<std::size_t>(1, got.reply.papers.size());
  const auto further = static_cast<std::uint32_t>(pages - 1);
  if (auto no = limit(ctx, rq, ctx.shared->prints, reader, further)) co_return std::move(*no);
  if (by_link && is_link_over(got.reply.event, ctx.environment.wall_now()))
    co_return problem(fault::not_found, rq.request_id);
  const auto keys = ctx.shared->ticket_keys(got.reply.event);
  // A ticket without its pictures is better than none.
  picture_cache::bytes picture, logo;
  if (const auto& name = got.reply.event.facts.picture; !name.empty()) {
    auto reading = read_picture(ctx, rq, name, picture_size::medium);
    picture = (co_await reading).bytes;
  }
  const auto directory = ctx.shared->keys.get();
  if (const auto name = directory ? directory->logo_of(got.reply.event.tenant) : std::string{};
      !name.empty()) {
    auto reading = read_picture(ctx, rq, name, picture_size::small);
    logo = (co_await reading).bytes;
  }
  auto print = [document =
                  ticket_document(in, got.reply.event, got.reply.papers, keys, ctx.environment.wall_now()),
                picture, logo]() mutable {
    if (picture) document.picture = print::jpeg_of(*picture);
    if (logo) document.logo = print::jpeg_of(*logo);
    return print::event_ticket_pdf(document);
  };
  auto pdf = co_await offload(ctx.io, ctx.shared->printing_lane, std::move(print), pages);
  if (!pdf) co_return problem(fault::unavailable, rq.request_id, {}, printing_retry_after);
  response answer{.status = 200, .content_type = "application/pdf", .body = std::move(*pdf)};
  answer.fields.emplace_back("Content-Disposition", "inline; filename=\"tickets.pdf\"");
  answer.fields.emplace_back("Vary", "Accept-Language");
  co_return answer;
}

template <bool IsOrder>
awaitable<response> get_pdf(call c) {
  const auto in = preferred_language(c.rq.field("Accept-Language")).value_or(language::en);
  find_ticket_papers wish{c.id, IsOrder, c.who};
  return print_papers(c.ctx, c.rq, std::move(wish), in);
}

template <bool IsOrder>
awaitable<response> show_pdf(visit v) {
  if (v.customer.is_nil()) return ready(see_other(v, "/my/tickets"));
  find_ticket_papers wish{v.id, IsOrder, v.customer};
  return print_papers(v.ctx, v.rq, std::move(wish), v.in);
}

// -- the link in the mail to a guest: it shows the tickets of that order, and no account

bool has_link(const visit& v) { return opens_order(v.ctx.shared->stored_key, v.id, v.secret); }

awaitable<response> show_linked_pdf(visit v) {
  if (!has_link(v)) return ready(problem(fault::not_found, v.rq.request_id));
  find_ticket_papers wish{v.id, true, {}, true};
  return print_papers(v.ctx, v.rq, std::move(wish), v.in);
}

awaitable<response> show_linked(visit v) {
  if (!has_link(v)) co_return problem(fault::not_found, v.rq.request_id);
  auto got = co_await ask_event(v.ctx, owner_of(v.id), find_ticket_papers{v.id, true, {}, true});
  if (auto no = refused(v.rq, got)) co_return std::move(*no);
  const auto now = v.ctx.environment.wall_now();
  const auto& event = got.reply.event;
  if (is_link_over(event, now)) co_return problem(fault::not_found, v.rq.request_id);
  ticket_holder who{v.in, v.base(), now, {}, v.base() + std::string{v.rq.path}};
  auto page =
    my_tickets_page(who, linked_tickets(got.reply), {},
                    [&](const event_ticket_listing&) { return v.ctx.shared->ticket_keys(event); }, {});
  co_return render(std::move(page), v.base(), brand_of(v.ctx, event.tenant));
}

// -- the page

awaitable<response> show_in_hand(const visit& v, std::string problem, unsigned status) {
  list_held_tickets held{v.customer, {}, tickets_shown_max};
  auto tickets = co_await ask(v.ctx, v.ctx.catalog, std::move(held));
  if (auto no = refused(v.rq, tickets)) co_return std::move(*no);
  auto finding = find_seats_of(v.ctx, tickets.reply, v.customer);
  tickets.reply.seats = co_await finding;
  list_transfers offers{v.customer, offers_shown_max};
  auto transfers = co_await ask(v.ctx, v.ctx.catalog, std::move(offers));
  if (auto no = refused(v.rq, transfers)) co_return std::move(*no);
  ticket_holder who{v.in, v.base(), v.ctx.environment.wall_now(), v.customer};
  auto page = my_tickets_page(
    who, tickets.reply, transfers.reply,
    [&](const event_ticket_listing& l) { return v.ctx.shared->ticket_keys(l.event, l.settings); },
    std::move(problem));
  co_return render(std::move(page), v.base(), brand_of(v.ctx, default_tenant), status);
}

response show_sign_in(const visit& v, const sign_in_state& state, unsigned status) {
  const auto mailbox = demo_for(v.ctx, v.rq) ? v.base() + std::string{mailbox_path} : std::string{};
  auto page = my_sign_in_page(v.in, state, mail_folder_of(v.ctx.options), mailbox);
  if (state.step == sign_in_step::address) set_challenge(page, v.base(), code_box_of(v.ctx));
  return render(std::move(page), v.base(), brand_of(v.ctx, default_tenant), status);
}

awaitable<response> take_sign_in(visit v) {
  const auto action = v.sent.find("action");
  if (action != "code" && action != "enter")
    co_return problem(fault::invalid_field, v.rq.request_id,
                      {{"action", "invalid", "Must be code or enter."}});
  if (auto no = limit_address(v.ctx, v.rq, address_limit::code)) co_return std::move(*no);
  auto turning = action == "code" ? send_code_to(v) : enter_code(v);
  auto turn = co_await turning;
  if (turn.no) co_return std::move(*turn.no);
  auto answer =
    turn.customer.is_nil() ? show_sign_in(v, turn.next, turn.status) : see_other(v, "/my/tickets");
  keep_turn(v, answer, turn);
  co_return answer;
}

awaitable<response> show_held(visit v) {
  if (v.customer.is_nil() && v.reason == "signed_out") co_return see_other(v, "/shop");
  if (v.customer.is_nil()) co_return show_sign_in(v, {}, 200);
  auto showing = show_in_hand(v, {}, 200);
  co_return co_await showing;
}

struct said {
  reason why;
  std::string_view text;
};
/// The refusals that the page explains; others are errors.
constexpr said sayings[]{
  {reason::transfers_off, "transfers_off"},          {reason::transfer_limit, "transfer_limit"},
  {reason::transfer_open, "transfer_open"},          {reason::not_transferable, "transfer_too_late"},
  {reason::invalid_transition, "transfer_too_late"}, {reason::not_found, "transfer_too_late"},
  {reason::customer_blocked, "customer_blocked"},    {reason::invalid_field, "email_wrong"}};

/// The page again, with what was wrong.
awaitable<response> say_why(const visit& v, response no, reason why) {
  const auto found = std::ranges::find(sayings, why, &said::why);
  if (found == std::end(sayings)) co_return no;
  auto showing = show_in_hand(v, std::string{text(v.in, found->text)}, no.status);
  co_return co_await showing;
}

awaitable<response> give(const visit& v) {
  auto email = lower_email(v.sent.find("email"));
  if (!is_email(email)) {
    auto showing = show_in_hand(v, std::string{text(v.in, "email_wrong")}, 400);
    co_return co_await showing;
  }
  auto made = co_await offer_to(v.ctx, v.rq, v.customer, v.id, std::move(email));
  if (!made.no) co_return see_other(v, "/my/tickets");
  auto refusing = say_why(v, std::move(*made.no), made.why);
  co_return co_await refusing;
}

awaitable<response> act_on_ticket(visit v) {
  if (v.customer.is_nil()) co_return see_other(v, "/my/tickets");
  auto giving = give(v);
  co_return co_await giving;
}

std::optional<transfer_trigger> trigger_of(std::string_view action) {
  if (action == "accept") return transfer_trigger::accept;
  if (action == "decline") return transfer_trigger::decline;
  if (action == "withdraw") return transfer_trigger::withdraw;
  return std::nullopt;
}

awaitable<response> act_on_transfer(visit v) {
  const auto how = trigger_of(v.sent.find("action"));
  if (!how)
    co_return problem(fault::invalid_field, v.rq.request_id,
                      {{"action", "invalid", "Must be accept, decline or withdraw."}});
  if (v.customer.is_nil()) co_return see_other(v, "/my/tickets");
  auto got = co_await ask_event(v.ctx, owner_of(v.id), end_transfer{v.id, v.customer, *how});
  auto no = refused(v.rq, got);
  if (!no) co_return see_other(v, "/my/tickets");
  auto refusing = say_why(v, std::move(*no), got.error ? reason::none : got.reply.no.why);
  co_return co_await refusing;
}

// -- the page without a network

/// Its path determines the pages that it may control.
awaitable<response> get_worker(context&, const request& rq, const path_parameters&) {
  if (auto no = expect_no_query(rq)) return ready(std::move(*no));
  const auto& file = web::get_asset("tickets-worker.js");
  response answer{.status = 200, .content_type = file.content_type};
  answer.static_body = file.plain;
  answer.fields.emplace_back("Cache-Control", "no-cache");
  answer.fields.emplace_back("Content-Security-Policy", "default-src 'none'; connect-src 'self'");
  return ready(std::move(answer));
}

} // namespace

std::span<const route> my_tickets_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/event-tickets/{id}.pdf", for_customers<get_pdf<false>>},
    {get, "/orders/{id}/event-tickets.pdf", for_customers<get_pdf<true>>},
    {get, "/my/tickets", page_of<show_held, extra_query::reason>},
    {post, "/my/tickets", form_to<take_sign_in>},
    {get, "/my/worker.js", self_guarded_for_anybody<get_worker>},
    {get, "/my/tickets/{id}.pdf", page_of<show_pdf<false>>},
    {post, "/my/tickets/{id}", form_to<act_on_ticket>},
    {post, "/my/transfers/{id}", form_to<act_on_transfer>},
    {get, "/my/orders/{id}.pdf", page_of<show_pdf<true>>},
    {get, "/my/orders/{id}/{secret}", page_of<show_linked>},
    {get, "/my/orders/{id}/{secret}.pdf", page_of<show_linked_pdf>},
  };
  return table;
}

} // namespace fq::net
