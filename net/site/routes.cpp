// SPDX-License-Identifier: Apache-2.0
// The routes of all folders in one table, and the hooks around every request of a listener.
#include "net/site/routes.hpp"

#include "net/api/routes.hpp"
#include "net/bridge/context.hpp"
#include "net/http/client_address.hpp"
#include "net/http/cors.hpp"
#include "net/http/problem.hpp"
#include "net/pages/routes.hpp"
#include "net/service/guards.hpp"
#include "net/service/limits.hpp"
#include "net/service/services.hpp"

namespace fq::net {
namespace {

fault fault_of(http_refusal why) {
  switch (why) {
    case http_refusal::bad_request:
    case http_refusal::bad_handshake: return fault::bad_request;
    case http_refusal::version_not_supported: return fault::version_not_supported;
    case http_refusal::expectation_failed: return fault::expectation_failed;
    case http_refusal::header_too_large: return fault::header_too_large;
    case http_refusal::body_too_large: return fault::body_too_large;
    case http_refusal::unauthenticated: return fault::unauthenticated;
    case http_refusal::not_implemented: return fault::not_implemented;
    case http_refusal::method_unknown:
    case http_refusal::method_not_allowed: return fault::method_not_allowed;
    case http_refusal::request_timeout: return fault::request_timeout;
    case http_refusal::not_found: return fault::not_found;
    case http_refusal::internal_error: return fault::internal_error;
    case http_refusal::overloaded: return fault::unavailable;
    case http_refusal::upgrade_required: return fault::upgrade_required;
  }
  return fault::internal_error;
}

response refuse(context&, const request& rq, http_refusal why, std::string_view detail,
                std::string_view allow) {
  auto answer = problem(fault_of(why), rq.request_id, detail, 1);
  if (!allow.empty()) answer.fields.emplace_back("Allow", std::string{allow});
  if (why == http_refusal::upgrade_required) answer.fields.emplace_back("Upgrade", "websocket");
  return answer;
}

bool may_send(context& ctx, const request& rq, const route& found) {
  return has_token_of(ctx, rq, found.guarded.who);
}

constexpr std::string_view all_methods = "GET, POST, PUT, PATCH, DELETE";

std::optional<response> before_public(context& ctx, request& rq, const route* found) {
  rq.peer = client_address(rq.peer, rq.fields, ctx.options.http.trusted_proxies);
  if (is_preflight(rq)) [[unlikely]]
    return preflight(ctx.options.http.allowed_origins, rq, all_methods);
  return found ? limit_address(ctx, rq, found->guarded.limit) : std::nullopt;
}

void after_public(context& ctx, const request& rq, const route* found, response& answer, milliseconds took) {
  if (!is_preflight(rq)) // a preflight's answer has its CORS fields already
    add_cors(ctx.options.http.allowed_origins, rq, answer);
  ctx.shared->counts.observe(found, answer.status, took);
}

} // namespace

std::vector<route> public_routes(std::size_t webhook_body_limit) {
  std::vector<route> all;
  for (const auto table : {
         access_routes(),  audit_routes(),        auth_routes(),    checkin_routes(),      claim_routes(),
         lobby_routes(),   customer_routes(),     event_routes(),   event_ticket_routes(), export_routes(),
         notice_routes(),  order_desk_routes(),   order_routes(),   payment_routes(),      people_routes(),
         picture_routes(), report_routes(),       queue_routes(),   seat_routes(),         task_routes(),
         ticket_routes(),  waiting_room_routes(), webhook_routes(), ws_routes(),           asset_routes(),
         demo_routes(),    my_tickets_routes(),   root_routes(),    sandbox_routes(),      scan_routes(),
         shop_routes(),    wait_routes(),         witness_routes(), fairness_routes(),     ops_routes(),
         plan_routes(),    challenge_routes(),    log_routes(),
       })
    all.insert(all.end(), table.begin(), table.end());
  for (auto& row : all)
    if (row.body_limit == webhook_body) row.body_limit = webhook_body_limit;
  return all;
}

site public_site(std::span<const route> routes) {
  return {routes, refuse, may_send, before_public, after_public};
}

site admin_site(std::span<const route> routes) { return {routes, refuse, nullptr, nullptr}; }

} // namespace fq::net
