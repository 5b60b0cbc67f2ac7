// SPDX-License-Identifier: Apache-2.0
// The report of a sale: one pure function over what the ledger and the event's owner know. Called by the
// report routes.
#pragma once
#include "domain/sale/views.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fq {

struct type_report {
  ticket_type_id id;
  std::string name;
  money price = 0;
  std::int64_t total = 0, sold = 0, refunded = 0; ///< `sold` without refunded units
  money revenue = 0; ///< of `sold`, without fees
  friend bool operator==(const type_report&, const type_report&) = default;
};

/// Actions of people on the event, by kind.
struct intervention_count {
  std::string action;
  std::uint64_t count = 0;
  friend bool operator==(const intervention_count&, const intervention_count&) = default;
};

/// An amount is in minor units of `currency`.
struct sale_report {
  event_id event;
  std::string name, currency;
  event_status status{};
  timestamp queue_opens_at, sale_start, sale_end;
  timestamp made_at;
  std::uint64_t arrivals = 0, admissions = 0;
  std::uint64_t purchases = 0, buyers = 0;
  std::uint64_t places_with_purchase = 0;
  std::int32_t conversion_percent = -1; ///< of admissions that led to a purchase; -1: no admissions
  std::int64_t total = 0, sold = 0, refunded_tickets = 0;
  money revenue = 0, refunded = 0; ///< with fees; `revenue` without what was refunded
  std::uint64_t refunds = 0, refunds_open = 0;
  std::uint64_t waiting_peak = 0;
  timestamp waiting_peak_at, sold_out_at; ///< never: unknown, not sold out
  std::int64_t minutes_to_sold_out = -1; ///< from the start of the sale, rounded up; -1: not sold out
  std::vector<type_report> types; ///< by ordinal
  std::vector<intervention_count> intervention_counts; ///< by action
  std::vector<audit_row> interventions; ///< newest first
  bool has_more_interventions = false; ///< older ones are neither listed nor counted
  std::vector<statistics_row> timeline; ///< oldest first, at most statistics_points_max
};

struct report_sources {
  event_view event;
  event_stats stats;
  sale_figures figures;
  std::vector<statistics_row> timeline;
  std::vector<audit_row> interventions; ///< newest first
  bool has_more_interventions = false;
};

[[nodiscard]] sale_report report_of(report_sources sources);

} // namespace fq
