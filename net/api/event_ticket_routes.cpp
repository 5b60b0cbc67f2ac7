// SPDX-License-Identifier: Apache-2.0
// Event tickets: the holder's own, and those of an event for its organizer. Not tickets of the waiting-room
// API, which are places in line.
#include "net/api/limits.hpp"
#include "net/api/routes.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/service/ticket_seats.hpp"
#include "net/service/transfers.hpp"
#include "net/wire/json_in.hpp"
#include "net/wire/order_codec.hpp"

namespace fq::net {
namespace {

awaitable<response> list_held(call c) {
  page_wish page;
  if (auto no = read_page(c.rq, page)) co_return std::move(*no);
  list_held_tickets wish{c.who, page.before, page.limit};
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  auto finding = find_seats_of(c.ctx, got.reply, c.who);
  got.reply.seats = co_await finding;
  co_return response{.status = 200, .body = held_tickets_text(got.reply)};
}

awaitable<response> show_event_ticket(call c) {
  find_event_ticket wish{c.id, c.who, c.by};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  const auto& reply = got.reply;
  if (c.who.is_nil() || reply.ticket.ticket.holder != c.who)
    co_return response{.status = 200, .body = event_ticket_text(reply.ticket)};
  const auto keys = c.ctx.shared->ticket_keys(reply.ticket.event, reply.settings);
  co_return response{.status = 200,
                     .body = event_ticket_text(reply.ticket, keys, reply.settings.rotating_codes)};
}

// -- offers to other people

awaitable<response> list_own_transfers(call c) {
  list_transfers wish{c.who, transfers_shown_max};
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 200, .body = transfers_text(got.reply, c.who, c.ctx.environment.wall_now())};
}

awaitable<response> transfer(call c) {
  std::string email;
  auto no =
    read_json(c.rq, body_need::required, [&](object_reader& body) { email = read_email(body, "email"); });
  if (no) co_return std::move(*no);
  auto made = co_await offer_to(c.ctx, c.rq, c.who, c.id, std::move(email));
  if (made.no) co_return std::move(*made.no);
  co_return response{.status = 201, .body = transfer_text(made.transfer)};
}

template <transfer_trigger How>
awaitable<response> answer_transfer(call c) {
  if (auto no = read_json(c.rq, body_need::optional, [](object_reader&) {})) co_return std::move(*no);
  auto got = co_await ask_event(c.ctx, owner_of(c.id), end_transfer{c.id, c.who, How});
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  co_return response{.status = 200, .body = transfer_text(got.reply.transfer)};
}

// -- organizers

awaitable<response> list_of_sale(call c) {
  std::optional<response> no;
  const auto query = query_parameters::read(c.rq, {"limit", "cursor", "status"}, no);
  page_wish page;
  if (!no) no = read_page(c.rq, query, page);
  const auto status = query.find("status");
  const auto wanted = parse_event_ticket_status(status.value_or(""));
  if (!no && status && !wanted)
    no = problem(fault::invalid_parameter, c.rq.request_id, "status must be a state of event tickets.");
  if (no) co_return std::move(*no);
  list_event_tickets wish{
    {c.id, c.by}, page.before, page.limit, {wanted.has_value(), wanted.value_or(event_ticket_status{})}};
  auto got = co_await ask_event(c.ctx, owner_of(c.id), std::move(wish));
  if (auto refusal = refused(c.rq, got)) co_return std::move(*refusal);
  co_return response{.status = 200, .body = event_tickets_text(got.reply)};
}

} // namespace

std::span<const route> event_ticket_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/event-tickets", for_customers<list_held, query_use::own>},
    {get, "/event-tickets/{id}", for_customers_or_managers<show_event_ticket>},
    {get, "/event-tickets/transfers", for_customers<list_own_transfers>},
    {post, "/event-tickets/{id}/transfer", for_customers<transfer>},
    {post, "/event-tickets/transfers/{id}/accept", for_customers<answer_transfer<transfer_trigger::accept>>},
    {post, "/event-tickets/transfers/{id}/decline",
     for_customers<answer_transfer<transfer_trigger::decline>>},
    {post, "/event-tickets/transfers/{id}/withdraw",
     for_customers<answer_transfer<transfer_trigger::withdraw>>},
    {get, "/events/{id}/event-tickets", for_managers<list_of_sale, query_use::own>},
  };
  return table;
}

} // namespace fq::net
