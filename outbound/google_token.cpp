// SPDX-License-Identifier: Apache-2.0
#include "outbound/google_token.hpp"

#include "outbound/delivery_answers.hpp"
#include "outbound/json_api.hpp"
#include "outbound/limits.hpp"
#include "outbound/retry_after.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <stdexcept>

namespace fq {
namespace {

namespace json = boost::json;

constexpr std::string_view scope = "https://www.googleapis.com/auth/firebase.messaging";

std::string needed(const json::object& account, const char* name) {
  auto text = text_at(account, name);
  if (text.empty())
    throw std::runtime_error{std::string{"has no "} + name + "; is it the JSON key of a service account?"};
  return text;
}

/// How long a token with lifetime `life` is used.
milliseconds use_of(seconds life) {
  return std::max<milliseconds>(life - google_token_renewed_before, life / 2);
}

} // namespace

google_account read_google_account(std::string_view text) {
  const auto object = parse_object(text);
  if (object.empty()) throw std::runtime_error{"is no JSON object"};
  if (text_at(object, "type") != "service_account")
    throw std::runtime_error{"is not of type service_account"};
  google_account a{needed(object, "project_id"), needed(object, "client_email"),
                   needed(object, "private_key_id"), needed(object, "private_key"),
                   needed(object, "token_uri")};
  if (!a.token_uri.starts_with("https://")) throw std::runtime_error{"has a token_uri that is not https://"};
  return a;
}

google_token::google_token(google_account account, std::size_t waiting_max, environment& env,
                           http_client& http) :
    account_{std::move(account)},
    signer_{pem_signer::algorithm_type::rs256, account_.private_key},
    waiting_max_{waiting_max},
    env_{env},
    http_{http} {}

void google_token::get(milliseconds patience, taker then) {
  std::unique_lock held{mutex_};
  const auto now = env_.steady_now();
  if (!current_.empty() && now < usable_until_) {
    const auto token = current_;
    held.unlock();
    return then(token);
  }
  if (waiting_.size() >= waiting_max_) {
    held.unlock();
    return then(delivery_answer{.reason = "overloaded"});
  }
  if (is_exchanging_ && now + patience < exchanged_by_) {
    held.unlock();
    return then(out_of_time());
  }
  waiting_.push_back(std::move(then));
  if (is_exchanging_) return;
  is_exchanging_ = true;
  exchanged_by_ = now + patience;
  held.unlock();
  exchange(patience);
}

bool google_token::refuse(const std::string& token) {
  const std::scoped_lock held{mutex_};
  if (token != current_) return true; // already replaced, or being replaced
  const auto now = env_.steady_now();
  if (now < next_refusal_) return false;
  next_refusal_ = now + google_refusal_pause;
  current_.clear();
  return true;
}

std::string google_token::assertion() const {
  const auto now = unix_ms(env_.wall_now()) / 1000;
  const json::object claims{{"iss", account_.client_email},
                            {"scope", scope},
                            {"aud", account_.token_uri},
                            {"iat", now},
                            {"exp", now + google_assertion_life.count()}};
  return signer_.jwt(account_.private_key_id, json::serialize(claims));
}

void google_token::exchange(milliseconds timeout) {
  http_request rq;
  rq.timeout = timeout;
  rq.method = http_request::method_type::post;
  rq.url = account_.token_uri;
  rq.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  try {
    rq.body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" + assertion();
  } catch (const std::runtime_error&) {
    return end_exchange(
      delivery_answer{.reason = "no_signature", .is_channel_down = true, .is_our_fault = true});
  }
  http_.submit(std::move(rq), [this](const http_result& answer) { take_answer(answer); });
}

void google_token::take_answer(const http_result& answer) {
  if (const auto* failure = std::get_if<http_failure>(&answer)) {
    auto why = unanswered(*failure);
    // an unusable token_uri is a configuration error, not the notice's fault
    why.outcome = delivery_outcome::again;
    why.reason.insert(0, "oauth_");
    why.is_channel_down = true;
    return end_exchange(why);
  }
  const auto& response = std::get<http_response>(answer);
  const auto body = parse_object(response.body);
  const auto token = text_at(body, "access_token");
  const auto life =
    seconds{std::clamp<std::int64_t>(integer_at(body, "expires_in").value_or(google_assertion_life.count()),
                                     1, google_assertion_life.count())};
  if (response.status != 200 || token.empty()) return end_exchange(failure_of(response));
  {
    const std::scoped_lock held{mutex_};
    current_ = token;
    usable_until_ = env_.steady_now() + use_of(life);
  }
  end_exchange(token);
}

/// RFC 6749 section 5.2 lists the errors. Errors that are not temporary concern our account.
delivery_answer google_token::failure_of(const http_response& response) const {
  const auto word = plain_word(text_at(parse_object(response.body), "error"));
  const bool passes = response.status == 408 || response.status == 429 || response.status >= 500;
  return {.status = response.status,
          .reason = "oauth_" + (word.empty() ? "refused" : word),
          .retry_after = read_retry_after(response.retry_after, env_.wall_now()),
          .is_channel_down = true,
          .is_our_fault = !passes};
}

void google_token::end_exchange(const result& outcome) {
  std::vector<taker> all;
  {
    const std::scoped_lock held{mutex_};
    is_exchanging_ = false;
    all.swap(waiting_);
  }
  for (auto& then : all) then(outcome);
}

} // namespace fq
