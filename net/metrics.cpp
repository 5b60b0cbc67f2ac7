// SPDX-License-Identifier: Apache-2.0
// The Prometheus page: base units, HELP and TYPE, counters that end in _total.
#include "net/metrics.hpp"

#include "net/codec.hpp"
#include "net/context.hpp"
#include "net/tls.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace fq::net {
namespace {

constexpr std::array<std::string_view, 6> class_names{"other", "1xx", "2xx", "3xx", "4xx", "5xx"};

std::string_view method_name(method m) {
  switch (m) {
    case method::get: return "GET";
    case method::head: return "HEAD";
    case method::post: return "POST";
    case method::put: return "PUT";
    case method::patch: return "PATCH";
    case method::del: return "DELETE";
    case method::options: return "OPTIONS";
  }
  return "";
}

void head(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" ");
  out.append(type).append("\n");
}

void sample(std::string& out, std::string_view name, std::string_view labels, std::uint64_t value) {
  out.append(name).append(labels).append(" ");
  append_unsigned(out, value);
  out += '\n';
}

void single(std::string& out, std::string_view name, std::string_view type, std::string_view help,
            std::uint64_t value) {
  head(out, name, type, help);
  sample(out, name, {}, value);
}

std::string seconds_text(double value) {
  char text[32];
  const auto size = std::snprintf(text, sizeof text, "%.9g", value);
  return {text, static_cast<std::size_t>(size)};
}

std::size_t slot_of(std::chrono::nanoseconds duration) {
  const double took = std::chrono::duration<double>(duration).count();
  std::size_t slot = 0;
  while (slot < duration_bounds_seconds.size() && took > duration_bounds_seconds[slot])
    ++slot;
  return slot;
}

/// Routes that tell nothing more apart share their series: the shop's pages, and files.
std::string_view shared_series(const route& r) {
  if (r.pattern.starts_with("/shop"))
    return "/shop/*";
  return r.pattern == "/assets/{name}" || r.pattern == "/sdk/{name}" ? "files" : std::string_view{};
}

/// The rows whose counts are shown as one, with row `i`, the first of them; none if another row is the first.
std::vector<std::size_t> rows_shown_with(std::span<const route> routes, std::size_t i) {
  const auto shared = i < routes.size() ? shared_series(routes[i]) : std::string_view{};
  if (shared.empty())
    return {i};
  std::vector<std::size_t> rows;
  for (std::size_t other = 0; other < routes.size(); ++other)
    if (shared_series(routes[other]) == shared)
      rows.push_back(other);
  return rows.front() == i ? rows : std::vector<std::size_t>{};
}

std::string route_labels(const route* r) {
  if (!r)
    return R"({route="none",method="any")";
  if (const auto shared = shared_series(*r); !shared.empty())
    return "{route=\"" + std::string{shared} + "\",method=\"any\"";
  return "{route=\"" + std::string{r->pattern} + "\",method=\"" + std::string{method_name(r->verb)} + '"';
}

} // namespace

metrics::metrics(std::span<const route> routes)
    : routes_(routes), counts_(std::make_unique<route_counts[]>(routes.size() + 1)) {}

void metrics::observe(const route* matched, unsigned status, std::chrono::nanoseconds duration) noexcept {
  const auto index = matched ? static_cast<std::size_t>(matched - routes_.data()) : routes_.size();
  if (index > routes_.size())
    return; // a row of another table: the admin listener's are not counted
  auto& counts = counts_[index];
  const auto status_class = status / 100;
  counts.by_class[status_class >= 1 && status_class <= 5 ? status_class : 0].add();
  counts.by_duration[slot_of(duration)].add();
  counts.nanoseconds.add(static_cast<std::uint64_t>(duration.count() > 0 ? duration.count() : 0));
}

void metrics::append_requests(std::string& out) const {
  head(out, "fairqueue_http_requests_total", "counter", "Requests answered, by route and class of status.");
  for (std::size_t i = 0; i <= routes_.size(); ++i) {
    const auto labels = route_labels(i < routes_.size() ? &routes_[i] : nullptr);
    const auto rows = rows_shown_with(routes_, i);
    for (std::size_t c = 0; c < class_names.size(); ++c) {
      std::uint64_t n = 0;
      for (const auto r : rows)
        n += row(r).by_class[c].get();
      if (n > 0)
        sample(out, "fairqueue_http_requests_total", labels + ",status=\"" + std::string{class_names[c]} + "\"}", n);
    }
  }
}

void metrics::append_durations(std::string& out) const {
  constexpr std::string_view name = "fairqueue_http_request_duration_seconds";
  head(out, name, "histogram", "From a complete request to its answer, by route.");
  const auto bucket = std::string{name} + "_bucket";
  for (std::size_t i = 0; i <= routes_.size(); ++i) {
    const auto labels = route_labels(i < routes_.size() ? &routes_[i] : nullptr);
    const auto rows = rows_shown_with(routes_, i);
    const auto total = [&](auto read) {
      std::uint64_t n = 0;
      for (const auto r : rows)
        n += read(row(r)).get();
      return n;
    };
    std::uint64_t sum = 0;
    std::string lines;
    for (std::size_t b = 0; b < duration_bounds_seconds.size(); ++b)
      sample(lines, bucket, labels + ",le=\"" + seconds_text(duration_bounds_seconds[b]) + "\"}",
             sum += total([b](const auto& counts) -> const counter& { return counts.by_duration[b]; }));
    sum += total([](const auto& counts) -> const counter& { return counts.by_duration.back(); });
    if (sum == 0)
      continue; // a route nobody used has no series
    out += lines;
    sample(out, bucket, labels + ",le=\"+Inf\"}", sum);
    out.append(name).append("_sum").append(labels).append("} ");
    out.append(seconds_text(static_cast<double>(total([](const auto& counts) -> const counter& { return counts.nanoseconds; })) / 1e9)).append("\n");
    sample(out, std::string{name} + "_count", labels + "}", sum);
  }
}

void metrics::append_sale(std::string& out) const {
  head(out, "fairqueue_access_checks_total", "counter", "GET /access and what came of it.");
  sample(out, "fairqueue_access_checks_total", R"({result="granted"})", access_granted.get());
  sample(out, "fairqueue_access_checks_total", R"({result="refused"})", access_refused.get());
  head(out, "fairqueue_joins_total", "counter",
       "Joins answered with a place, new or the one the customer has.");
  sample(out, "fairqueue_joins_total", R"({result="created"})", joins_created.get());
  sample(out, "fairqueue_joins_total", R"({result="repeated"})", joins_repeated.get());
  single(out, "fairqueue_positions_read_total", "counter", "Position polls answered.", positions_read.get());
  head(out, "fairqueue_claims_total", "counter", "Requests for a claim, by result.");
  sample(out, "fairqueue_claims_total", R"({result="created"})", claims_created.get());
  sample(out, "fairqueue_claims_total", R"({result="refused"})", claims_refused.get());
  single(out, "fairqueue_payments_total", "counter", "Payment attempts begun.", payments_created.get());
  head(out, "fairqueue_webhooks_total", "counter", "Webhooks received, by result.");
  sample(out, "fairqueue_webhooks_total", R"({result="applied"})", webhooks_applied.get());
  sample(out, "fairqueue_webhooks_total", R"({result="rejected"})", webhooks_rejected.get());
  sample(out, "fairqueue_webhooks_total", R"({result="ignored"})", webhooks_ignored.get());
  sample(out, "fairqueue_webhooks_total", R"({result="foreign"})", webhooks_foreign.get());
  sample(out, "fairqueue_webhooks_total", R"({result="unknown"})", webhooks_unknown.get());
  single(out, "fairqueue_rate_limited_total", "counter", "Requests refused by a rate limit.",
         rate_limited.get());
  single(out, "fairqueue_unauthenticated_total", "counter", "Requests without a valid token.",
         unauthenticated.get());
  single(out, "fairqueue_idempotent_replays_total", "counter", "Answers given again for an Idempotency-Key.",
         idempotent_replays.get());
  single(out, "fairqueue_otp_requested_total", "counter", "One-time codes asked for.", otp_requested.get());
  single(out, "fairqueue_login_failures_total", "counter", "Organizer logins that failed.",
         logins_failed.get());
}

namespace {

constexpr std::array<std::string_view, 2> mode_names{"async", "sync"};
constexpr std::array<std::string_view, 4> result_names{"processing", "ready", "refused", "error"};

} // namespace

void checkout_counts::observe(checkout_mode mode, checkout_result result, std::chrono::nanoseconds duration) noexcept {
  auto& m = modes_[static_cast<std::size_t>(mode)];
  m.by_result[static_cast<std::size_t>(result)].add();
  m.by_duration[slot_of(duration)].add();
  m.nanoseconds.add(static_cast<std::uint64_t>(duration.count() > 0 ? duration.count() : 0));
}

void checkout_counts::append(std::string& out) const {
  head(out, "checkout_requests_total", "counter", "Checkouts answered, by mode and what the answer was.");
  for (std::size_t m = 0; m < modes_.size(); ++m)
    for (std::size_t r = 0; r < result_names.size(); ++r)
      sample(out, "checkout_requests_total",
             "{mode=\"" + std::string{mode_names[m]} + "\",status=\"" + std::string{result_names[r]} + "\"}", modes_[m].by_result[r].get());
  head(out, "checkout_duration_seconds", "histogram", "From a checkout to its answer, by mode.");
  for (std::size_t m = 0; m < modes_.size(); ++m) {
    const auto labels = "{mode=\"" + std::string{mode_names[m]} + '"';
    std::uint64_t sum = 0;
    for (std::size_t b = 0; b < duration_bounds_seconds.size(); ++b)
      sample(out, "checkout_duration_seconds_bucket", labels + ",le=\"" + seconds_text(duration_bounds_seconds[b]) + "\"}",
             sum += modes_[m].by_duration[b].get());
    sum += modes_[m].by_duration.back().get();
    sample(out, "checkout_duration_seconds_bucket", labels + ",le=\"+Inf\"}", sum);
    out.append("checkout_duration_seconds_sum").append(labels).append("} ");
    out.append(seconds_text(static_cast<double>(modes_[m].nanoseconds.get()) / 1e9)).append("\n");
    sample(out, "checkout_duration_seconds_count", labels + "}", sum);
  }
}

void metrics::append_cache(std::string& out, const cache_metrics& cache) {
  single(out, "fairqueue_cache_up", "gauge", "1 while the cache is in use, 0 while its circuit is open.", cache.is_away ? 0 : 1);
  single(out, "fairqueue_cache_steps_total", "counter", "Mirror steps applied.", cache.steps.load());
  single(out, "fairqueue_cache_elements_total", "counter", "Entries, sessions and counters in applied steps.", cache.elements.load());
  single(out, "fairqueue_cache_mirrors_lost_total", "counter", "Mirrors that had to be built anew.", cache.lost.load());
  single(out, "fairqueue_cache_failures_total", "counter", "Calls that the cache did not answer.", cache.failures.load());
}

void metrics::append_cluster(std::string& out, const cluster_links& links) {
  single(out, "fairqueue_cluster_nodes", "gauge", "Nodes that give signs of life, this one among them.", links.nodes.load());
  single(out, "fairqueue_cluster_owned_events", "gauge", "Events and queues that run on this node.", links.owned.load());
  single(out, "fairqueue_cluster_given_away_total", "counter", "Events and queues that this node gave to another.", links.given_away.load());
  single(out, "fairqueue_cluster_draining", "gauge", "1 while this node gives everything away.", links.is_draining.load() ? 1 : 0);
  const auto all = links.all();
  const auto of_each = [&](std::string_view name, std::string_view type, std::string_view help, auto value_of_link) {
    head(out, name, type, help);
    for (const auto& link : all) sample(out, name, "{peer=\"" + link->node + "\"}", static_cast<std::uint64_t>(value_of_link(*link)));
  };
  of_each("fairqueue_cluster_link_up", "gauge", "1 while there is a connection to that node.", [](const cluster_link& l) { return l.is_up.load() ? 1 : 0; });
  of_each("fairqueue_cluster_link_lost_total", "counter", "Connections to that node that ended.", [](const cluster_link& l) { return l.lost.load(); });
  of_each("fairqueue_cluster_link_requests_total", "counter", "Requests sent on to that node.", [](const cluster_link& l) { return l.requests.load(); });
  of_each("fairqueue_cluster_link_refused_total", "counter", "Requests refused at cluster.in_flight_per_node.", [](const cluster_link& l) { return l.refused.load(); });
  of_each("fairqueue_cluster_link_in_flight", "gauge", "Requests sent on to that node and not answered yet.", [](const cluster_link& l) { return std::max<std::int64_t>(l.in_flight.load(), 0); });
}

void metrics::append_tls(std::string& out, const tls_server& tls) {
  const auto expires = std::chrono::floor<seconds>(tls.facts().not_after).time_since_epoch().count();
  single(out, "fairqueue_tls_certificate_expiry_timestamp_seconds", "gauge", "When the first certificate of the chain in use expires.",
         static_cast<std::uint64_t>(std::max<std::int64_t>(expires, 0)));
  const auto& n = tls.counts;
  single(out, "fairqueue_tls_handshakes_pending", "gauge", "TLS handshakes under way.", static_cast<std::uint64_t>(std::max<std::int64_t>(n.pending.load(), 0)));
  head(out, "fairqueue_tls_handshakes_total", "counter", "TLS handshakes by how they ended; late: at tls.handshake_timeout, or silent when their place was needed.");
  sample(out, "fairqueue_tls_handshakes_total", R"({result="full"})", n.full.load());
  sample(out, "fairqueue_tls_handshakes_total", R"({result="resumed"})", n.resumed.load());
  sample(out, "fairqueue_tls_handshakes_total", R"({result="failed"})", n.failed.load());
  sample(out, "fairqueue_tls_handshakes_total", R"({result="late"})", n.late.load());
  head(out, "fairqueue_tls_reloads_total", "counter", "Certificates read anew; refused: the one in use stayed.");
  sample(out, "fairqueue_tls_reloads_total", R"({result="done"})", n.reloads.load());
  sample(out, "fairqueue_tls_reloads_total", R"({result="refused"})", n.reloads_refused.load());
}

std::string metrics::text(const server_state& s) const {
  std::string out;
  out.reserve(16 * 1024);
  append_requests(out);
  append_durations(out);
  append_sale(out);
  checkouts.append(out);
  const auto gauge = [&out](std::string_view name, std::string_view help, std::int64_t value) {
    single(out, name, "gauge", help, static_cast<std::uint64_t>(value < 0 ? 0 : value));
  };
  const auto total = [&out](std::string_view name, std::string_view help,
                            const std::atomic<std::uint64_t>& value) {
    single(out, name, "counter", help, value.load(std::memory_order_relaxed));
  };
  gauge("fairqueue_ready", "1 while the server takes requests.", s.ready.load() && !s.draining.load());
  if (s.ledger_is_reachable != nullptr)
    gauge("fairqueue_ledger_up", "1 while the ledger answers.", s.ledger_is_reachable->load(std::memory_order_relaxed));
  if (s.cache != nullptr) append_cache(out, *s.cache);
  if (s.links != nullptr) append_cluster(out, *s.links);
  if (s.tls != nullptr) append_tls(out, *s.tls);
  if (s.checkouts != nullptr) {
    const auto waiting = s.checkouts->read();
    gauge("checkout_queue_length", "Orders of this process that wait for their payment page.", static_cast<std::int64_t>(waiting.pending));
    const auto age = is_set(waiting.oldest) ? (s.wall_now() - waiting.oldest).count() / 1'000 : 0;
    gauge("checkout_oldest_pending_seconds", "Age of the oldest of them.", age);
    single(out, "fairqueue_dead_letters_total", "counter", "Refunds, payments and domain events that were left to a person.", s.checkouts->dead_letters());
  }
  gauge("fairqueue_connections", "Open connections, WebSockets included.",
        s.connections.load(std::memory_order_relaxed));
  gauge("fairqueue_websockets", "Open WebSockets.", s.websockets.load(std::memory_order_relaxed));
  total("fairqueue_connections_accepted_total", "Connections accepted.", s.connections_accepted);
  total("fairqueue_connections_refused_total", "Connections closed at http.max_connections.",
        s.connections_refused);
  total("fairqueue_connections_evicted_total", "Silent connections closed to make room or beyond their address's share.",
        s.connections_evicted);
  total("fairqueue_accept_failures_total", "Failed accepts.", s.accept_failures);
  total("fairqueue_requests_refused_total", "Requests refused by framing, limits or deadlines.",
        s.requests_refused);
  total("fairqueue_asks_overloaded_total", "Requests refused because their event had too many in flight.",
        s.asks_overloaded);
  total("fairqueue_asks_timed_out_total", "Requests whose owner did not answer in time.", s.asks_timed_out);
  total("fairqueue_websocket_frames_sent_total", "WebSocket frames written.", s.frames_sent);
  total("fairqueue_websocket_frames_coalesced_total",
        "Positions replaced by a later one before they were written.", s.frames_coalesced);
  total("fairqueue_websockets_slow_closed_total", "WebSockets closed because the peer did not read.",
        s.slow_sockets_closed);
  total("fairqueue_handler_exceptions_total", "Handlers that threw; each is a bug.", s.handler_exceptions);
  return out;
}

} // namespace fq::net
