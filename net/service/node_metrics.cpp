// SPDX-License-Identifier: Apache-2.0
#include "net/service/node_metrics.hpp"

#include "actors/base/measures.hpp"
#include "domain/base/busiest.hpp"
#include "net/bridge/context.hpp"
#include "net/bridge/readiness.hpp"
#include "net/http/tls.hpp"
#include "net/service/metric_page.hpp"

#include <algorithm>
#include <chrono>
#include <map>

namespace fq::net {
namespace {

/// Lower case, as usual in Prometheus.
std::string label_of(std::string_view name) {
  std::string text{name};
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

double seconds_of(milliseconds ms) {
  return static_cast<double>(std::max(ms, milliseconds{0}).count()) / 1'000;
}

// -- events

void operator+=(event_numbers& sum, const event_numbers& one) {
  sum.waiting += one.waiting;
  sum.away += one.away;
  sum.admitted += one.admitted;
  sum.free += one.free;
  sum.held += one.held;
  sum.sold += one.sold;
  sum.revenue += one.revenue;
}

struct event_rows {
  std::map<std::string, event_numbers> by_event; ///< by label
  std::map<std::pair<std::string, std::string>, money> revenue; ///< by label and currency
};

event_rows rows_of(const std::vector<sale_board::reading>& all, shown_events& shown) {
  std::vector<event_load> loads;
  loads.reserve(all.size());
  for (const auto& r : all) loads.push_back({r.event, r.numbers.waiting});
  const std::scoped_lock held{shown.mutex};
  shown.now = busiest(loads, shown.now, shown_events_max);
  event_rows rows;
  rows.by_event["other"]; // always present, so that a sum has at least one series
  for (const auto& r : all) {
    const auto label =
      std::ranges::find(shown.now, r.event) == shown.now.end() ? "other" : to_string(r.event);
    rows.by_event[label] += r.numbers;
    if (!r.currency.empty()) rows.revenue[{label, r.currency}] += r.numbers.revenue;
  }
  return rows;
}

void append_events(metric_page& page, const std::vector<sale_board::reading>& all, shown_events& shown) {
  page.gauge("fairqueue_events", "Events and queues that run here.").add(static_cast<double>(all.size()));
  const auto rows = rows_of(all, shown);
  auto entries = page.gauge("fairqueue_queue_entries",
                            "Places in line (waiting, away) and people who were let in (admitted), now.");
  auto tickets = page.gauge("fairqueue_tickets", "Tickets of the events that run here, now.");
  for (const auto& [event, n] : rows.by_event) {
    const auto add = [&event = event](metric_family& family, const char* state, auto value) {
      family.add(static_cast<double>(value), {{"event", event}, {"state", state}});
    };
    add(entries, "waiting", n.waiting);
    add(entries, "away", n.away);
    add(entries, "admitted", n.admitted);
    add(tickets, "free", n.free);
    add(tickets, "held", n.held);
    add(tickets, "sold", n.sold);
  }
  auto revenue =
    page.gauge("fairqueue_revenue_minor_units", "Captured and not refunded, of the events that run here.");
  std::size_t currencies = 0;
  for (const auto& [key, sum] : rows.revenue)
    if (key.first != "other" || ++currencies <= shown_currencies_max)
      revenue.add(static_cast<double>(sum), {{"event", key.first}, {"currency", key.second}});
}

template <class Counts, class Status>
void append_moves(metric_page& page, std::string_view name, std::string_view help, const Counts& counts,
                  Status) {
  auto family = page.counter(name, help);
  for (std::size_t i = 0; i < counts.all.size(); ++i)
    family.add(counts.all[i], {{"to", label_of(name_of(static_cast<Status>(i)))}});
}

void append_moves(metric_page& page, const sale_board& sales) {
  append_moves(page, "fairqueue_entries_moved_total",
               "Places by the state that they came into; admitted is the admission rate.", sales.entries,
               entry_status{});
  append_moves(page, "fairqueue_claims_moved_total", "Claims by the state that they came into.", sales.claims,
               claim_status{});
  append_moves(page, "fairqueue_orders_moved_total", "Orders by the state that they came into.", sales.orders,
               order_status{});
  append_moves(page, "fairqueue_payments_moved_total", "Payment attempts by the state that they came into.",
               sales.payments, payment_status{});
  append_moves(page, "fairqueue_refunds_moved_total", "Refunds by the state that they came into.",
               sales.refunds, refund_status{});
}

void append_sales(metric_page& page, const measures& numbers, environment* env, shown_events& shown) {
  const auto all = numbers.sales.read();
  append_events(page, all, shown);
  append_moves(page, numbers.sales);
  std::uint64_t pending = 0, dead_letters = 0;
  timestamp oldest;
  milliseconds due{0};
  for (const auto& [event, currency, n] : all) {
    pending += n.orders_pending;
    dead_letters += n.dead_letters;
    if (is_set(n.oldest_pending) && (!is_set(oldest) || n.oldest_pending < oldest)) oldest = n.oldest_pending;
    if (n.due > milliseconds{0} && (due == milliseconds{0} || n.due < due)) due = n.due;
  }
  page.gauge("checkout_queue_length", "Orders of this process that wait for their payment page.")
    .add(static_cast<double>(pending));
  page.gauge("checkout_oldest_pending_seconds", "Age of the oldest of them.")
    .add(env && is_set(oldest) ? seconds_of(env->wall_now() - oldest) : 0);
  page
    .gauge("fairqueue_overdue_seconds",
           "For how long what was to happen by time in an event has not happened; of the worst event.")
    .add(env && due > milliseconds{0} ? seconds_of(env->steady_now() - due) : 0);
  page.gauge("fairqueue_dead_letters_open", "What waits for a person in the events that run here.")
    .add(static_cast<double>(dead_letters));
  page
    .counter("fairqueue_dead_letters_total",
             "Refunds, payments and domain events that were left to a person.")
    .add(numbers.dead_letters);
}

// -- work

void append_gateways(metric_page& page, const std::map<std::string, gateway_counts>& gateways) {
  constexpr std::array outcome_names{"answered", "refused", "unavailable"};
  auto attempts = page.counter("fairqueue_gateway_calls_total",
                               "Calls of payment gateways, each attempt counted, by what came of it.");
  auto retries = page.counter("fairqueue_gateway_retries_total", "Attempts after the first one of a call.");
  auto durations =
    page.histogram("fairqueue_gateway_call_duration_seconds", "From an attempt to its answer.");
  auto calls = page.gauge("fairqueue_gateway_calls",
                          "Calls under way, waiting for their turn, and pausing before another attempt.");
  auto workers = page.gauge(
    "fairqueue_gateway_workers",
    "Calls that may be under way at once; 0 while the circuit is open or nothing has succeeded since.");
  for (const auto& [name, g] : gateways) {
    for (std::size_t kind = 0; kind < g.attempts.size(); ++kind)
      for (std::size_t o = 0; o < outcome_names.size(); ++o)
        attempts.add(g.attempts[kind].all[o],
                     {{"gateway", name},
                      {"call", std::string{name_of(static_cast<gateway_call_kind>(kind))}},
                      {"result", outcome_names[o]}});
    retries.add(g.retries, {{"gateway", name}});
    durations.add(g.durations, {{"gateway", name}});
    calls.add(g.under_way, {{"gateway", name}, {"state", "under_way"}});
    calls.add(g.waiting, {{"gateway", name}, {"state", "waiting"}});
    calls.add(g.pausing, {{"gateway", name}, {"state", "pausing"}});
    workers.add(g.workers, {{"gateway", name}});
  }
}

void append_outbox(metric_page& page, const measures& numbers, environment* env) {
  auto rows =
    page.gauge("fairqueue_outbox_rows",
               "Domain events read from a lane of the outbox and not delivered there yet, 500 at most.");
  auto lag = page.gauge("fairqueue_outbox_lag_seconds", "Age of the oldest of them.");
  auto delivered = page.counter("fairqueue_outbox_delivered_total", "Domain events that have passed a lane.");
  for (const auto which : all_lanes) {
    const auto& o = numbers.outbox(which);
    const metric_labels lane{{"lane", std::string{name_of(which)}}};
    const auto oldest = o.oldest.get();
    rows.add(o.rows, lane);
    lag.add(env && oldest > 0 ? seconds_of(env->wall_now() - from_unix_ms(oldest)) : 0, lane);
    delivered.add(o.delivered, lane);
  }
}

/// By channel; unused channels have no series.
void append_notices(metric_page& page, const notice_counts& n) {
  page
    .counter("fairqueue_deliveries_begun_total",
             "Notices to devices and webhook endpoints that were to be sent.")
    .add(n.stored);
  auto tries = page.counter(
    "fairqueue_deliveries_total",
    "Notices to devices and webhook endpoints, each try counted, by channel and what came of it.");
  for (const auto c : all_channels) {
    const std::string way{to_string(c)};
    tries.add(n.delivered[c], {{"channel", way}, {"result", "delivered"}});
    tries.add(n.put_off[c], {{"channel", way}, {"result", "put_off"}});
    tries.add(n.expired[c], {{"channel", way}, {"result", "expired"}});
    tries.add(n.failed[c], {{"channel", way}, {"result", "failed"}});
    tries.add(n.dropped[c], {{"channel", way}, {"result", "dropped"}});
  }
  page
    .counter("fairqueue_webhook_endpoints_disabled_total",
             "Webhook endpoints that were turned off because they took nothing for days, or said that they "
             "are gone.")
    .add(n.endpoints_disabled);
}

void append_tasks(metric_page& page, const measures& numbers, environment* env) {
  page
    .histogram(
      "fairqueue_checkout_task_duration_seconds",
      "From an order to its payment page (or its end, if it needs none): the work behind a checkout.")
    .add(numbers.sales.pages);
  page
    .counter("fairqueue_checkout_tasks_total",
             "Orders whose work has ended: with a payment page, or without one for ever.")
    .add(numbers.sales.orders_served, {{"result", "served"}})
    .add(numbers.sales.orders_failed, {{"result", "failed"}});
  append_gateways(page, numbers.gateways);
  append_outbox(page, numbers, env);
  page.counter("fairqueue_mails_total", "Mails of events, each attempt counted, by what came of it.")
    .add(numbers.mails.accepted, {{"result", "accepted"}})
    .add(numbers.mails.rejected, {{"result", "rejected"}})
    .add(numbers.mails.put_off, {{"result", "put_off"}});
  page
    .counter("fairqueue_bus_events_total",
             "Domain events to the bus, each attempt counted, by what came of it.")
    .add(numbers.bus.published, {{"result", "published"}})
    .add(numbers.bus.failed, {{"result", "failed"}})
    .add(numbers.bus.given_up, {{"result", "given_up"}});
  page
    .counter("fairqueue_bus_payment_events_total",
             "Webhooks of gateways that came by the bus, each delivery counted, by what became of it.")
    .add(numbers.bus_inbox.taken, {{"result", "taken"}})
    .add(numbers.bus_inbox.put_off, {{"result", "put_off"}})
    .add(numbers.bus_inbox.refused, {{"result", "refused"}});
  append_notices(page, numbers.notices);
}

void append_rollback(metric_page& page, const measures& numbers) {
  page
    .gauge("fairqueue_checkout_async_ratio", "Share of the customers whose checkout is answered before its "
                                             "payment page is there (checkout.async_percent).")
    .add(static_cast<double>(numbers.async_percent.get()) / 100);
  page
    .gauge("fairqueue_checkout_rollback_enabled",
           "1 if this node switches to synchronous checkout by itself.")
    .add(numbers.has_rollback ? 1 : 0);
  auto switched = page.counter("fairqueue_checkout_rollbacks_total", "Times that it has, by the trigger.");
  for (const auto t : rollback_triggers)
    switched.add(numbers.rollback.switched[t], {{"trigger", std::string{name_of(t)}}});
  page.counter("fairqueue_checkout_rollback_failures_total", "Times that it could not; it tries again.")
    .add(numbers.rollback.failed);
}

// -- stores, cluster

void append_cache(metric_page& page, const cache_metrics& cache) {
  const auto value = [](const auto& n) { return static_cast<double>(n.load(std::memory_order_relaxed)); };
  page.gauge("fairqueue_cache_up", "1 while the cache is in use, 0 while its circuit is open.")
    .add(cache.is_away ? 0 : 1);
  page.counter("fairqueue_cache_steps_total", "Mirror steps applied.").add(value(cache.steps));
  page.counter("fairqueue_cache_elements_total", "Entries, sessions and counters in applied steps.")
    .add(value(cache.elements));
  page.counter("fairqueue_cache_mirrors_lost_total", "Mirrors that had to be built anew.")
    .add(value(cache.lost));
  page.counter("fairqueue_cache_comparisons_total", "Mirrors compared with what they should be.")
    .add(value(cache.equal), {{"result", "equal"}})
    .add(value(cache.different), {{"result", "different"}});
  page.counter("fairqueue_cache_failures_total", "Calls that the cache did not answer.")
    .add(value(cache.failures));
}

void append_cluster_certificate(metric_page& page, const cluster_links& links) {
  if (links.certificate_end.load() == 0) return;
  page
    .gauge("fairqueue_cluster_certificate_expiry_timestamp_seconds",
           "The end of this node's certificate for other nodes.")
    .add(static_cast<double>(links.certificate_end.load()));
  page
    .gauge("fairqueue_cluster_last_reload_refused",
           "1 when the cluster's certificates were read anew last and refused: older ones are in use.")
    .add(links.last_reload_refused.load() ? 1 : 0);
}

void append_cluster(metric_page& page, const cluster_links& links) {
  page.gauge("fairqueue_cluster_nodes", "Nodes that give signs of life, this one among them.")
    .add(links.nodes.load());
  page
    .gauge("fairqueue_cluster_owned_events",
           "Events and queues that run on this node, as the cluster was told.")
    .add(links.owned.load());
  page.counter("fairqueue_cluster_given_away_total", "Events and queues that this node gave to another.")
    .add(static_cast<double>(links.given_away.load()));
  page.gauge("fairqueue_cluster_draining", "1 while this node gives everything away.")
    .add(links.is_draining.load() ? 1 : 0);
  page
    .counter("fairqueue_cluster_closed_total",
             "Connections to other nodes that this one ended because of what was sent.")
    .add(static_cast<double>(links.closed.load()));
  auto up = page.gauge("fairqueue_cluster_link_up",
                       "1 while there is a connection to that node; none when it has left.");
  auto lost = page.counter("fairqueue_cluster_link_lost_total", "Connections to that node that ended.");
  auto requests = page.counter("fairqueue_cluster_link_requests_total", "Requests sent on to that node.");
  auto refused = page.counter("fairqueue_cluster_link_refused_total",
                              "Requests refused because 65,536 to the node were unanswered.");
  auto in_flight =
    page.gauge("fairqueue_cluster_link_in_flight", "Requests sent on to that node and not answered yet.");
  for (const auto& link : links.all()) {
    const metric_labels peer{{"peer", link->node}};
    up.add(link->is_up.load() ? 1 : 0, peer);
    lost.add(static_cast<double>(link->lost.load()), peer);
    requests.add(static_cast<double>(link->requests.load()), peer);
    refused.add(static_cast<double>(link->refused.load()), peer);
    in_flight.add(static_cast<double>(std::max<std::int64_t>(link->in_flight.load(), 0)), peer);
  }
}

void append_tls(metric_page& page, const tls_server& tls) {
  const auto expires = std::chrono::floor<seconds>(tls.facts().not_after).time_since_epoch().count();
  page.gauge("fairqueue_tls_certificate_expiry_timestamp_seconds", "The earliest end in the chain in use.")
    .add(static_cast<double>(std::max<std::int64_t>(expires, 0)));
  const auto& n = tls.counts;
  const auto number = [](const auto& value) {
    return static_cast<double>(value.load(std::memory_order_relaxed));
  };
  page.gauge("fairqueue_tls_handshakes_pending", "TLS handshakes under way.")
    .add(std::max(number(n.pending), 0.0));
  page
    .counter(
      "fairqueue_tls_handshakes_total",
      "TLS handshakes by how they ended; late: at tls.handshake_timeout, or when their place was needed.")
    .add(number(n.full), {{"result", "full"}})
    .add(number(n.resumed), {{"result", "resumed"}})
    .add(number(n.failed), {{"result", "failed"}})
    .add(number(n.late), {{"result", "late"}});
  page.counter("fairqueue_tls_reloads_total", "Certificates read anew; refused: the one in use stayed.")
    .add(number(n.reloads), {{"result", "done"}})
    .add(number(n.reloads_refused), {{"result", "refused"}});
  page
    .gauge("fairqueue_tls_last_reload_refused",
           "1 when certificates were read anew last and refused: the one in use is an older one.")
    .add(n.last_reload_refused.load(std::memory_order_relaxed) ? 1 : 0);
}

void append_spans(metric_page& page, const span_counts& spans) {
  page
    .counter("fairqueue_spans_total", "Spans of traces by what became of them; dropped: too many at once, or "
                                      "the collector did not take them.")
    .add(static_cast<double>(spans.exported), {{"result", "exported"}})
    .add(static_cast<double>(spans.dropped), {{"result", "dropped"}});
}

// -- transport

void append_transport(metric_page& page, const server_state& s) {
  const auto gauge = [&page](std::string_view name, std::string_view help,
                             const std::atomic<std::int64_t>& value) {
    page.gauge(name, help)
      .add(static_cast<double>(std::max<std::int64_t>(value.load(std::memory_order_relaxed), 0)));
  };
  const auto total = [&page](std::string_view name, std::string_view help,
                             const std::atomic<std::uint64_t>& value) {
    page.counter(name, help).add(static_cast<double>(value.load(std::memory_order_relaxed)));
  };
  gauge("fairqueue_connections", "Open connections, WebSockets included.", s.connections);
  gauge("fairqueue_websockets", "Open WebSockets.", s.websockets);
  total("fairqueue_connections_accepted_total", "Connections accepted.", s.connections_accepted);
  total("fairqueue_connections_refused_total",
        "Connections closed at http.max_connections, and WebSockets refused at 90 % of it.",
        s.connections_refused);
  total("fairqueue_connections_evicted_total",
        "Connections closed to make room, or because too much output waited for their address.",
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
}

} // namespace

void append_node(metric_page& page, const server_state& s, shown_events& shown) {
  page.gauge("fairqueue_build_info", "1; the release of this program.").add(1, {{"version", s.release}});
  page.gauge("fairqueue_ready", "1 while the server takes requests, as /readyz says.")
    .add(readiness_of(s) == readiness::ready ? 1 : 0);
  if (s.events_lost != nullptr)
    page
      .gauge(
        "fairqueue_events_lost",
        "Events and queues, accounts and catalog that are stopped, because the ledger lost commits of them.")
      .add(static_cast<double>(s.events_lost->load(std::memory_order_relaxed)));
  if (s.ledger_is_reachable != nullptr)
    page.gauge("fairqueue_ledger_up", "1 while the ledger answers.")
      .add(s.ledger_is_reachable->load(std::memory_order_relaxed) ? 1 : 0);
  if (s.numbers != nullptr) {
    append_sales(page, *s.numbers, s.env, shown);
    append_tasks(page, *s.numbers, s.env);
    append_rollback(page, *s.numbers);
  }
  if (s.cache != nullptr) append_cache(page, *s.cache);
  if (s.links != nullptr) {
    append_cluster(page, *s.links);
    append_cluster_certificate(page, *s.links);
  }
  if (s.tls != nullptr) append_tls(page, *s.tls);
  if (s.spans != nullptr) append_spans(page, s.spans->count());
  append_transport(page, s);
}

} // namespace fq::net
