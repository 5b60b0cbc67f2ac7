// SPDX-License-Identifier: Apache-2.0
// Background work of this process as JSON, for the console's tasks view: gateway calls, payment pages,
// domain events, mail and their workers. The same counts as /metrics, since the process started; the reader
// computes rates.
#include "actors/base/measures.hpp"
#include "net/api/routes.hpp"
#include "net/service/guards.hpp"
#include "net/wire/codec.hpp"
#include "net/wire/json_out.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>

namespace fq::net {
namespace {

namespace json = boost::json;

/// Only the installation's own staff: the counts cover all tenants.
bool may_watch(const call& c) { return c.by.tenant == default_tenant; }

/// Quantile `q` of the durations in seconds, by linear interpolation within a bucket; null: no samples.
template <class Durations>
json::value quantile(const Durations& durations, double q) {
  const auto& bounds = Durations::bounds;
  std::uint64_t total = 0;
  for (std::size_t slot = 0; slot <= bounds.size(); ++slot) total += durations.in_bucket(slot);
  if (total == 0) return nullptr;
  const double wanted = q * static_cast<double>(total);
  double below = 0;
  for (std::size_t slot = 0; slot < bounds.size(); ++slot) {
    const auto here = static_cast<double>(durations.in_bucket(slot));
    const double from = slot == 0 ? 0 : bounds[slot - 1];
    if (here > 0 && below + here >= wanted) return from + (bounds[slot] - from) * (wanted - below) / here;
    below += here;
  }
  return bounds.back();
}

json::object task(std::string name, json::value in_flight, json::value waiting, std::uint64_t succeeded,
                  std::uint64_t failed, json::value retries) {
  return {{"name", std::move(name)},
          {"in_flight", std::move(in_flight)},
          {"waiting", std::move(waiting)},
          {"succeeded", succeeded},
          {"failed", failed},
          {"retries", std::move(retries)},
          {"p50_seconds", nullptr},
          {"p95_seconds", nullptr}};
}

template <class Durations>
json::object timed(json::object task, const Durations& durations) {
  task["p50_seconds"] = quantile(durations, 0.5);
  task["p95_seconds"] = quantile(durations, 0.95);
  return task;
}

json::object calls_of(const std::string& name, const gateway_counts& g) {
  std::uint64_t answered = 0, refused = 0;
  for (const auto& kind : g.attempts) {
    answered += kind[call_outcome::answered].get();
    refused += kind[call_outcome::refused].get();
  }
  return timed(task(name + " calls", g.under_way.get(), g.waiting.get() + g.pausing.get(), answered, refused,
                    g.retries.get()),
               g.durations);
}

json::object gateway_of(const std::string& name, const gateway_counts& g) {
  json::array calls;
  for (std::size_t kind = 0; kind < call_kinds; ++kind)
    calls.push_back(json::object{{"kind", name_of(static_cast<gateway_call_kind>(kind))},
                                 {"answered", g.attempts[kind][call_outcome::answered].get()},
                                 {"refused", g.attempts[kind][call_outcome::refused].get()},
                                 {"unavailable", g.attempts[kind][call_outcome::unavailable].get()}});
  return {{"name", name},
          {"health", g.workers.get() > 0 ? "healthy" : "away"},
          {"in_flight", g.under_way.get()},
          {"waiting", g.waiting.get()},
          {"pausing", g.pausing.get()},
          {"calls", std::move(calls)}};
}

json::object worker(std::string name, bool is_well, json::value in_flight, json::value slots) {
  return {{"name", std::move(name)},
          {"state", is_well ? "healthy" : "away"},
          {"in_flight", std::move(in_flight)},
          {"slots", std::move(slots)}};
}

json::array workers_of(const server_state& state) {
  json::array all;
  if (state.ledger_is_reachable != nullptr)
    all.push_back(
      worker("ledger", state.ledger_is_reachable->load(std::memory_order_relaxed), nullptr, nullptr));
  if (state.cache != nullptr) all.push_back(worker("cache", !state.cache->is_away, nullptr, nullptr));
  for (const auto& [name, g] : state.numbers->gateways)
    all.push_back(worker(name + " gateway", g.workers.get() > 0, g.under_way.get(), g.workers.get()));
  if (state.links != nullptr)
    for (const auto& link : state.links->all())
      all.push_back(worker("node " + link->node, link->is_up.load(),
                           std::max<std::int64_t>(link->in_flight.load(), 0), nullptr));
  return all;
}

json::object checkout_of(const server_state& state, timestamp now) {
  const auto pending = state.numbers->sales.pending();
  json::value oldest = nullptr;
  if (is_set(pending.oldest)) oldest = std::max<std::int64_t>(0, (now - pending.oldest).count()) / 1'000;
  return {{"pending", pending.count},
          {"oldest_seconds", std::move(oldest)},
          {"async_percent", state.numbers->async_percent.get()}};
}

json::array tasks_of(const measures& m) {
  json::array all;
  for (const auto& [name, g] : m.gateways) all.push_back(calls_of(name, g));
  const auto& s = m.sales;
  all.push_back(timed(
    task("payment pages", s.pending().count, nullptr, s.orders_served.get(), s.orders_failed.get(), nullptr),
    s.pages));
  for (const auto which : all_lanes)
    all.push_back(task("domain events, " + std::string{name_of(which)}, nullptr, m.outbox(which).rows.get(),
                       m.outbox(which).delivered.get(), 0, nullptr));
  all.push_back(
    task("mail", nullptr, nullptr, m.mails.accepted.get(), m.mails.rejected.get(), m.mails.put_off.get()));
  all.push_back(
    task("event bus", nullptr, nullptr, m.bus.published.get(), m.bus.given_up.get(), m.bus.failed.get()));
  return all;
}

awaitable<response> show_tasks(call c) {
  if (!may_watch(c)) co_return problem(fault::forbidden, c.rq.request_id);
  const auto& state = c.ctx.state;
  if (state.numbers == nullptr) co_return problem(fault::unavailable, c.rq.request_id, {}, 1);
  const auto now = c.ctx.environment.wall_now();
  json::array gateways;
  for (const auto& [name, g] : state.numbers->gateways) gateways.push_back(gateway_of(name, g));
  response answer;
  answer.body = json::serialize(json::object{{"server_time", rfc3339(now)},
                                             {"checkout", checkout_of(state, now)},
                                             {"dead_letters", state.numbers->dead_letters.get()},
                                             {"gateways", std::move(gateways)},
                                             {"tasks", tasks_of(*state.numbers)},
                                             {"workers", workers_of(state)}});
  co_return answer;
}

awaitable<response> show_history(call c) {
  if (!may_watch(c)) co_return problem(fault::forbidden, c.rq.request_id);
  const auto* numbers = c.ctx.state.numbers;
  if (numbers == nullptr) co_return problem(fault::unavailable, c.rq.request_id, {}, 1);
  json::array items;
  for (const auto& task : numbers->history.all())
    items.push_back(
      json::object{{"ended_at", rfc3339(task.ended_at)}, // of all organizers: no ids
                   {"name", task.name},
                   {"result", task.result},
                   {"detail", text_or_null(task.detail)},
                   {"attempts", task.attempts > 0 ? json::value(task.attempts) : json::value(nullptr)},
                   {"duration_seconds", static_cast<double>(task.duration.count()) / 1'000}});
  response answer;
  answer.body = json::serialize(json::object{{"items", std::move(items)}});
  co_return answer;
}

} // namespace

std::span<const route> task_routes() {
  using enum method;
  static constexpr route table[] = {
    {get, "/tasks", for_managers<show_tasks>},
    {get, "/tasks/history", for_managers<show_history>},
  };
  return table;
}

} // namespace fq::net
