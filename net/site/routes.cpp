// SPDX-License-Identifier: Apache-2.0
// The route tables and the hooks around every request of a listener.
#include "net/site/routes.hpp"

#include "net/bridge/context.hpp"
#include "net/http/client_address.hpp"
#include "net/http/cors.hpp"
#include "net/http/problem.hpp"
#include "net/service/handlers.hpp"
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

/// For 1,000 e-mail addresses, the limit of read_emails, of 320 bytes in JSON.
constexpr std::size_t emails_body_limit = 384 * 1024;

constexpr std::string_view all_methods = "GET, POST, PUT, PATCH, DELETE";

std::optional<response> before_public(context& ctx, request& rq) {
  rq.peer = client_address(rq.peer, rq.fields, ctx.options.http.trusted_proxies);
  if (is_preflight(rq)) [[unlikely]]
    return preflight(ctx.options.http.allowed_origins, rq, all_methods);
  return std::nullopt;
}

void after_public(context& ctx, const request& rq, const route* found, response& answer, milliseconds took) {
  if (!is_preflight(rq)) // a preflight's answer has its CORS fields already
    add_cors(ctx.options.http.allowed_origins, rq, answer);
  ctx.shared->counts.observe(found, answer.status, took);
}

} // namespace

std::vector<route> public_routes(std::size_t webhook_body_limit) {
  using enum method;
  return {
    {post, "/auth/organizer/login", post_organizer_login, 0},
    {post, "/auth/customer/otp/request", post_otp_request, 0},
    {post, "/auth/customer/otp/verify", post_otp_verify, 0},

    {post, "/events", post_events, 0},
    {get, "/events", get_events, 0},
    {get, "/events/{id}", get_event, 0},
    {patch, "/events/{id}", patch_event_settings, 0},
    {get, "/events/{id}/stats", get_event_stats, 0},
    {post, "/events/{id}/activate", activate_event, 0},
    {put, "/events/{id}/activate", activate_event, 0},
    {post, "/events/{id}/pause", pause_event, 0},
    {put, "/events/{id}/pause", pause_event, 0},
    {post, "/events/{id}/resume", resume_event, 0},
    {put, "/events/{id}/resume", resume_event, 0},
    {post, "/events/{id}/end", end_event, 0},
    {put, "/events/{id}/end", end_event, 0},
    {post, "/events/{id}/cancel", cancel_event, 0},
    {put, "/events/{id}/cancel", cancel_event, 0},

    {post, "/events/{id}/queue", post_queue, 0},
    {del, "/events/{id}/queue", delete_queue, 0},
    {get, "/events/{id}/queue/position", get_position, 0},
    {get, "/ws/queue/{event_id}", get_queue_socket, 0},

    {post, "/events/{id}/claims", post_claims, 0},
    {get, "/claims/{id}", get_claim, 0},
    {del, "/claims/{id}", delete_claim, 0},
    {post, "/claims/{id}/payments", post_payments, 0},
    {get, "/payments/{id}", get_payment, 0},

    {post, "/events/{id}/quote", post_quote, 0},
    {post, "/checkout", post_checkout, 0},
    {get, "/checkout/return", get_checkout_return, 0},
    {get, "/orders", get_orders, 0},
    {get, "/orders/{id}", get_order, 0},
    {del, "/orders/{id}", delete_order, 0},
    {get, "/orders/{id}/status", get_order_status, 0},
    {post, "/orders/{id}/refunds", post_refund, 0},
    {post, "/orders/{id}/resend", post_resend, 0},
    {get, "/events/{id}/orders", get_event_orders, 0},
    {get, "/events/{id}/orders.csv", get_orders_csv, 0},
    {post, "/events/{id}/orders/search", post_order_search, 0},
    {post, "/events/{id}/promo-codes", post_promo_codes, 0},
    {get, "/events/{id}/promo-codes", get_promo_codes, 0},
    {get, "/events/{id}/promo-codes/{code_id}", get_promo_codes, 0},
    {patch, "/events/{id}/promo-codes/{code_id}", patch_promo_code, 0},
    {del, "/events/{id}/promo-codes/{code_id}", delete_promo_code, 0},
    {post, "/events/{id}/vips", post_vips, emails_body_limit},
    {get, "/events/{id}/vips", get_vips, 0},
    {del, "/events/{id}/vips", delete_vips, emails_body_limit},
    {post, "/events/{id}/invitations", post_invitations, emails_body_limit},
    {get, "/events/{id}/invitations", get_invitations, 0},
    {del, "/events/{id}/invitations", delete_invitations, emails_body_limit},
    {get, "/events/{id}/invitations/me", get_own_invitation, 0},
    {post, "/blocked-customers", post_blocks, emails_body_limit},
    {get, "/blocked-customers", get_blocks, 0},
    {del, "/blocked-customers/{customer_id}", delete_block, 0},
    {get, "/notice-routes", get_routing, 0},
    {put, "/notice-routes", put_routing, 0},
    {get, "/dead-letters", get_dead_letters, 0},
    {post, "/dead-letters/{id}/retry", retry_dead_letter, 0},
    {post, "/dead-letters/{id}/dismiss", dismiss_dead_letter, 0},
    {get, "/tasks", get_tasks, 0},
    {get, "/settings", get_settings, 0},
    {patch, "/settings", patch_settings, 0},

    {post, "/events/{id}/advance", advance_event, 0},
    {post, "/events/{id}/revocations", post_event_revocations, 0},
    {post, "/events/{id}/places/search", post_event_place_search, 0},
    {get, "/audit", get_audit, 0},
    {get, "/audit.csv", get_audit_csv, 0},

    {post, "/sessions", post_sessions, 0},
    {post, "/queues", post_queues, 0},
    {get, "/queues", get_queues, 0},
    {get, "/queues/{id}", get_one_queue, 0},
    {patch, "/queues/{id}", patch_queue, 0},
    {get, "/queues/{id}/stats", get_queue_stats, 0},
    {post, "/queues/{id}/advance", advance_queue, 0},
    {post, "/queues/{id}/pause", pause_queue, 0},
    {post, "/queues/{id}/resume", resume_queue, 0},
    {post, "/queues/{id}/revocations", post_revocations, 0},
    {post, "/queues/{id}/places/search", post_place_search, 0},
    {post, "/queues/{id}/tickets", post_tickets, 0},
    {get, "/tickets/{id}", get_ticket, 0},
    {del, "/tickets/{id}", delete_ticket, 0},
    {get, "/tickets/{id}/ws", get_ticket_socket, 0},
    {post, "/tickets/{id}/devices", post_ticket_devices, 0},
    {get, "/tickets/{id}/devices", get_ticket_devices, 0},
    {del, "/tickets/{id}/devices/{device_id}", delete_ticket_device, 0},
    {get, "/tickets/{id}/deliveries", get_ticket_deliveries, 0},
    {post, "/customers/me/devices", post_own_devices, 0},
    {get, "/customers/me/devices", get_own_devices, 0},
    {del, "/customers/me/devices/{device_id}", delete_own_device, 0},
    {get, "/customers/me/deliveries", get_own_deliveries, 0},
    {post, "/webhook-endpoints", post_endpoints, 0},
    {get, "/webhook-endpoints", get_endpoints, 0},
    {get, "/webhook-endpoints/{endpoint_id}", get_endpoint, 0},
    {patch, "/webhook-endpoints/{endpoint_id}", patch_endpoint, 0},
    {del, "/webhook-endpoints/{endpoint_id}", delete_endpoint, 0},
    {post, "/webhook-endpoints/{endpoint_id}/secret", post_endpoint_secret, 0},
    {post, "/webhook-endpoints/{endpoint_id}/test", post_endpoint_test, 0},
    {get, "/webhook-endpoints/{endpoint_id}/deliveries", get_endpoint_deliveries, 0},
    {post, "/webhook-endpoints/{endpoint_id}/deliveries/{notice_id}/replay", post_delivery_replay, 0},
    {get, "/deliveries", get_deliveries, 0},
    {get, "/access", get_access, 0},
    {del, "/access", delete_access, 0},
    {get, "/.well-known/jwks.json", get_jwks, 0},

    {get, "/sandbox/pay/{reference}", get_sandbox_page, 0},
    {post, "/sandbox/pay/{reference}", post_sandbox_page, 0},
    {post, "/webhooks/sandbox", post_sandbox_webhook, webhook_body_limit},
    {post, "/webhooks/paystack", post_paystack_webhook, webhook_body_limit},
    {post, "/webhooks/stripe", post_stripe_webhook, webhook_body_limit},

    {get, "/livez", get_livez, 0},
    {get, "/readyz", get_readyz, 0},
    {get, "/health", get_readyz, 0},
    {get, "/", get_root, 0},
    {get, "/favicon.ico", get_favicon, 0},
    {get, "/robots.txt", get_robots, 0},
    {get, "/openapi.json", get_openapi, 0},
    {get, "/docs", get_docs, 0},
    {get, "/console", get_console, 0},
    {get, "/assets/{name}", get_asset, 0},
    {get, "/sdk/{name}", get_sdk, 0},

    {get, "/wait/{id}", get_wait_page, 0},
    {post, "/wait/{id}", post_wait_page, 0},
    {get, "/wait/{id}/device", get_wait_device, 0},
    {get, "/wait/worker.js", get_wait_worker, 0},
    {get, "/shop", get_shop, 0},
    {post, "/shop", post_shop, 0},
    {get, "/shop/orders", get_shop_orders, 0},
    {get, "/shop/orders/{id}", get_shop_order, 0},
    {post, "/shop/orders/{id}", post_shop_order, 0},
    {get, "/shop/events/{id}", get_shop_event, 0},
    {post, "/shop/events/{id}", post_shop_event, 0},
    {get, "/shop/events/{id}/return", get_shop_return, 0},
    {get, "/demo/mail", get_demo_mail, 0},
  };
}

std::vector<route> admin_routes() {
  using enum method;
  return {
    {get, "/metrics", get_metrics, 0},
    {get, "/livez", get_livez, 0},
    {get, "/readyz", get_readyz, 0},
  };
}

site public_site(std::span<const route> routes) { return {routes, refuse, before_public, after_public}; }

site admin_site(std::span<const route> routes) { return {routes, refuse, nullptr, nullptr}; }

} // namespace fq::net
