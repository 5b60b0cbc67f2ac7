// SPDX-License-Identifier: Apache-2.0
// Answers:
// https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
#include "outbound/apns_channel.hpp"

#include "outbound/delivery_answers.hpp"
#include "outbound/json_api.hpp"
#include "outbound/limits.hpp"
#include "outbound/push_content.hpp"
#include "outbound/retry_after.hpp"

#include <algorithm>
#include <stdexcept>

namespace fq {
namespace {

constexpr std::string_view expired_token = "ExpiredProviderToken";
constexpr std::string_view unknown_token = "BadDeviceToken";
constexpr std::string_view token_of_another_topic = "DeviceTokenNotForTopic";
constexpr std::string_view too_many_tokens = "TooManyProviderTokenUpdates";

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// 400 answers about our settings; the others concern the request.
constexpr auto settings_words = std::to_array<std::string_view>(
  {"BadTopic", "MissingTopic", "BadCertificate", "BadCertificateEnvironment"});

/// A temporary error of the second environment says nothing about this device, which may be registered for
/// the wrong environment. So the delivery is retried. The channel stays up, because any text can be
/// registered as a token.
delivery_answer later(delivery_answer second) {
  second.outcome = delivery_outcome::again;
  second.is_channel_down = second.is_our_fault = false;
  return second;
}

bool passes(const delivery_answer& a) {
  return a.status == 408 || a.status == 429 || a.status >= 500 || a.reason == expired_token;
}

/// The outcome for a token that the first environment refused. The second answer decides if it is a success,
/// a temporary error or DeviceTokenNotForTopic; otherwise the first refusal stands, also if the second
/// environment rejects our key.
delivery_answer of_both(const delivery_answer& first, const delivery_answer& second) {
  if (second.outcome == delivery_outcome::delivered)
    return {.outcome = delivery_outcome::delivered,
            .status = second.status,
            .reason = "wrong_environment",
            .is_our_fault = true};
  if (passes(second)) return later(second);
  return second.reason == token_of_another_topic ? second : first;
}

} // namespace

delivery_answer apns_answer(int status, std::string_view body, std::optional<milliseconds> retry_after) {
  using enum delivery_outcome;
  if (status == 200) return {.outcome = delivered, .status = status};
  const auto answer = parse_object(body);
  delivery_answer a{
    .status = status, .reason = plain_word(text_at(answer, "reason")), .retry_after = retry_after};
  if (a.reason.empty()) a.reason = "HTTP " + std::to_string(status);
  const auto becomes = [&](delivery_outcome outcome, bool is_our_fault) {
    a.outcome = outcome;
    a.is_our_fault = is_our_fault;
    return a;
  };
  const auto is_down = [&] { // our key or settings: fails for every device until an operator acts
    a.is_channel_down = true;
    return becomes(again, true);
  };
  if (status == 410) {
    if (const auto since = integer_at(answer, "timestamp"); since && *since > 0)
      a.gone_since = from_unix_ms(*since);
    return becomes(gone, false);
  }
  if (a.reason == unknown_token) return becomes(gone, false);
  // a bug if our topic is wrong: then every device gets this answer
  if (a.reason == token_of_another_topic) return becomes(gone, true);
  if (status == 403 || is_one_of(a.reason, settings_words)) return is_down();
  if (a.reason == too_many_tokens) {
    a.retry_after = apns_token::age_min;
    return is_down();
  }
  if (status == 429 || status == 408 || status >= 500 || a.reason == "IdleTimeout")
    return becomes(again, false);
  if (status == 400 || status == 404 || status == 405 || status == 413) return becomes(refused, true);
  return is_down(); // not an APNs answer: the URL may be wrong
}

static http_client::settings http2(http_client::settings s) {
  s.multiplexed = true;
  s.requests_per_connections = 900; // below the number of stream resets that servers accept
  s.is_background = true;
  s.http2_only = true;
  return s;
}

/// The state of one send.
struct apns_channel::attempt {
  http_request request; ///< without url and authorization
  std::string path;
  std::function<void(delivery_answer)> done;
  milliseconds end{0}; ///< steady time; limit for all steps
  bool is_sandbox = false; ///< current environment
  bool has_new_token = false; ///< a new provider token was made for this send
  std::optional<delivery_answer> elsewhere{}; ///< the first environment's answer, if it refused the token

  /// The single exit of every send. Any client can register sandbox devices, so a sandbox error never closes
  /// the channel.
  void finish(delivery_answer answer) const {
    if (is_sandbox) answer.is_channel_down = false;
    done(std::move(answer));
  }
};

apns_channel::apns_channel(settings options, environment& env) :
    settings_{std::move(options)},
    env_{env},
    tokens_{settings_.team_id, settings_.key_id, settings_.key, env},
    http_{http2(settings_.http), env} {}

static http_request request_of(const notice& what, const push_content& content, const std::string& topic,
                               timestamp now) {
  http_request rq;
  rq.method = http_request::method_type::post;
  rq.headers = {
    {"apns-topic", topic},
    {"apns-push-type", "alert"},
    {"apns-priority", content.is_urgent ? "10" : "5"},
    {"apns-expiration", content.ttl.count() == 0 ? "0" : std::to_string(unix_ms(now + content.ttl) / 1000)},
    {"apns-collapse-id", content.collapse_key},
    {"apns-id", to_string(what.id)},
    {"Content-Type", "application/json"}};
  rq.body = apns_body(content);
  return rq;
}

void apns_channel::deliver(const notice& what, const delivery_target& to,
                           std::function<void(delivery_answer)> done) {
  const auto now = env_.wall_now();
  const auto content = push_content_of(what, now, to.language);
  if (!content) return done({.outcome = delivery_outcome::refused, .reason = "nothing_to_show"});
  auto a = std::make_shared<attempt>();
  a->request = request_of(what, *content, settings_.topic, now);
  a->path = "/3/device/" + percent_encode(to.address);
  a->done = std::move(done);
  a->end = end_of_try(env_);
  a->is_sandbox = to.is_sandbox;
  send(a);
}

void apns_channel::send(const std::shared_ptr<attempt>& a) {
  if (const auto pause = left_of_pause(a->is_sandbox); pause.count() > 0)
    return a->finish({.reason = std::string{too_many_tokens},
                      .retry_after = pause,
                      .is_channel_down = true,
                      .is_our_fault = true});
  const auto left = time_for_step(a->end, env_, settings_.http.timeout);
  if (left.count() == 0) return a->finish(out_of_time());
  std::string token;
  try {
    token = tokens_.get();
  } catch (const std::runtime_error&) {
    return a->finish({.reason = "no_signature", .is_channel_down = true, .is_our_fault = true});
  }
  auto rq = a->request;
  rq.url = (a->is_sandbox ? settings_.sandbox_url : settings_.url) + a->path;
  rq.headers.emplace_back("authorization", "bearer " + token);
  rq.timeout = left;
  rq.fresh_connection = takes_connection(a->is_sandbox);
  http_.submit(std::move(rq), [this, a, token](const http_result& answer) { take_answer(a, token, answer); });
}

void apns_channel::take_answer(const std::shared_ptr<attempt>& a, const std::string& token,
                               const http_result& answer) {
  if (const auto* failure = std::get_if<http_failure>(&answer)) {
    if (failure->kind == http_error::network || failure->kind == http_error::timeout)
      want_connection(a->is_sandbox);
    return a->finish(a->elsewhere ? later(unanswered(*failure)) : unanswered(*failure));
  }
  const auto& response = std::get<http_response>(answer);
  auto meaning =
    apns_answer(response.status, response.body, read_retry_after(response.retry_after, env_.wall_now()));
  if (response.status >= 500) want_connection(a->is_sandbox);
  if (a->elsewhere) return a->finish(of_both(*a->elsewhere, meaning));
  if (meaning.outcome == delivery_outcome::again || meaning.outcome == delivery_outcome::gone)
    return take_refusal(a, token, std::move(meaning));
  a->finish(std::move(meaning));
}

/// Retries once where a retry can help: in the other environment, or with a new provider token.
void apns_channel::take_refusal(const std::shared_ptr<attempt>& a, const std::string& token,
                                delivery_answer answer) {
  if (answer.reason == unknown_token || answer.reason == token_of_another_topic) {
    a->elsewhere = std::move(answer);
    a->is_sandbox = !a->is_sandbox;
    return send(a);
  }
  if (answer.reason == expired_token && !a->has_new_token) {
    const auto wait = tokens_.refuse(token);
    a->has_new_token = true;
    if (wait.count() == 0) return send(a);
    answer.retry_after = wait;
  }
  if (answer.reason == too_many_tokens) {
    const std::scoped_lock held{mutex_};
    host_of(a->is_sandbox).paused_until = env_.steady_now() + apns_token::age_min;
  }
  a->finish(std::move(answer));
}

milliseconds apns_channel::left_of_pause(bool is_sandbox) {
  const std::scoped_lock held{mutex_};
  return host_of(is_sandbox).paused_until - env_.steady_now();
}

/// True if the next request must use a new connection because the current one failed.
bool apns_channel::takes_connection(bool is_sandbox) {
  const std::scoped_lock held{mutex_};
  auto& host = host_of(is_sandbox);
  const auto now = env_.steady_now();
  if (!host.wants_connection || now - host.connected_at < apns_connection_pause) return false;
  host.wants_connection = false;
  host.connected_at = now;
  return true;
}

void apns_channel::want_connection(bool is_sandbox) {
  const std::scoped_lock held{mutex_};
  host_of(is_sandbox).wants_connection = true;
}

} // namespace fq
