// SPDX-License-Identifier: Apache-2.0
// Classifies answers, and the few JSON and URL helpers that the gateways need.
#include "outbound/json_api.hpp"

#include "outbound/limits.hpp"
#include "outbound/retry_after.hpp"

#include <boost/json/parse.hpp>
#include <curl/curl.h>

#include <algorithm>

namespace fq {
namespace {

namespace json = boost::json;

bool is_code_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'
         || c == '.' || c == ' ';
}

const json::value* member(const json::object& object, std::string_view name) {
  return object.if_contains(name);
}

bool is_passing(int status) {
  return status == 408 || status == 409 || status == 425 || status == 429 || status >= 500;
}

} // namespace

json_api::json_api(settings options, environment& env) :
    settings_{std::move(options)}, env_{env}, http_{settings_.http, env} {}

void json_api::send(http_request request, const api_call& of, std::function<void(api_answer)> done) {
  const auto left = of.deadline - env_.steady_now();
  if (left.count() <= 0) return done({0, {}, unavailable("no time left")});
  request.url.insert(0, settings_.url);
  request.timeout = std::min(left, settings_.http.timeout);
  if (of.trace) request.headers.emplace_back("traceparent", traceparent_of(of.trace));
  if (!of.trace.state.empty()) request.headers.emplace_back("tracestate", of.trace.state);
  http_.submit(std::move(request),
               [this, done = std::move(done)](http_result r) { done(answer_of(std::move(r))); });
}

api_answer json_api::answer_of(http_result result) const {
  if (const auto* failure = std::get_if<http_failure>(&result)) return {0, {}, unavailable(failure->what)};
  const auto& response = std::get<http_response>(result);
  api_answer out{response.status, parse_object(response.body), {}};
  const auto http = "HTTP " + std::to_string(out.status);
  if (is_passing(out.status))
    out.failure = unavailable(http, pause_of(response.retry_after));
  else if (out.status == 401 || out.status == 403)
    out.failure = unavailable(http + ", it does not accept our key");
  else if (out.status < 200 || (out.status >= 300 && out.status < 400))
    out.failure = unavailable(http + ", is its url right");
  else if (out.body.empty())
    out.failure = unavailable(http + " without the JSON expected");
  return out;
}

milliseconds json_api::pause_of(const std::string& retry_after) const {
  return std::min(read_retry_after(retry_after, env_.wall_now()).value_or(milliseconds{0}),
                  gateway_pause_max);
}

gateway_error json_api::rejected(int status, std::string_view code) const {
  auto what = settings_.name + ": HTTP " + std::to_string(status);
  if (const auto word = plain_word(code); !word.empty()) what += " " + word;
  return {gateway_error::kind_type::rejected, {}, std::move(what)};
}

gateway_error json_api::unavailable(std::string_view what, milliseconds retry_after) const {
  return {gateway_error::kind_type::unavailable, retry_after, settings_.name + ": " + std::string{what}};
}

std::string plain_word(std::string_view code) {
  std::string out;
  std::copy_if(code.begin(), code.end(), std::back_inserter(out), is_code_character);
  if (out.size() > gateway_code_chars_max) out.resize(gateway_code_chars_max);
  return out;
}

std::string text_at(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

std::optional<std::int64_t> integer_at(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr || !value->is_int64()) return std::nullopt; // not an int64: not an amount of money
  return value->get_int64();
}

const json::object& object_at(const json::object& object, std::string_view name) {
  static const json::object none;
  const auto* value = member(object, name);
  return value != nullptr && value->is_object() ? value->get_object() : none;
}

const json::array& array_at(const json::object& object, std::string_view name) {
  static const json::array none;
  const auto* value = member(object, name);
  return value != nullptr && value->is_array() ? value->get_array() : none;
}

json::object parse_object(std::string_view text) {
  boost::system::error_code error;
  auto document = json::parse(text, error);
  return !error && document.is_object() ? std::move(document.get_object()) : json::object{};
}

std::string percent_encode(std::string_view text) {
  if (text.empty()) return {};
  char* encoded = curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size()));
  if (encoded == nullptr) throw std::bad_alloc{};
  std::string out{encoded};
  curl_free(encoded);
  return out;
}

} // namespace fq
