// SPDX-License-Identifier: Apache-2.0
// Base units; counter names end in _total.
#include "net/service/metrics.hpp"

#include "net/bridge/context.hpp"
#include "net/service/metric_page.hpp"
#include "net/service/process_metrics.hpp"

#include <prometheus/collectable.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <vector>

namespace fq::net {
namespace {

constexpr std::array<std::string_view, 6> class_names{"other", "1xx", "2xx", "3xx", "4xx", "5xx"};

/// Series name of routes that are counted together: the shop's pages, and files.
std::string_view shared_series(const route& r) {
  if (r.pattern.starts_with("/shop")) return "/shop/*";
  return r.pattern == "/assets/{name}" || r.pattern == "/sdk/{name}" ? "files" : std::string_view{};
}

/// Rows counted together with row `i`, if it is the first of them; empty if another row is.
std::vector<std::size_t> rows_shown_with(std::span<const route> routes, std::size_t i) {
  const auto shared = i < routes.size() ? shared_series(routes[i]) : std::string_view{};
  if (shared.empty()) return {i};
  std::vector<std::size_t> rows;
  for (std::size_t other = 0; other < routes.size(); ++other)
    if (shared_series(routes[other]) == shared) rows.push_back(other);
  return rows.front() == i ? rows : std::vector<std::size_t>{};
}

metric_labels route_labels(const route* r) {
  if (!r) return {{"route", "none"}, {"method", "any"}};
  if (const auto shared = shared_series(*r); !shared.empty())
    return {{"route", std::string{shared}}, {"method", "any"}};
  return {{"route", std::string{r->pattern}}, {"method", std::string{name_of(r->verb)}}};
}

/// Collects all metrics at a scrape.
class everything final : public prometheus::Collectable {
public:
  everything(const metrics& counts, const server_state& state, shown_events& shown) :
      counts_(counts), state_(state), shown_(shown) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    metric_page page;
    counts_.append(page);
    append_node(page, state_, shown_);
    append_process(page);
    return page.take();
  }

private:
  const metrics& counts_;
  const server_state& state_;
  shown_events& shown_;
};

} // namespace

metrics::metrics(std::span<const route> routes) :
    routes_(routes), counts_(std::make_unique<route_counts[]>(routes.size() + 1)) {}

void metrics::observe(const route* matched, unsigned status, std::chrono::nanoseconds duration) noexcept {
  const auto index = matched ? static_cast<std::size_t>(matched - routes_.data()) : routes_.size();
  if (index > routes_.size()) return; // a row of another table: the admin listener is not counted
  auto& counts = counts_[index];
  const auto status_class = status / 100;
  counts.by_class[status_class >= 1 && status_class <= 5 ? status_class : 0].add();
  counts.durations.observe(duration);
}

void metrics::append(metric_page& page) const {
  append_requests(page);
  append_durations(page);
  append_sale(page);
  checkouts.append(page);
}

void metrics::append_requests(metric_page& page) const {
  auto family =
    page.counter("fairqueue_http_requests_total", "Requests answered, by route and class of status.");
  for (std::size_t i = 0; i <= routes_.size(); ++i) {
    const auto rows = rows_shown_with(routes_, i);
    for (std::size_t c = 0; c < class_names.size(); ++c) {
      std::uint64_t n = 0;
      for (const auto r : rows) n += row(r).by_class[c].get();
      if (n == 0) continue;
      auto labels = route_labels(i < routes_.size() ? &routes_[i] : nullptr);
      labels.emplace_back("status", std::string{class_names[c]});
      family.add(static_cast<double>(n), labels);
    }
  }
}

/// Unused routes have no series.
void metrics::append_durations(metric_page& page) const {
  auto family = page.histogram("fairqueue_http_request_duration_seconds",
                               "From a complete request to its answer, by route.");
  for (std::size_t i = 0; i <= routes_.size(); ++i) {
    std::vector<const duration_counts<duration_bounds_seconds>*> parts;
    bool is_used = false;
    for (const auto r : rows_shown_with(routes_, i)) {
      parts.push_back(&row(r).durations);
      is_used |= std::ranges::any_of(row(r).by_class, [](const counter& n) { return n.get() > 0; });
    }
    if (is_used) family.add_sum(parts, route_labels(i < routes_.size() ? &routes_[i] : nullptr));
  }
}

void metrics::append_sale(metric_page& page) const {
  page.counter("fairqueue_access_checks_total", "GET /access and what came of it.")
    .add(access_granted, {{"result", "granted"}})
    .add(access_refused, {{"result", "refused"}});
  page.counter("fairqueue_joins_total", "Joins answered with a place, new or the one the customer has.")
    .add(joins_created, {{"result", "created"}})
    .add(joins_repeated, {{"result", "repeated"}});
  page.counter("fairqueue_positions_read_total", "Position polls answered.").add(positions_read);
  page.counter("fairqueue_claims_total", "Requests for a claim, by result.")
    .add(claims_created, {{"result", "created"}})
    .add(claims_refused, {{"result", "refused"}});
  page.counter("fairqueue_payments_total", "Payment attempts begun for claims without an order.")
    .add(payments_created);
  page.counter("fairqueue_webhooks_total", "Webhooks received, by result.")
    .add(webhooks_applied, {{"result", "applied"}})
    .add(webhooks_rejected, {{"result", "rejected"}})
    .add(webhooks_ignored, {{"result", "ignored"}})
    .add(webhooks_foreign, {{"result", "foreign"}})
    .add(webhooks_unknown, {{"result", "unknown"}})
    .add(webhooks_lost, {{"result", "lost"}});
  page.counter("fairqueue_rate_limited_total", "Requests refused by a rate limit.").add(rate_limited);
  page.counter("fairqueue_unauthenticated_total", "Requests without a valid token.").add(unauthenticated);
  page.counter("fairqueue_idempotent_replays_total", "Answers given again for an Idempotency-Key.")
    .add(idempotent_replays);
  page.counter("fairqueue_otp_requested_total", "One-time codes asked for.").add(otp_requested);
  page.counter("fairqueue_login_failures_total", "Organizer logins that failed.").add(logins_failed);
}

namespace {

constexpr std::array<std::string_view, 3> mode_names{"async", "sync", "wait"};
constexpr std::array<std::string_view, 3> result_names{"success", "refused", "error"};

} // namespace

void checkout_counts::observe(checkout_mode mode, checkout_result result,
                              std::chrono::nanoseconds duration) noexcept {
  auto& m = modes_[static_cast<std::size_t>(mode)];
  m.by_result[static_cast<std::size_t>(result)].add();
  m.durations.observe(duration);
}

void checkout_counts::append(metric_page& page) const {
  auto requests =
    page.counter("checkout_requests_total", "Checkouts answered, by mode and what the answer was.");
  auto durations = page.histogram("checkout_duration_seconds", "From a checkout to its answer, by mode.");
  for (std::size_t m = 0; m < modes_.size(); ++m) {
    const std::string mode{mode_names[m]};
    for (std::size_t r = 0; r < result_names.size(); ++r)
      requests.add(modes_[m].by_result[r], {{"mode", mode}, {"status", std::string{result_names[r]}}});
    durations.add(modes_[m].durations, {{"mode", mode}});
  }
}

std::string metrics::text(const server_state& s) const {
  const everything all{*this, s, shown_};
  return prometheus::TextSerializer{}.Serialize(all.Collect());
}

} // namespace fq::net
