// SPDX-License-Identifier: Apache-2.0
// GET /ws/queue/{event_id}: everything that is decided before the upgrade (origin, token, place). Frames are
// the hub's.
#include "net/auth.hpp"
#include "net/cors.hpp"
#include "net/guards.hpp"
#include "net/handlers.hpp"
#include "net/query.hpp"
#include "net/services.hpp"

#include <algorithm>

namespace fq::net {
namespace {

constexpr std::string_view subprotocol = "fairqueue.v1";
constexpr std::string_view protocol_field = "Sec-WebSocket-Protocol";

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t");
  return from == std::string_view::npos ? std::string_view{}
                                        : text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

struct credentials {
  std::optional<response> no;
  std::string_view token;
  std::string_view protocol; ///< to answer with; empty: the client offered none
};

/// "fairqueue.v1, <token>": the token travels as a second protocol name, because browsers cannot set other
/// fields.
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

credentials read_credentials(const request& rq) {
  auto found = read_protocols(rq.field(protocol_field));
  const auto query = query_parameters::read(rq, {"token"}, found.no);
  if (const auto token = query.find("token"); token && found.token.empty())
    found.token = *token;
  if (found.token.empty())
    found.token = bearer_token(rq);
  return found;
}

awaitable<response> follow_place(context& ctx, const request& rq, customer_id who, timestamp authorized_until,
                                 event_id event, std::string_view protocol) {
  auto got = co_await ask_event(ctx, owner_of(event), find_entry{event, who});
  if (auto no = refused(rq, got))
    co_return std::move(*no);
  const auto& entry = got.reply.entry;
  response answer;
  answer.upgrade = ws_upgrade{who, event, entry.id, entry.number, protocol, authorized_until};
  co_return answer;
}

} // namespace

awaitable<response> get_queue_socket(context& ctx, const request& rq, const path_parameters& path) {
  if (rq.has_field("Origin") && !origin_allowed(ctx.options.http.allowed_origins, rq.field("Origin")))
    return ready(problem(fault::origin_not_allowed, rq.request_id));
  auto found = read_credentials(rq);
  if (found.no)
    return ready(std::move(*found.no));
  auto who = authenticate(ctx, rq, token_kind::customer, found.token);
  if (who.no)
    return ready(std::move(*who.no));
  if (who.expires_at <= ctx.environment.wall_now()) { // in the clocks' leeway: the socket would be closed at once
    ctx.shared->counts.unauthenticated.add();
    return ready(problem(fault::unauthenticated, rq.request_id));
  }
  if (auto no = limit_customer(ctx, rq, who.subject))
    return ready(std::move(*no));
  const auto event = parse_event_owned_id(path.values[0]);
  if (!event)
    return ready(problem(fault::not_found, rq.request_id));
  return follow_place(ctx, rq, who.subject, who.expires_at, *event, found.protocol);
}

} // namespace fq::net
