// SPDX-License-Identifier: Apache-2.0
// The table, the JSON and the progress line. The HTML page is in report_html.cpp.
#include "load/report/report.hpp"
#include "load/report/report_orders.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <array>
#include <cstdarg>
#include <cstdio>

namespace fq::load {

namespace json = boost::json;

namespace {

__attribute__((format(printf, 1, 2))) std::string format(const char* pattern, ...) {
  std::array<char, 1024> buffer{};
  va_list arguments;
  va_start(arguments, pattern);
  const int size = std::vsnprintf(buffer.data(), buffer.size(), pattern, arguments);
  va_end(arguments);
  return std::string(buffer.data(), std::min<std::size_t>(static_cast<std::size_t>(size), buffer.size() - 1));
}

std::array<std::uint64_t, 11> count_outcomes(const sale_history& history) {
  std::array<std::uint64_t, 11> counts{};
  for (const auto& fan : history.fans) ++counts[static_cast<std::size_t>(fan.end)];
  return counts;
}

std::string settings_text(const load_options& options, const sale_terms& terms) {
  std::string out;
  out += format("event      %s  %s\n", options.event.c_str(), terms.name.c_str());
  for (const auto& type : terms.types)
    out += format("  on sale  %lld of %lld  %s at %lld %s\n", static_cast<long long>(type.available_at_start),
                  static_cast<long long>(type.total), type.name.c_str(), static_cast<long long>(type.price),
                  terms.currency.c_str());
  out += format("  queue    policy %s, batch %lld every %lld ms, over-admission %.2f\n", terms.policy.c_str(),
                static_cast<long long>(terms.batch_size), static_cast<long long>(terms.admission_interval_ms),
                terms.over_admission_factor);
  out += format("  times    session %lld s, claim window %lld s, claim %lld s, %lld claim(s) a customer\n",
                static_cast<long long>(terms.session_ttl_s), static_cast<long long>(terms.claim_window_s),
                static_cast<long long>(terms.claim_ttl_s), static_cast<long long>(terms.claims_per_customer));
  out += format("crowd      %u fans, %s over %.1f s, no-show %.0f%%, abandon %.0f%%, decline %.0f%%, "
                "websocket %.0f%%, %s, seed %llu\n",
                options.fans, std::string(name_of(options.arrival)).c_str(), options.arrival_s,
                options.no_show_percent, options.abandon_percent, options.decline_percent,
                options.websocket_percent,
                options.connections == 0 ? "a connection each"
                                         : (std::to_string(options.connections) + " connections").c_str(),
                static_cast<unsigned long long>(options.seed));
  if (options.buy_by != buying_way::claims)
    out +=
      format("  buying   by %s%s, %zu promo code(s)\n", std::string(name_of(options.buy_by)).c_str(),
             options.no_queue || terms.policy == "open" ? " without a line" : "", options.promo_codes.size());
  return out;
}

std::string steps_text(const metrics& steps) {
  std::string out = format("\n%-12s %9s %8s %8s %10s %9s %9s %9s %9s\n", "step", "count", "retries", "errors",
                           "rate/s", "p50 ms", "p95 ms", "p99 ms", "max ms");
  for (std::size_t i = 0; i < step_count; ++i) {
    const auto which = static_cast<step>(i);
    const auto& each = steps.of(which);
    if (each.count() == 0 && each.retries() == 0 && each.errors() == 0) continue;
    const auto spread = each.spread();
    out +=
      format("%-12s %9zu %8llu %8llu %10.1f %9.1f %9.1f %9.1f %9.1f\n", std::string(name_of(which)).c_str(),
             each.count(), static_cast<unsigned long long>(each.retries()),
             static_cast<unsigned long long>(each.errors()), each.rate(), spread.p50_ms, spread.p95_ms,
             spread.p99_ms, spread.max_ms);
  }
  return out;
}

std::string checks_text(const judgement& judged) {
  std::string out = format("\n%-20s %-4s %-7s %10s  %s\n", "check", "", "", "violations", "");
  for (const auto& check : judged.checks) {
    out += format("%-20s %-4s %-7s %10llu  %s\n", std::string(name_of(check.id)).c_str(),
                  std::string(invariant_of(check.id)).c_str(), std::string(name_of(check.result)).c_str(),
                  static_cast<unsigned long long>(check.violations), check.detail.c_str());
    for (const auto& example : check.examples) out += "    " + example + "\n";
  }
  return out;
}

json::object spread_json(const percentiles& spread) {
  return {{"p50_ms", spread.p50_ms},
          {"p95_ms", spread.p95_ms},
          {"p99_ms", spread.p99_ms},
          {"max_ms", spread.max_ms}};
}

json::object options_json(const load_options& options) {
  return {{"url", options.url},
          {"fans", options.fans},
          {"arrival", name_of(options.arrival)},
          {"arrival_seconds", options.arrival_s},
          {"no_show_percent", options.no_show_percent},
          {"abandon_percent", options.abandon_percent},
          {"decline_percent", options.decline_percent},
          {"websocket_percent", options.websocket_percent},
          {"buy_by", name_of(options.buy_by)},
          {"connections", options.connections},
          {"timeout_seconds", options.timeout_s},
          {"seed", options.seed}};
}

json::object terms_json(const sale_terms& terms) {
  json::array types;
  for (const auto& type : terms.types)
    types.push_back(json::object{{"id", to_string(type.id)},
                                 {"name", type.name},
                                 {"price", type.price},
                                 {"total", type.total},
                                 {"available_at_start", type.available_at_start}});
  return {{"id", to_string(terms.event)},
          {"name", terms.name},
          {"currency", terms.currency},
          {"policy", terms.policy},
          {"batch_size", terms.batch_size},
          {"admission_interval_ms", terms.admission_interval_ms},
          {"over_admission_factor", terms.over_admission_factor},
          {"session_ttl_seconds", terms.session_ttl_s},
          {"claim_window_seconds", terms.claim_window_s},
          {"claim_ttl_seconds", terms.claim_ttl_s},
          {"claims_per_customer", terms.claims_per_customer},
          {"ticket_types", std::move(types)}};
}

json::array steps_json(const metrics& steps) {
  json::array out;
  for (std::size_t i = 0; i < step_count; ++i) {
    const auto which = static_cast<step>(i);
    const auto& each = steps.of(which);
    auto row = spread_json(each.spread());
    row["step"] = name_of(which);
    row["count"] = each.count();
    row["retries"] = each.retries();
    row["errors"] = each.errors();
    row["rate_per_second"] = each.rate();
    out.push_back(std::move(row));
  }
  return out;
}

json::array checks_json(const judgement& judged) {
  json::array out;
  for (const auto& check : judged.checks) {
    json::array examples;
    for (const auto& example : check.examples) examples.emplace_back(example);
    out.push_back(json::object{{"check", name_of(check.id)},
                               {"invariant", invariant_of(check.id)},
                               {"result", name_of(check.result)},
                               {"violations", check.violations},
                               {"detail", check.detail},
                               {"examples", std::move(examples)}});
  }
  return out;
}

} // namespace

std::string_view name_of(arrival_shape shape) {
  switch (shape) {
    case arrival_shape::spike: return "spike";
    case arrival_shape::ramp: return "ramp";
    case arrival_shape::poisson: return "poisson";
  }
  return "?";
}

std::string_view name_of(buying_way way) {
  switch (way) {
    case buying_way::claims: return "claims";
    case buying_way::checkout: return "checkout";
    case buying_way::mixed: return "mixed";
  }
  return "?";
}

int exit_code_of(const crowd_result& result, const judgement& judged) {
  if (!result.reached) return 2;
  if (judged.broken()) return 1;
  return result.timed_out ? 3 : 0;
}

int exit_code_of(const join_bench_result& result) {
  if (!result.reached) return 2;
  if (result.duplicate_numbers > 0) return 1;
  for (const auto& [status, count] : result.others)
    if (count > 0) return 1;
  return result.timed_out ? 3 : 0;
}

std::string table_of(const load_options& options, const crowd_result& result, const judgement& judged) {
  std::string out = settings_text(options, result.history.terms);
  out += steps_text(result.steps);
  const auto counts = count_outcomes(result.history);
  out += "\nfans       ";
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      out += std::string(name_of(static_cast<outcome>(i))) + " " + std::to_string(counts[i]) + "  ";
  out +=
    format("\nsale       %lld tickets sold of %lld in %.1f s, %llu replayed answers, "
           "%lld outcomes unknown\n",
           static_cast<long long>(judged.sold_units), static_cast<long long>(judged.stock), result.elapsed_s,
           static_cast<unsigned long long>(result.replayed), static_cast<long long>(judged.undetermined));
  out += checkouts_text(result, judged);
  out += checks_text(judged);
  if (!result.complaints.empty()) {
    out += "\nunexpected answers (the first " + std::to_string(result.complaints.size()) + ")\n";
    for (const auto& complaint : result.complaints) out += "    " + complaint + "\n";
  }
  switch (exit_code_of(result, judged)) {
    case 0: out += "\nall checks hold\n"; break;
    case 1: out += "\nAN INVARIANT BROKE\n"; break;
    case 3: out += "\nthe time ran out before the sale was decided; no invariant broke\n"; break;
    default: break;
  }
  return out;
}

std::string json_of(const load_options& options, const crowd_result& result, const judgement& judged) {
  json::object outcomes;
  const auto counts = count_outcomes(result.history);
  for (std::size_t i = 0; i < counts.size(); ++i) outcomes[name_of(static_cast<outcome>(i))] = counts[i];
  json::array complaints;
  for (const auto& complaint : result.complaints) complaints.emplace_back(complaint);
  const json::object out{{"options", options_json(options)},
                         {"event", terms_json(result.history.terms)},
                         {"elapsed_seconds", result.elapsed_s},
                         {"exit_code", exit_code_of(result, judged)},
                         {"steps", steps_json(result.steps)},
                         {"outcomes", std::move(outcomes)},
                         {"stock", judged.stock},
                         {"sold", judged.sold_units},
                         {"claims_value", judged.claims_value},
                         {"payments_value", judged.payments_value},
                         {"undetermined", judged.undetermined},
                         {"admitted", judged.admitted_entries},
                         {"largest_batch", judged.largest_batch},
                         {"replayed_answers", result.replayed},
                         {"sold_out_seen", result.history.sold_out_seen},
                         {"timed_out", result.timed_out},
                         {"checkouts", checkouts_json(result)},
                         {"orders", orders_json(judged)},
                         {"checks", checks_json(judged)},
                         {"complaints", std::move(complaints)}};
  return json::serialize(out) + "\n";
}

std::string table_of(const load_options& options, const join_bench_result& result) {
  std::string out = format("join-only  %u customers over %u keep-alive connections%s\n", options.fans,
                           options.connections, options.with_keys ? ", with Idempotency-Key" : "");
  out += format("joins/s    %.0f   (%llu joined in %.3f s, %llu retries, %llu duplicate numbers)\n",
                result.joins_per_s, static_cast<unsigned long long>(result.joined), result.elapsed_s,
                static_cast<unsigned long long>(result.retries),
                static_cast<unsigned long long>(result.duplicate_numbers));
  out += format("latency    p50 %.2f  p95 %.2f  p99 %.2f  max %.2f ms\n", result.latency.p50_ms,
                result.latency.p95_ms, result.latency.p99_ms, result.latency.max_ms);
  out += format("client     %.1f us of CPU a join\n", result.client_cpu_us);
  for (const auto& [status, count] : result.others)
    if (count > 0)
      out += format("refused    %llu with %s\n", static_cast<unsigned long long>(count),
                    status == 0 ? "a malformed reply" : std::to_string(status).c_str());
  if (result.timed_out) out += "the time ran out\n";
  return out;
}

std::string json_of(const load_options& options, const join_bench_result& result) {
  json::object refused;
  for (const auto& [status, count] : result.others)
    if (count > 0) refused[std::to_string(status)] = count;
  const json::object out{{"mode", "join-only"},
                         {"options", options_json(options)},
                         {"with_keys", options.with_keys},
                         {"joined", result.joined},
                         {"elapsed_seconds", result.elapsed_s},
                         {"joins_per_second", result.joins_per_s},
                         {"latency", spread_json(result.latency)},
                         {"retries", result.retries},
                         {"refused", std::move(refused)},
                         {"duplicate_numbers", result.duplicate_numbers},
                         {"client_cpu_us_per_join", result.client_cpu_us},
                         {"exit_code", exit_code_of(result)}};
  return json::serialize(out) + "\n";
}

std::string progress_line(const progress& now) {
  constexpr std::size_t width = 24;
  const auto filled = now.fans == 0 ? 0 : std::min<std::size_t>(width, width * now.finished / now.fans);
  std::string bar(filled, '#');
  bar.resize(width, '.');
  return format("[%s] %5.1fs  joined %u/%u  admitted %u  bought %u  done %u  retries %llu", bar.c_str(),
                now.elapsed_s, now.joined, now.fans, now.admitted, now.bought, now.finished,
                static_cast<unsigned long long>(now.retries));
}

} // namespace fq::load
