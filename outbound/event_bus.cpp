// SPDX-License-Identifier: Apache-2.0
#include "outbound/event_bus.hpp"

#include "outbound/time_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <cinttypes>
#include <cstdio>

namespace fq {
namespace {

namespace json = boost::json;

nats_stream_name expected(nats_stream_name name) {
  name.is_expected = true;
  return name;
}

/// The extension `sequence`: zero-padded, so that text order equals numeric order.
std::string sequence_of(const bus_message& m) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%020" PRIu64 ".%010" PRIu32, m.seq, m.ordinal);
  return text.data();
}

/// The CloudEvent's subject: the event, or the customer if the data name no event.
const json::value* subject_in(const json::object& data) {
  for (const auto* name : {"event_id", "customer_id"})
    if (const auto* id = data.if_contains(name); id != nullptr && id->is_string()) return id;
  return nullptr;
}

} // namespace

std::string cloud_event_of(const bus_message& m, const std::string& source) {
  boost::system::error_code error;
  auto parsed = json::parse(m.what.payload, error);
  if (error || !parsed.is_object()) return {};
  auto& data = parsed.get_object();
  json::object event{{"specversion", "1.0"},
                     {"id", to_string(m.what.id)},
                     {"source", source},
                     {"type", m.what.topic},
                     {"time", time_for_machines(m.what.created_at)},
                     {"datacontenttype", "application/json"},
                     {"tenant", std::to_string(static_cast<std::uint32_t>(m.what.tenant))},
                     {"sequence", sequence_of(m)},
                     {"partitionkey", std::to_string(number_of(m.aggregate))}};
  if (const auto* subject = subject_in(data)) event["subject"] = *subject;
  event["data"] = std::move(data);
  return json::serialize(event);
}

nats_bus::nats_bus(nats_bus_settings settings) :
    prefix_{std::move(settings.prefix)},
    source_{std::move(settings.source)},
    stream_{settings.servers, expected(std::move(settings.stream))} {}

bus_answer nats_bus::publish(const bus_message& m) {
  const auto document = cloud_event_of(m, source_);
  if (document.empty()) return {bus_result::rejected, "the payload is no JSON object"};
  static const nats_headers structured{{"content-type", "application/cloudevents+json; charset=utf-8"}};
  auto answer = stream_.publish(prefix_ + '.' + m.what.topic, to_string(m.what.id), structured, document);
  switch (answer.result) {
    case nats_result::accepted: return {bus_result::accepted};
    case nats_result::rejected: return {bus_result::rejected, std::move(answer.why)};
    case nats_result::unavailable: return {bus_result::unavailable, std::move(answer.why)};
  }
  return {};
}

} // namespace fq
