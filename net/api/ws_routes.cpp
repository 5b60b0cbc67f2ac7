// SPDX-License-Identifier: Apache-2.0
// GET /ws/queue/{event_id} and /tickets/{id}/ws: the checks before the upgrade (origin, token, entry). The
// hub sends the frames.
#include "net/api/routes.hpp"
#include "net/http/cors.hpp"
#include "net/http/query.hpp"
#include "net/http/text.hpp"
#include "net/service/auth.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"

#include <algorithm>
#include <charconv>

namespace fq::net {
namespace {

constexpr std::string_view subprotocol = "fairqueue.v1";
constexpr std::string_view protocol_field = "Sec-WebSocket-Protocol";

struct credentials {
  std::optional<response> no;
  std::string_view token;
  std::string_view protocol; ///< protocol to answer; empty: the client offered none
  std::uint64_t seats_version = 0; ///< see ws_upgrade
};

/// Reads "fairqueue.v1, <token>". The token is sent as a second protocol name, because browsers cannot set
/// other fields.
credentials read_protocols(std::string_view offered) {
  credentials found;
  while (!offered.empty()) {
    const auto end = std::min(offered.find(','), offered.size());
    const auto name = trimmed(offered.substr(0, end));
    offered.remove_prefix(std::min(end + 1, offered.size()));
    if (name == subprotocol)
      found.protocol = subprotocol;
    else if (found.token.empty())
      found.token = name;
  }
  return found;
}

bool read_version(std::string_view text, std::uint64_t& version) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), version);
  return failed == std::errc{} && end == text.data() + text.size();
}

credentials read_credentials(const request& rq) {
  auto found = read_protocols(rq.field(protocol_field));
  const auto query = query_parameters::read(rq, {"token", "seats"}, found.no);
  if (const auto seats = query.find("seats"); seats && !read_version(*seats, found.seats_version))
    found.no = problem(fault::invalid_parameter, rq.request_id, "seats: must be a version of the map");
  if (const auto token = query.find("token"); token && found.token.empty()) found.token = *token;
  if (found.token.empty()) found.token = bearer_token(rq);
  return found;
}

/// The client and its checks before any request to the owner.
struct visitor {
  std::optional<response> no;
  uuid who;
  timestamp authorized_until;
  std::string_view protocol;
  std::uint64_t seats_version = 0;
};

visitor admit(context& ctx, const request& rq, bool by_ticket) {
  const auto origin = rq.field("Origin");
  if (rq.has_field("Origin") && !origin_allowed(ctx.options.http.allowed_origins, origin)
      && !is_own_origin(rq, ctx.options.http.public_url, origin))
    return {problem(fault::origin_not_allowed, rq.request_id), {}, {}, {}};
  auto found = read_credentials(rq);
  if (found.no) return {std::move(found.no), {}, {}, {}};
  auto who = by_ticket ? authenticate(ctx, rq, token_kind::ticket, found.token)
                       : authenticate_shopper(ctx, rq, found.token);
  if (who.no) return {std::move(who.no), {}, {}, {}};
  if (who.expires_at <= ctx.environment.wall_now()) // accepted by clock tolerance only
    return {unauthenticated(ctx, rq), {}, {}, {}};
  return {limit_customer(ctx, rq, who.subject), who.subject, who.expires_at, found.protocol,
          found.seats_version};
}

response follow(const entry_view& entry, const visitor& v, bool by_ticket) {
  response answer;
  answer.upgrade =
    ws_upgrade{v.who, by_ticket, entry.event, entry.number, v.protocol, v.authorized_until, v.seats_version};
  return answer;
}

awaitable<response> follow_place(context& ctx, const request& rq, visitor v, event_id event) {
  auto got = co_await ask_event(ctx, owner_of(event), find_entry{event, v.who});
  if (auto no = refused(rq, got)) co_return std::move(*no);
  co_return follow(got.reply.entry, v, false);
}

awaitable<response> follow_ticket(context& ctx, const request& rq, visitor v) {
  auto got = co_await ask_event(ctx, owner_of(v.who), find_ticket{v.who});
  if (auto no = refused(rq, got)) co_return std::move(*no);
  co_return follow(got.reply.entry, v, true);
}

awaitable<response> get_queue_socket(context& ctx, const request& rq, const path_parameters& path) {
  auto v = admit(ctx, rq, false);
  if (v.no) return ready(std::move(*v.no));
  const auto event = parse_event_owned_id(path.values[0]);
  if (!event) return ready(problem(fault::not_found, rq.request_id));
  return follow_place(ctx, rq, std::move(v), *event);
}

awaitable<response> get_ticket_socket(context& ctx, const request& rq, const path_parameters& path) {
  auto v = admit(ctx, rq, true);
  if (v.no) return ready(std::move(*v.no));
  if (parse_event_owned_id(path.values[0]) != v.who) // another entry's token
    return ready(problem(fault::not_found, rq.request_id));
  return follow_ticket(ctx, rq, std::move(v));
}

} // namespace

std::span<const route> ws_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/ws/queue/{event_id}", self_guarded<get_queue_socket, audience::customers_or_guests>},
    {get, "/tickets/{id}/ws", self_guarded<get_ticket_socket, audience::ticket_holders>},
  };
  return table;
}

} // namespace fq::net
