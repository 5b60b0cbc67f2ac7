// SPDX-License-Identifier: Apache-2.0
// Every handler of the route tables, by the file that defines it. Named after method and resource; called
// only by the connection.
#pragma once
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

namespace fq::net {

// auth_routes.cpp
awaitable<response> post_organizer_login(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_otp_request(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_otp_verify(context& ctx, const request& rq, const path_parameters& path);

// event_routes.cpp
awaitable<response> post_events(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_events(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_event(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> patch_event_settings(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_event_stats(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> activate_event(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> pause_event(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> resume_event(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> end_event(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> cancel_event(context& ctx, const request& rq, const path_parameters& path);

// waiting_room_routes.cpp
awaitable<response> post_sessions(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_queues(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_queues(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_one_queue(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_queue_stats(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> patch_queue(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> pause_queue(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> resume_queue(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> advance_queue(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> advance_event(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_revocations(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_event_revocations(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_place_search(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_event_place_search(context& ctx, const request& rq, const path_parameters& path);

// ticket_routes.cpp
awaitable<response> post_tickets(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_ticket(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_ticket(context& ctx, const request& rq, const path_parameters& path);

// access_routes.cpp
awaitable<response> get_access(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_access(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_jwks(context& ctx, const request& rq, const path_parameters& path);

// audit_routes.cpp
awaitable<response> get_audit(context& ctx, const request& rq, const path_parameters& path);

// queue_routes.cpp
awaitable<response> post_queue(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_position(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_queue(context& ctx, const request& rq, const path_parameters& path);

// claim_routes.cpp
awaitable<response> post_claims(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_claim(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_claim(context& ctx, const request& rq, const path_parameters& path);

// payment_routes.cpp
awaitable<response> post_payments(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_payment(context& ctx, const request& rq, const path_parameters& path);

// sandbox_routes.cpp
awaitable<response> get_sandbox_page(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_sandbox_page(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_sandbox_webhook(context& ctx, const request& rq, const path_parameters& path);

// ws_routes.cpp
awaitable<response> get_ticket_socket(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_queue_socket(context& ctx, const request& rq, const path_parameters& path);

// ops_routes.cpp
awaitable<response> get_livez(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_readyz(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_metrics(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_openapi(context& ctx, const request& rq, const path_parameters& path);

// asset_routes.cpp
awaitable<response> get_docs(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_favicon(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_console(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_asset(context& ctx, const request& rq, const path_parameters& path);

awaitable<response> get_wait_worker(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_sdk(context& ctx, const request& rq, const path_parameters& path);

// wait_routes.cpp
awaitable<response> get_wait_page(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_wait_page(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_wait_device(context& ctx, const request& rq, const path_parameters& path);

// shop_routes.cpp
awaitable<response> get_shop(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_shop(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_shop_event(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_shop_event(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_shop_return(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_shop_orders(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_shop_order(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_shop_order(context& ctx, const request& rq, const path_parameters& path);

// root_routes.cpp
awaitable<response> get_root(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_robots(context& ctx, const request& rq, const path_parameters& path);

// demo_routes.cpp
awaitable<response> get_demo_mail(context& ctx, const request& rq, const path_parameters& path);

// order_routes.cpp
awaitable<response> post_quote(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_checkout(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_orders(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_order(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_order_status(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_order(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_checkout_return(context& ctx, const request& rq, const path_parameters& path);

// order_desk_routes.cpp
awaitable<response> get_event_orders(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_order_search(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_refund(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_resend(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_promo_codes(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_promo_codes(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> patch_promo_code(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_promo_code(context& ctx, const request& rq, const path_parameters& path);
// people_routes.cpp
awaitable<response> post_vips(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_vips(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_vips(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_invitations(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_invitations(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_invitations(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_own_invitation(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_blocks(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_blocks(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_block(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_routing(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> put_routing(context& ctx, const request& rq, const path_parameters& path);
// order_desk_routes.cpp, continued
awaitable<response> get_dead_letters(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> retry_dead_letter(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> dismiss_dead_letter(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_settings(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> patch_settings(context& ctx, const request& rq, const path_parameters& path);

// export_routes.cpp
awaitable<response> get_orders_csv(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_audit_csv(context& ctx, const request& rq, const path_parameters& path);

// task_routes.cpp
awaitable<response> get_tasks(context& ctx, const request& rq, const path_parameters& path);

// notice_routes.cpp
awaitable<response> post_ticket_devices(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_ticket_devices(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_ticket_device(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_ticket_deliveries(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_own_devices(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_own_devices(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_own_device(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_own_deliveries(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_endpoints(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_endpoints(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_endpoint(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> patch_endpoint(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> delete_endpoint(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_endpoint_secret(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_endpoint_test(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_endpoint_deliveries(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_delivery_replay(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> get_deliveries(context& ctx, const request& rq, const path_parameters& path);

// webhook_routes.cpp
awaitable<response> post_paystack_webhook(context& ctx, const request& rq, const path_parameters& path);
awaitable<response> post_stripe_webhook(context& ctx, const request& rq, const path_parameters& path);

} // namespace fq::net
