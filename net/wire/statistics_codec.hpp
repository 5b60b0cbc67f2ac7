// SPDX-License-Identifier: Apache-2.0
// Writes the statistics of an event and its report as JSON. Called by the report routes.
#pragma once
#include "domain/sale/report.hpp"
#include "domain/sale/statistics.hpp"

#include <string>
#include <vector>

namespace fq::net {

/// `wanted`: the end that was asked for; after window.to, the answer says where the next one begins.
[[nodiscard]] std::string statistics_text(const uuid& id, event_kind kind,
                                          const std::vector<statistics_row>& rows,
                                          const statistics_window& window, timestamp wanted);
[[nodiscard]] std::string report_text(const sale_report& report);

} // namespace fq::net
