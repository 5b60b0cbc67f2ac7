// SPDX-License-Identifier: Apache-2.0
#include "net/wire/statistics_codec.hpp"

#include "net/wire/json_out.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <utility>

namespace fq::net {
namespace {

namespace json = boost::json;

json::object point_of(const statistics_row& r, event_kind kind) {
  json::object point{{"at", rfc3339(r.at)},
                     {"waiting", r.waiting},
                     {"waiting_peak", r.waiting_peak},
                     {kind == event_kind::sale ? "admitted" : "active", r.admitted},
                     {"arrivals", r.arrivals},
                     {"admissions", r.admissions}};
  if (kind == event_kind::queue) return point;
  point.emplace("held", r.held);
  point.emplace("sold", r.sold);
  point.emplace("available", r.available);
  point.emplace("revenue", r.revenue);
  return point;
}

json::array points_of(const std::vector<statistics_row>& rows, event_kind kind) {
  json::array points;
  for (const auto& r : rows) points.push_back(point_of(r, kind));
  return points;
}

json::array types_of(const sale_report& r) {
  json::array types;
  for (const auto& t : r.types)
    types.push_back(json::object{{"ticket_type_id", to_string(t.id)},
                                 {"name", t.name},
                                 {"price", t.price},
                                 {"total", t.total},
                                 {"sold", t.sold},
                                 {"refunded", t.refunded},
                                 {"revenue", t.revenue}});
  return types;
}

json::object interventions_of(const sale_report& r) {
  json::object counts;
  for (const auto& c : r.intervention_counts) counts.emplace(c.action, c.count);
  json::array entries;
  for (const auto& i : r.interventions)
    entries.push_back(json::object{{"at", time_or_null(i.at)},
                                   {"actor", i.actor},
                                   {"action", i.action},
                                   {"reason", text_or_null(i.reason)}});
  return {
    {"counts", std::move(counts)}, {"entries", std::move(entries)}, {"has_more", r.has_more_interventions}};
}

} // namespace

std::string statistics_text(const uuid& id, event_kind kind, const std::vector<statistics_row>& rows,
                            const statistics_window& window, timestamp wanted) {
  return json::serialize(json::object{{kind == event_kind::sale ? "event_id" : "queue_id", to_string(id)},
                                      {"from", rfc3339(window.from)},
                                      {"to", rfc3339(window.to)},
                                      {"step_seconds", window.step.count() / 1'000},
                                      {"points", points_of(rows, kind)},
                                      {"next_from", time_or_null(window.to < wanted ? window.to : never)}});
}

std::string report_text(const sale_report& r) {
  const auto number_or_null = [](std::int64_t n) { return n < 0 ? json::value{} : json::value(n); };
  return json::serialize(json::object{{"event_id", to_string(r.event)},
                                      {"name", r.name},
                                      {"currency", r.currency},
                                      {"status", name_of(r.status)},
                                      {"queue_opens_at", time_or_null(r.queue_opens_at)},
                                      {"sale_start", time_or_null(r.sale_start)},
                                      {"sale_end", time_or_null(r.sale_end)},
                                      {"made_at", time_or_null(r.made_at)},
                                      {"arrivals", r.arrivals},
                                      {"admissions", r.admissions},
                                      {"purchases", r.purchases},
                                      {"buyers", r.buyers},
                                      {"places_with_purchase", r.places_with_purchase},
                                      {"conversion_percent", number_or_null(r.conversion_percent)},
                                      {"total", r.total},
                                      {"sold", r.sold},
                                      {"refunded_tickets", r.refunded_tickets},
                                      {"revenue", r.revenue},
                                      {"refunded", r.refunded},
                                      {"refunds", r.refunds},
                                      {"refunds_open", r.refunds_open},
                                      {"waiting_peak", r.waiting_peak},
                                      {"waiting_peak_at", time_or_null(r.waiting_peak_at)},
                                      {"sold_out_at", time_or_null(r.sold_out_at)},
                                      {"minutes_to_sold_out", number_or_null(r.minutes_to_sold_out)},
                                      {"ticket_types", types_of(r)},
                                      {"interventions", interventions_of(r)},
                                      {"timeline", points_of(r.timeline, event_kind::sale)}});
}

} // namespace fq::net
