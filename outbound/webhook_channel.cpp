// SPDX-License-Identifier: Apache-2.0
#include "outbound/webhook_channel.hpp"

#include "crypto/webhook_signature.hpp"
#include "outbound/limits.hpp"
#include "outbound/retry_after.hpp"
#include "outbound/time_text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace fq {
namespace {

namespace json = boost::json;

bool is_object(const std::string& text) {
  boost::system::error_code error;
  const auto value = json::parse(text, error);
  return !error && value.is_object();
}

http_client::settings http_of(const webhook_settings& s) {
  http_client::settings http;
  http.timeout = s.timeout;
  http.connect_timeout = s.connect_timeout;
  http.response_bytes_max = webhook_answer_bytes_max;
  http.in_flight_max = s.concurrency;
  http.ca_file = s.ca_file;
  http.https_only = !s.urls.allow_http;
  http.public_addresses_only = !s.urls.allow_private;
  http.cuts_long_answers = true;
  http.is_background = true;
  http.resolve = s.resolve;
  return http;
}

delivery_answer refused(std::string reason, bool is_our_fault) {
  delivery_answer answer;
  answer.outcome = delivery_outcome::refused;
  answer.reason = std::move(reason);
  answer.is_our_fault = is_our_fault;
  return answer;
}

delivery_answer again(std::string reason) {
  delivery_answer answer;
  answer.reason = std::move(reason);
  return answer;
}

delivery_answer answer_to_failure(const http_failure& failure) {
  switch (failure.kind) {
    case http_error::network: return again(failure.step.empty() ? "network" : std::string{failure.step});
    case http_error::timeout: return again("timeout");
    case http_error::too_large: return again("network"); // does not happen: long answers are cut
    case http_error::overloaded: return again("overloaded");
    case http_error::cancelled: return again("cancelled");
    case http_error::malformed: // libcurl parses the URL differently from webhook_url
    case http_error::forbidden: return refused("ssrf_blocked", false);
  }
  return again("network");
}

std::string reason_of(int status) {
  if (status >= 200 && status < 300) return "ok";
  if (status >= 300 && status < 400) return "redirect";
  if (status == 410) return "gone";
  if (status == 429) return "rate_limited";
  if (status >= 500) return "server_error";
  return "rejected";
}

delivery_outcome outcome_of(int status) {
  if (status >= 200 && status < 300) return delivery_outcome::delivered;
  return status == 410 ? delivery_outcome::gone : delivery_outcome::again;
}

} // namespace

std::string webhook_body(const notice& what) {
  if (!is_object(what.payload)) return {};
  std::string body = R"({"id":")" + to_string(what.id) + R"(","type":)"
                     + json::serialize(json::string{what.topic}) + R"(,"time":")"
                     + time_for_machines(what.created_at) + R"(","data":)";
  return body.append(what.payload).append("}");
}

delivery_answer webhook_answer(int status, const std::string& retry_after, timestamp now) {
  delivery_answer answer;
  answer.outcome = outcome_of(status);
  answer.status = status;
  answer.reason = reason_of(status);
  if (answer.outcome == delivery_outcome::again) answer.retry_after = read_retry_after(retry_after, now);
  return answer;
}

webhook_channel::webhook_channel(webhook_settings settings, environment& env) :
    settings_{std::move(settings)}, env_{env}, http_{http_of(settings_), env} {}

void webhook_channel::deliver(const notice& what, const delivery_target& to,
                              std::function<void(delivery_answer)> done) {
  if (!wrong_with_url(to.address, settings_.urls).empty()) return done(refused("ssrf_blocked", false));
  auto body = webhook_body(what);
  if (body.empty()) return done(refused("malformed_payload", true));
  const auto id = to_string(what.id);
  const auto seconds = unix_ms(env_.wall_now()) / 1000;
  auto signature = sign_webhook(to.secrets, id, seconds, body);
  if (!signature) return done(refused("malformed_secret", true));

  http_request request;
  request.method = http_request::method_type::post;
  request.url = to.address;
  request.headers = {{"Content-Type", "application/json"},
                     {"webhook-id", id},
                     {"webhook-timestamp", std::to_string(seconds)},
                     {"webhook-signature", std::move(*signature)}};
  request.body = std::move(body);
  http_.submit(std::move(request), [this, done = std::move(done)](const http_result& result) {
    const auto* failure = std::get_if<http_failure>(&result);
    if (failure != nullptr) return done(answer_to_failure(*failure));
    const auto& response = std::get<http_response>(result);
    done(webhook_answer(response.status, response.retry_after, env_.wall_now()));
  });
}

} // namespace fq
