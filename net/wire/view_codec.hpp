// SPDX-License-Identifier: Apache-2.0
// Writes claims, payments, statistics and the audit log as JSON, by Boost.JSON: cold answers, where clarity
// counts. Called by the routes. The hot ones are in net/wire/codec.
#pragma once
#include "domain/sale/views.hpp"

#include <string>
#include <vector>

namespace fq::net {

[[nodiscard]] std::string claim_text(const claim_view& claim);
[[nodiscard]] std::string payment_text(const payment_view& payment);
[[nodiscard]] std::string stats_text(const event_stats& stats);
/// The same of a standalone queue, which sells nothing.
[[nodiscard]] std::string queue_stats_text(const event_stats& stats);
/// `more`: the last row's id becomes the next cursor.
[[nodiscard]] std::string audit_text(const std::vector<audit_row>& rows, bool more);
/// Without the seats.
void append_tenant_plan(std::string& out, const seat_plan_row& plan);
/// `more`: as of audit_text.
[[nodiscard]] std::string tenant_plans_text(const std::vector<seat_plan_row>& plans, bool more);

} // namespace fq::net
