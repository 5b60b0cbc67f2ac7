// SPDX-License-Identifier: Apache-2.0
// Answers: https://firebase.google.com/docs/cloud-messaging/error-codes
#include "outbound/fcm_channel.hpp"

#include "outbound/delivery_answers.hpp"
#include "outbound/json_api.hpp"
#include "outbound/push_content.hpp"
#include "outbound/retry_after.hpp"

#include <algorithm>

namespace fq {
namespace {

namespace json = boost::json;

/// A Google error (google.rpc.Status).
struct google_error {
  std::string code; ///< FCM's error code; empty: absent
  std::string status; ///< Google's general status
  std::string message;
  bool blames_a_field = false; ///< the error names a request field other than the token

  explicit google_error(std::string_view body) {
    const auto answer = parse_object(body);
    const auto& error = object_at(answer, "error");
    status = plain_word(text_at(error, "status"));
    message = text_at(error, "message");
    for (const auto& detail : array_at(error, "details"))
      if (detail.is_object()) take(detail.get_object());
  }

  void take(const json::object& detail) {
    const auto type = text_at(detail, "@type");
    if (type.ends_with("fcm.v1.FcmError")) code = plain_word(text_at(detail, "errorCode"));
    if (!type.ends_with("google.rpc.BadRequest")) return;
    const auto& violations = array_at(detail, "fieldViolations");
    blames_a_field =
      blames_a_field || std::any_of(violations.begin(), violations.end(), [](const json::value& v) {
        return !v.is_object() || text_at(v.get_object(), "field") != "message.token";
      });
  }

  [[nodiscard]] std::string word() const { return code.empty() ? status : code; }
  /// Google uses INVALID_ARGUMENT for a bad token and for a bad request.
  [[nodiscard]] bool blames_the_token() const {
    return code == "INVALID_ARGUMENT" && !blames_a_field
           && message.find("registration token") != std::string::npos;
  }
};

} // namespace

delivery_answer fcm_answer(int status, std::string_view body, std::optional<milliseconds> retry_after) {
  using enum delivery_outcome;
  if (status == 200) return {.outcome = delivered, .status = status};
  const google_error error{body};
  delivery_answer a{.status = status, .reason = error.word(), .retry_after = retry_after};
  if (a.reason.empty()) a.reason = "HTTP " + std::to_string(status);
  const auto becomes = [&](delivery_outcome outcome, bool is_our_fault) {
    a.outcome = outcome;
    a.is_our_fault = is_our_fault;
    return a;
  };
  const auto is_down = [&] { // our account or settings: fails for every device until an operator acts
    a.is_channel_down = true;
    return becomes(again, true);
  };
  if (error.code == "UNREGISTERED") return becomes(gone, false);
  // the app registers with another project
  if (error.code == "SENDER_ID_MISMATCH") return becomes(gone, true);
  // affects Apple and web devices only
  if (error.code == "THIRD_PARTY_AUTH_ERROR") return becomes(again, true);
  if (error.blames_the_token()) return becomes(gone, false);
  if (status == 400 || status == 413) return becomes(refused, true);
  if (status == 429 || status == 408 || status >= 500) return becomes(again, false);
  return is_down();
}

static http_client::settings shared(http_client::settings s) {
  s.multiplexed = true;
  s.requests_per_connections = 900; // below the number of stream resets that servers accept
  s.is_background = true;
  return s;
}

/// The state of one send.
struct fcm_channel::attempt {
  std::string body;
  std::function<void(delivery_answer)> done;
  milliseconds end{0}; ///< steady time; limit for all steps
  bool is_second = false;
};

fcm_channel::fcm_channel(settings options, environment& env) :
    settings_{std::move(options)},
    env_{env},
    tokens_{settings_.account, settings_.waiting_max, env, http_},
    http_{shared(settings_.http), env} {}

void fcm_channel::deliver(const notice& what, const delivery_target& to,
                          std::function<void(delivery_answer)> done) {
  const auto now = env_.wall_now();
  const auto content = push_content_of(what, now, to.language);
  if (!content) return done({.outcome = delivery_outcome::refused, .reason = "nothing_to_show"});
  send(std::make_shared<attempt>(
    attempt{fcm_body(*content, to.address, now), std::move(done), end_of_try(env_)}));
}

void fcm_channel::send(const std::shared_ptr<attempt>& a) {
  const auto left = time_for_step(a->end, env_, settings_.http.timeout);
  if (left.count() == 0) return a->done(out_of_time());
  tokens_.get(left, [this, a](const google_token::result& r) {
    if (const auto* why = std::get_if<delivery_answer>(&r))
      a->done(*why);
    else
      post(a, std::get<std::string>(r));
  });
}

void fcm_channel::post(const std::shared_ptr<attempt>& a, const std::string& token) {
  const auto left = time_for_step(a->end, env_, settings_.http.timeout);
  if (left.count() == 0) return a->done(out_of_time());
  http_request rq;
  rq.method = http_request::method_type::post;
  rq.timeout = left;
  rq.url = settings_.url + "/v1/projects/" + percent_encode(settings_.account.project_id) + "/messages:send";
  rq.headers = {{"Authorization", "Bearer " + token}, {"Content-Type", "application/json"}};
  rq.body = a->body;
  http_.submit(std::move(rq), [this, a, token](const http_result& answer) { take_answer(a, token, answer); });
}

void fcm_channel::take_answer(const std::shared_ptr<attempt>& a, const std::string& token,
                              const http_result& answer) {
  if (const auto* failure = std::get_if<http_failure>(&answer)) return a->done(unanswered(*failure));
  const auto& response = std::get<http_response>(answer);
  if (response.status == 401 && !a->is_second && tokens_.refuse(token)) {
    a->is_second = true;
    return send(a);
  }
  a->done(
    fcm_answer(response.status, response.body, read_retry_after(response.retry_after, env_.wall_now())));
}

} // namespace fq
