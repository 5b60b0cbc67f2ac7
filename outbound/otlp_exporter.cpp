// SPDX-License-Identifier: Apache-2.0
#include "outbound/otlp_exporter.hpp"

#include "outbound/limits.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <charconv>
#include <future>
#include <memory>

namespace fq {
namespace {

namespace json = boost::json;

json::object text_attribute(std::string_view key, std::string_view value) {
  return {{"key", key}, {"value", {{"stringValue", value}}}};
}

/// In proto3's JSON 64-bit numbers are strings; in OTLP's JSON ids are hexadecimal.
json::object json_of(const span& s) {
  const auto nanos = [](timestamp t) { return std::to_string(unix_ms(t) * 1'000'000); };
  json::object out{{"traceId", trace_id_text(s.context.trace)},
                   {"spanId", span_id_text(s.context.span)},
                   {"name", s.name},
                   {"kind", static_cast<int>(s.kind)},
                   {"startTimeUnixNano", nanos(s.began)},
                   {"endTimeUnixNano", nanos(s.began + s.lasted)}};
  if (s.parent != 0) out["parentSpanId"] = span_id_text(s.parent);
  if (!s.context.state.empty()) out["traceState"] = s.context.state;
  if (s.http_status != 0)
    out["attributes"] = json::array{json::object{{"key", "http.response.status_code"},
                                                 {"value", {{"intValue", std::to_string(s.http_status)}}}}};
  if (s.has_failed) out["status"] = json::object{{"code", 2}}; // ERROR
  return out;
}

/// The number of spans that a 2xx answer reports as rejected (ExportTracePartialSuccess); 0 if it reports
/// none.
std::uint64_t rejected_in(const std::string& body, std::uint64_t sent) {
  boost::system::error_code wrong;
  const auto answer = json::parse(body, wrong);
  if (wrong || !answer.is_object()) return 0;
  const auto* partial = answer.as_object().if_contains("partialSuccess");
  const auto* rejected =
    partial != nullptr && partial->is_object() ? partial->as_object().if_contains("rejectedSpans") : nullptr;
  if (rejected == nullptr) return 0;
  std::int64_t count = 0;
  if (const auto* text = rejected->if_string())
    std::from_chars(text->data(), text->data() + text->size(), count);
  else if (const auto* number = rejected->if_int64())
    count = *number;
  return std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)), sent);
}

/// The number of `sent` spans that the collector accepted.
std::uint64_t taken_in(const http_result& result, std::uint64_t sent) {
  const auto* response = std::get_if<http_response>(&result);
  const bool is_well = response != nullptr && response->status >= 200 && response->status < 300;
  return is_well ? sent - rejected_in(response->body, sent) : 0;
}

} // namespace

std::string otlp_json(const std::vector<span>& spans, const std::string& service, const std::string& node) {
  json::array all;
  for (const auto& s : spans) all.push_back(json_of(s));
  const json::object scope{{"scope", {{"name", "fairqueue"}}}, {"spans", std::move(all)}};
  json::array known{text_attribute("service.name", service)};
  if (!node.empty()) known.push_back(text_attribute("service.instance.id", node));
  const json::object resource{{"attributes", std::move(known)}};
  return json::serialize(
    json::object{{"resourceSpans",
                  json::array{json::object{{"resource", resource}, {"scopeSpans", json::array{scope}}}}}});
}

otlp_exporter::otlp_exporter(settings options, environment& env) :
    settings_(std::move(options)),
    env_(env),
    http_({.timeout = settings_.timeout, .ca_file = settings_.ca_file}, env),
    thread_([this] { run(); }) {}

otlp_exporter::~otlp_exporter() {
  {
    const std::scoped_lock held{mutex_};
    stops_by_ = env_.steady_now() + settings_.timeout;
  }
  stopped_.notify_one();
  thread_.join();
}

void otlp_exporter::take(span done) {
  const std::scoped_lock held{mutex_};
  if (waiting_.size() >= settings_.waiting_max) {
    dropped_.fetch_add(1);
    return;
  }
  waiting_.push_back(std::move(done));
}

void otlp_exporter::run() {
  for (bool stops = false; !stops;) {
    std::vector<span> batch;
    {
      std::unique_lock held{mutex_};
      stops = stopped_.wait_for(held, settings_.interval, [this] { return stops_by_.has_value(); });
      batch.swap(waiting_);
    }
    if (!batch.empty()) send(std::move(batch));
  }
}

std::optional<milliseconds> otlp_exporter::end() {
  const std::scoped_lock held{mutex_};
  return stops_by_;
}

/// Runs one export at a time, so that a slow collector is not overloaded. An export without an answer at the
/// shutdown deadline is given up; the HTTP client is destroyed with this object.
void otlp_exporter::send(std::vector<span> batch) {
  http_request rq;
  rq.method = http_request::method_type::post;
  rq.url = settings_.url;
  rq.headers = {{"Content-Type", "application/json"}};
  if (!settings_.authorization.empty()) rq.headers.emplace_back("Authorization", settings_.authorization);
  rq.body = otlp_json(batch, settings_.service, settings_.node);
  const auto sent = batch.size();
  // the answer may arrive after the wait has ended
  const auto answered = std::make_shared<std::promise<std::uint64_t>>();
  auto taken = answered->get_future();
  http_.submit(std::move(rq),
               [answered, sent](const http_result& r) { answered->set_value(taken_in(r, sent)); });
  while (taken.wait_for(exporter_end_poll) != std::future_status::ready)
    if (const auto by = end(); by && env_.steady_now() >= *by) break;
  const auto count = taken.wait_for(milliseconds{0}) == std::future_status::ready ? taken.get() : 0;
  exported_.fetch_add(count);
  dropped_.fetch_add(sent - count);
}

} // namespace fq
