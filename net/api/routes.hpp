// SPDX-License-Identifier: Apache-2.0
// One table of routes per file of this folder, at its end, beside the handlers.
#pragma once
#include "net/http/http.hpp"

#include <span>

namespace fq::net {

[[nodiscard]] std::span<const route> access_routes();
[[nodiscard]] std::span<const route> audit_routes();
[[nodiscard]] std::span<const route> auth_routes();
[[nodiscard]] std::span<const route> challenge_routes();
[[nodiscard]] std::span<const route> checkin_routes();
[[nodiscard]] std::span<const route> claim_routes();
[[nodiscard]] std::span<const route> customer_routes();
[[nodiscard]] std::span<const route> event_routes();
[[nodiscard]] std::span<const route> event_ticket_routes();
[[nodiscard]] std::span<const route> export_routes();
[[nodiscard]] std::span<const route> lobby_routes();
[[nodiscard]] std::span<const route> notice_routes();
[[nodiscard]] std::span<const route> order_desk_routes();
[[nodiscard]] std::span<const route> order_routes();
[[nodiscard]] std::span<const route> payment_routes();
[[nodiscard]] std::span<const route> people_routes();
[[nodiscard]] std::span<const route> picture_routes();
[[nodiscard]] std::span<const route> queue_routes();
[[nodiscard]] std::span<const route> report_routes();
[[nodiscard]] std::span<const route> plan_routes();
[[nodiscard]] std::span<const route> seat_routes();
[[nodiscard]] std::span<const route> task_routes();
[[nodiscard]] std::span<const route> ticket_routes();
[[nodiscard]] std::span<const route> waiting_room_routes();
[[nodiscard]] std::span<const route> webhook_routes();
[[nodiscard]] std::span<const route> witness_routes();
[[nodiscard]] std::span<const route> log_routes();
[[nodiscard]] std::span<const route> ws_routes();

} // namespace fq::net
