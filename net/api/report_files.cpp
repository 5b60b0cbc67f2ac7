// SPDX-License-Identifier: Apache-2.0
#include "net/api/report_files.hpp"

#include "domain/money/money_text.hpp"
#include "net/http/json_text.hpp"
#include "net/wire/csv.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace fq::net {
namespace {

/// "2026-11-27 08:15 UTC", for people.
std::string minute_text(timestamp when) {
  if (!is_set(when)) return "-";
  auto text = rfc3339(when).substr(0, 16);
  text.replace(10, 1, " ");
  return text + " UTC";
}

std::string percent_text(std::int32_t percent) { return percent < 0 ? "-" : std::to_string(percent) + " %"; }

// -- CSV

class csv_writer {
public:
  void add(std::string_view section, std::string_view item, std::string_view measure,
           const std::string& value) {
    append_csv_row(out_, {section, item, measure, value});
  }
  template <class Number>
  void count(std::string_view section, std::string_view item, std::string_view measure, Number value) {
    add(section, item, measure, std::to_string(value));
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

private:
  std::string out_{csv_start};
};

void add_totals(const sale_report& r, csv_writer& out) {
  out.add("sale", "", "event_id", to_string(r.event));
  out.add("sale", "", "name", r.name);
  out.add("sale", "", "status", std::string{name_of(r.status)});
  out.add("sale", "", "currency", r.currency);
  out.add("sale", "", "queue_opens_at", csv_time(r.queue_opens_at));
  out.add("sale", "", "sale_start", csv_time(r.sale_start));
  out.add("sale", "", "sale_end", csv_time(r.sale_end));
  out.add("sale", "", "made_at", csv_time(r.made_at));
  out.count("sale", "", "arrivals", r.arrivals);
  out.count("sale", "", "admissions", r.admissions);
  out.count("sale", "", "purchases", r.purchases);
  out.count("sale", "", "buyers", r.buyers);
  out.count("sale", "", "places_with_purchase", r.places_with_purchase);
  if (r.conversion_percent >= 0) out.count("sale", "", "conversion_percent", r.conversion_percent);
  out.count("sale", "", "total", r.total);
  out.count("sale", "", "sold", r.sold);
  out.count("sale", "", "refunded_tickets", r.refunded_tickets);
  out.add("sale", "", "revenue", amount_text(r.revenue, r.currency));
  out.add("sale", "", "refunded", amount_text(r.refunded, r.currency));
  out.count("sale", "", "refunds", r.refunds);
  out.count("sale", "", "refunds_open", r.refunds_open);
  out.count("sale", "", "waiting_peak", r.waiting_peak);
  out.add("sale", "", "waiting_peak_at", csv_time(r.waiting_peak_at));
  out.add("sale", "", "sold_out_at", csv_time(r.sold_out_at));
  if (r.minutes_to_sold_out >= 0) out.count("sale", "", "minutes_to_sold_out", r.minutes_to_sold_out);
}

void add_types(const sale_report& r, csv_writer& out) {
  for (const auto& t : r.types) {
    out.add("ticket_type", t.name, "price", amount_text(t.price, r.currency));
    out.count("ticket_type", t.name, "total", t.total);
    out.count("ticket_type", t.name, "sold", t.sold);
    out.count("ticket_type", t.name, "refunded", t.refunded);
    out.add("ticket_type", t.name, "revenue", amount_text(t.revenue, r.currency));
  }
}

void add_timeline(const sale_report& r, csv_writer& out) {
  for (const auto& p : r.timeline) {
    const auto at = rfc3339(p.at);
    out.count("timeline", at, "waiting", p.waiting);
    out.count("timeline", at, "waiting_peak", p.waiting_peak);
    out.count("timeline", at, "arrivals", p.arrivals);
    out.count("timeline", at, "admissions", p.admissions);
    out.count("timeline", at, "held", p.held);
    out.count("timeline", at, "sold", p.sold);
    out.add("timeline", at, "revenue", amount_text(p.revenue, r.currency));
  }
}

// -- PDF

std::vector<print::report_fact> facts_of(const sale_report& r) {
  const auto count = [](auto n) { return std::to_string(n); };
  const auto peak = count(r.waiting_peak)
                    + (is_set(r.waiting_peak_at) ? " at " + minute_text(r.waiting_peak_at) : std::string{});
  const auto refunds =
    count(r.refunds) + " of " + money_text(r.refunded, r.currency)
    + (r.refunds_open > 0 ? ", " + count(r.refunds_open) + " not made yet" : std::string{});
  return {
    {"Start of the sale", minute_text(r.sale_start)},
    {"End of the sale", minute_text(r.sale_end)},
    {"Tickets sold", count(r.sold) + " of " + count(r.total)},
    {"Sold out after", r.minutes_to_sold_out < 0 ? "not sold out" : count(r.minutes_to_sold_out) + " min"},
    {"Revenue, fees included", money_text(r.revenue, r.currency)},
    {"Refunds", refunds},
    {"Joined the line", count(r.arrivals)},
    {"Highest number waiting", peak},
    {"Admitted", count(r.admissions)},
    {"Admitted places that bought", percent_text(r.conversion_percent)},
    {"Purchases", count(r.purchases)},
    {"Buyers", count(r.buyers)}};
}

template <class Value>
print::report_line line_of(const sale_report& r, std::string name, Value value) {
  print::report_line line{std::move(name), {}};
  for (const auto& p : r.timeline) line.values.push_back(static_cast<double>(value(p)));
  return line;
}

print::report_chart chart_of(const sale_report& r, std::string title, std::vector<print::report_line> lines) {
  print::report_chart chart{std::move(title), {}, std::move(lines), {}, {}, {}};
  for (const auto& p : r.timeline) chart.times.push_back(static_cast<double>(unix_ms(p.at)));
  if (r.timeline.empty()) return chart;
  double highest = 0;
  for (const auto& line : chart.lines) highest = std::max(highest, std::ranges::max(line.values));
  chart.begin = minute_text(r.timeline.front().at);
  chart.end = minute_text(r.timeline.back().at);
  chart.highest = "highest: " + std::to_string(static_cast<std::int64_t>(highest));
  return chart;
}

print::report_table types_table(const sale_report& r) {
  print::report_table table{"Ticket types",
                            {"Type", "Price", "Total", "Sold", "Refunded", "Revenue"},
                            {},
                            "Revenue of a type is without fees and without what was refunded."};
  for (const auto& t : r.types)
    table.rows.push_back({t.name, amount_text(t.price, r.currency), std::to_string(t.total),
                          std::to_string(t.sold), std::to_string(t.refunded),
                          amount_text(t.revenue, r.currency)});
  return table;
}

print::report_table interventions_table(const sale_report& r) {
  print::report_table table{"Interventions", {"Reason", "Time", "Action"}, {}, {}};
  for (const auto& i : r.interventions)
    table.rows.push_back({i.reason.empty() ? "-" : i.reason, minute_text(i.at), i.action});
  if (r.interventions.empty()) table.note = "None.";
  if (r.has_more_interventions) table.note = "The newest ones; the audit log has all.";
  return table;
}

} // namespace

std::string report_csv(const sale_report& r) {
  csv_writer out;
  out.add("section", "item", "measure", "value");
  add_totals(r, out);
  add_types(r, out);
  for (const auto& c : r.intervention_counts) out.count("intervention", c.action, "count", c.count);
  add_timeline(r, out);
  return out.take();
}

print::report_document report_document(const sale_report& r) {
  print::report_document d;
  d.title = r.name;
  d.subtitle = "Report of the sale, made " + minute_text(r.made_at) + ". Amounts in " + r.currency + ".";
  d.created_at = r.made_at;
  d.facts = facts_of(r);
  d.charts.push_back(chart_of(r, "People",
                              {line_of(r, "Waiting, highest", [](const auto& p) { return p.waiting_peak; }),
                               line_of(r, "Arrivals", [](const auto& p) { return p.arrivals; }),
                               line_of(r, "Admissions", [](const auto& p) { return p.admissions; })}));
  d.charts.push_back(chart_of(r, "Tickets",
                              {line_of(r, "Sold", [](const auto& p) { return p.sold; }),
                               line_of(r, "Held", [](const auto& p) { return p.held; }),
                               line_of(r, "Free", [](const auto& p) { return p.available; })}));
  d.tables = {types_table(r), interventions_table(r)};
  return d;
}

} // namespace fq::net
