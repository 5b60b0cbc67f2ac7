// SPDX-License-Identifier: Apache-2.0
#include "net/wire/notice_codec.hpp"

#include "net/wire/codec.hpp"
#include "net/wire/json_out.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace fq::net {
namespace {

namespace json = boost::json;

json::array array_of_words(std::string_view text) {
  json::array all;
  for (const auto word : words_of(text)) all.emplace_back(word);
  return all;
}

json::object object_of(const device_row& d) {
  return {{"device_id", to_string(d.id)},
          {"platform", to_string(d.way)},
          {"sandbox", d.is_sandbox},
          {"language", tag_of(d.language)},
          {"registered_at", rfc3339(d.registered_at)}};
}

json::object object_of(const webhook_endpoint_row& e) {
  return {{"id", to_string(e.id)},
          {"url", e.url},
          {"topics", array_of_words(e.topics)},
          {"contact", text_or_null(e.contact)},
          {"enabled", e.is_enabled},
          {"off_reason", text_or_null(e.off_reason)},
          {"previous_secret_until", time_or_null(e.previous_until)},
          {"created_at", rfc3339(e.created_at)},
          {"updated_at", rfc3339(e.updated_at)}};
}

json::object object_of(const delivery_row& r) {
  return {{"delivery_id", to_string(r.notice)},
          {"target", to_string(r.target)},
          {"channel", to_string(r.way)},
          {"topic", r.topic},
          {"state", to_string(r.state)},
          {"attempts", r.attempts},
          {"http_status", r.status == 0 ? json::value{} : json::value(r.status)},
          {"reason", text_or_null(r.reason)},
          {"created_at", rfc3339(r.created_at)},
          {"next_try_at", time_or_null(r.state == delivery_state::pending ? r.due_at : never)},
          {"ended_at", time_or_null(r.ended_at)}};
}

template <class Row>
json::array array_of(const std::vector<Row>& rows) {
  json::array all;
  for (const auto& r : rows) all.push_back(object_of(r));
  return all;
}

} // namespace

std::string devices_text(const std::vector<device_row>& devices) {
  return json::serialize(json::object{{"devices", array_of(devices)}});
}

std::string endpoint_text(const webhook_endpoint_row& endpoint, std::string_view secret) {
  auto all = object_of(endpoint);
  if (!secret.empty()) all["secret"] = secret;
  return json::serialize(all);
}

std::string endpoints_text(const std::vector<webhook_endpoint_row>& endpoints) {
  return json::serialize(json::object{{"endpoints", array_of(endpoints)}});
}

std::string deliveries_text(const delivery_page& page) {
  return json::serialize(
    json::object{{"deliveries", array_of(page.rows())}, {"next_cursor", text_or_null(page.cursor())}});
}

std::string id_text(std::string_view name, const uuid& id) {
  return json::serialize(json::object{{name, to_string(id)}});
}

} // namespace fq::net
