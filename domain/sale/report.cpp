// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/report.hpp"

#include "domain/sale/limits.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace fq {
namespace {

/// Half-up.
std::int32_t percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? -1 : static_cast<std::int32_t>((part * 200 + whole) / (whole * 2));
}

/// At least 1, because a row has the state of a full minute.
std::int64_t minutes_between(timestamp start, timestamp end) {
  return std::max<std::int64_t>(
    (unix_ms(end) - unix_ms(start) + statistics_step.count() - 1) / statistics_step.count(), 1);
}

std::vector<type_report> types_of(const std::vector<ticket_type_row>& types,
                                  const std::vector<type_figures>& figures) {
  std::vector<type_report> all;
  for (const auto& t : types) {
    auto& row = all.emplace_back(type_report{t.id, t.name, t.price, t.total});
    const auto found = std::ranges::find(figures, t.ordinal, &type_figures::ticket_type);
    if (found == figures.end()) continue;
    row.sold = found->bought - found->refunded;
    row.refunded = found->refunded;
    row.revenue = found->revenue;
  }
  return all;
}

std::vector<intervention_count> counts_of(const std::vector<audit_row>& rows) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& r : rows) ++counts[r.action];
  std::vector<intervention_count> all;
  for (auto& [action, count] : counts) all.push_back({action, count});
  return all;
}

} // namespace

sale_report report_of(report_sources s) {
  const auto& event = s.event.event;
  const auto& f = s.figures;
  sale_report r;
  r.event = event.id;
  r.name = event.name;
  r.currency = event.currency;
  r.status = event.status;
  r.queue_opens_at = event.queue_opens_at;
  r.sale_start = event.sale_start;
  r.sale_end = event.sale_end;
  r.made_at = s.stats.server_time;
  r.arrivals = s.stats.joined_total;
  r.admissions = s.stats.admitted_total;
  r.purchases = f.purchases;
  r.buyers = f.buyers;
  r.places_with_purchase = f.places;
  r.conversion_percent = percent_of(f.places, r.admissions);
  r.total = s.stats.total;
  r.sold = s.stats.sold;
  r.revenue = s.stats.revenue;
  r.refunded = f.refunded;
  r.refunds = f.refunds;
  r.refunds_open = f.refunds_open;
  r.waiting_peak = f.waiting_peak;
  r.waiting_peak_at = f.waiting_peak_at;
  r.sold_out_at = f.sold_out_at;
  if (is_set(r.sold_out_at)) r.minutes_to_sold_out = minutes_between(r.sale_start, r.sold_out_at);
  r.types = types_of(s.event.ticket_types, f.types);
  for (const auto& t : r.types) r.refunded_tickets += t.refunded;
  r.intervention_counts = counts_of(s.interventions);
  r.interventions = std::move(s.interventions);
  r.has_more_interventions = s.has_more_interventions;
  r.timeline = std::move(s.timeline);
  return r;
}

} // namespace fq
