// SPDX-License-Identifier: Apache-2.0
// The stored statistics of an event or queue, and the report of a sale as JSON, CSV and PDF.
#include "domain/sale/limits.hpp"
#include "net/api/limits.hpp"
#include "net/api/query_text.hpp"
#include "net/api/report_files.hpp"
#include "net/api/routes.hpp"
#include "net/http/json_text.hpp"
#include "net/http/query.hpp"
#include "net/service/guards.hpp"
#include "net/service/services.hpp"
#include "net/wire/csv.hpp"
#include "net/wire/statistics_codec.hpp"

#include <algorithm>
#include <charconv>

namespace fq::net {
namespace {

/// What a request asks for; `never`: the default.
struct statistics_wish {
  timestamp from = never, to = never;
  milliseconds step{0}; ///< 0: chosen by the server
};

std::optional<milliseconds> parse_step(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count < 0 || count > 86'400)
    return std::nullopt;
  return is_statistics_step(seconds{count}) ? std::optional{milliseconds{seconds{count}}} : std::nullopt;
}

std::optional<response> read_wish(const request& rq, statistics_wish& wish) {
  std::optional<response> no;
  const auto query = query_parameters::read(rq, {"from", "to", "step"}, no);
  if (no) return no;
  const auto wrong = [&](std::string_view what) {
    return problem(fault::invalid_parameter, rq.request_id, what);
  };
  const auto read_time = [&](std::string_view name, timestamp& to) {
    const auto given = query.find(name);
    const auto text = given ? decoded(*given) : std::nullopt;
    const auto time = text ? parse_rfc3339(*text) : given ? std::nullopt : std::optional{never};
    if (time) to = *time;
    return time && unix_ms(*time) >= 0;
  };
  if (!read_time("from", wish.from) || !read_time("to", wish.to))
    return wrong("from and to must be times of RFC 3339, such as 2026-11-27T08:00:00Z.");
  if (is_set(wish.from) && is_set(wish.to) && wish.to <= wish.from) return wrong("to must be after from.");
  const auto step = query.find("step");
  const auto read = step ? parse_step(*step) : std::optional{milliseconds{0}};
  if (!read) return wrong("step must be 60, 300, 900, 3600, 21600 or 86400 seconds.");
  wish.step = *read;
  return std::nullopt;
}

template <event_kind Kind>
awaitable<response> read_statistics(call c) {
  statistics_wish wish;
  if (auto no = read_wish(c.rq, wish)) co_return std::move(*no);
  if (auto no = limit(c.ctx, c.rq, c.ctx.shared->reports, c.who)) co_return std::move(*no);
  auto allowed = co_await ask_event(c.ctx, owner_of(c.id), find_stats{{c.id, c.by, Kind}});
  if (auto no = refused(c.rq, allowed)) co_return std::move(*no);
  const auto now = allowed.reply.stats.server_time;
  if (!is_set(wish.to)) wish.to = std::max(now, wish.from) + milliseconds{1};
  if (!is_set(wish.from)) wish.from = std::max(wish.to - statistics_span_default, from_unix_ms(1));
  const auto window = window_of(wish.from, wish.to, wish.step);
  list_statistics rows{owner_of(c.id), window.from, window.to, window.step, false};
  auto got = co_await ask(c.ctx, c.ctx.catalog, std::move(rows));
  if (auto no = refused(c.rq, got)) co_return std::move(*no);
  response answer;
  answer.body = statistics_text(c.id, Kind, got.reply.rows, window, wish.to);
  co_return answer;
}

// -- report

/// Gathers the parts of a report. Returns the problem to answer with, if there is one.
awaitable<std::optional<response>> gather(const call& c, report_sources& parts) {
  if (auto no = limit(c.ctx, c.rq, c.ctx.shared->reports, c.who)) co_return no;
  auto stats = co_await ask_event(c.ctx, owner_of(c.id), find_stats{{c.id, c.by}});
  if (auto no = refused(c.rq, stats)) co_return no;
  auto event = co_await ask_event(c.ctx, owner_of(c.id), find_event{{c.id, c.by}});
  if (auto no = refused(c.rq, event)) co_return no;
  const auto now = stats.reply.stats.server_time;
  const auto begin = std::min(event.reply.event.event.queue_opens_at, now);
  const auto window = window_of(begin, now + milliseconds{1}, milliseconds{0});
  list_statistics wish{owner_of(c.id), window.from, window.to, window.step, true};
  auto rows = co_await ask(c.ctx, c.ctx.catalog, std::move(wish));
  if (auto no = refused(c.rq, rows)) co_return no;
  list_audit deeds{c.by, c.id, {}, reported_interventions_max};
  auto audit = co_await ask(c.ctx, c.ctx.catalog, std::move(deeds));
  if (auto no = refused(c.rq, audit)) co_return no;
  parts = {std::move(event.reply.event), std::move(stats.reply.stats), std::move(rows.reply.figures),
           std::move(rows.reply.rows),   std::move(audit.reply.rows),  audit.reply.more};
  co_return std::nullopt;
}

awaitable<response> read_report(call c) {
  report_sources parts;
  if (auto no = co_await gather(c, parts)) co_return std::move(*no);
  response answer;
  answer.body = report_text(report_of(std::move(parts)));
  co_return answer;
}

void name_file(response& answer, const uuid& id, std::string_view ending) {
  answer.fields.emplace_back("Content-Disposition",
                             "attachment; filename=\"report-" + to_string(id) + std::string{ending} + "\"");
}

awaitable<response> read_report_csv(call c) {
  report_sources parts;
  if (auto no = co_await gather(c, parts)) co_return std::move(*no);
  response answer{.status = 200, .content_type = csv_type};
  answer.body = report_csv(report_of(std::move(parts)));
  name_file(answer, c.id, ".csv");
  co_return answer;
}

awaitable<response> read_report_pdf(call c) {
  report_sources parts;
  if (auto no = co_await gather(c, parts)) co_return std::move(*no);
  auto print = [document = report_document(report_of(std::move(parts)))] {
    return print::report_pdf(document);
  };
  auto pdf = co_await offload(c.ctx.io, c.ctx.shared->printing_lane, std::move(print), report_pages);
  if (!pdf) co_return problem(fault::unavailable, c.rq.request_id, {}, printing_retry_after);
  response answer{.status = 200, .content_type = "application/pdf"};
  answer.body = std::move(*pdf);
  name_file(answer, c.id, ".pdf");
  co_return answer;
}

} // namespace

std::span<const route> report_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/events/{id}/statistics", for_managers<read_statistics<event_kind::sale>, query_use::own>},
    {get, "/events/{id}/report", for_managers<read_report>},
    {get, "/events/{id}/report.csv", for_managers<read_report_csv>},
    {get, "/events/{id}/report.pdf", for_managers<read_report_pdf>},
    {get, "/queues/{id}/statistics", for_managers<read_statistics<event_kind::queue>, query_use::own>},
  };
  return table;
}

} // namespace fq::net
