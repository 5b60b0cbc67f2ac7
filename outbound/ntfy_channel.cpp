// SPDX-License-Identifier: Apache-2.0
#include "outbound/ntfy_channel.hpp"

#include "outbound/delivery_answers.hpp"
#include "outbound/json_api.hpp"
#include "outbound/push_content.hpp"
#include "outbound/retry_after.hpp"

namespace fq {
namespace {

delivery_answer ntfy_answer(const http_result& result, timestamp now) {
  if (const auto* failure = std::get_if<http_failure>(&result)) return unanswered(*failure);
  const auto& response = std::get<http_response>(result);
  delivery_answer a{.status = response.status};
  if (a.status >= 200 && a.status < 300) {
    a.outcome = delivery_outcome::delivered;
    return a;
  }
  const bool passes = a.status == 408 || a.status == 429 || a.status >= 500;
  a.outcome = passes ? delivery_outcome::again : delivery_outcome::refused;
  a.reason = "HTTP " + std::to_string(a.status);
  a.retry_after = read_retry_after(response.retry_after, now);
  a.is_our_fault = !passes;
  return a;
}

} // namespace

ntfy_channel::ntfy_channel(settings options, environment& env) :
    url_{std::move(options.url)}, env_{env}, http_{std::move(options.http), env} {}

void ntfy_channel::deliver(const notice& what, const delivery_target& to,
                           std::function<void(delivery_answer)> done) {
  const auto content = push_content_of(what, env_.wall_now(), to.language);
  if (!content) return done({.outcome = delivery_outcome::refused, .reason = "nothing_to_show"});
  http_request rq;
  rq.method = http_request::method_type::post;
  rq.url = url_ + "/" + percent_encode(to.address);
  rq.headers = {{"Title", content->title},
                {"Priority", content->is_urgent ? "high" : "default"},
                {"Content-Type", "text/plain"}};
  rq.body = content->body;
  http_.submit(std::move(rq), [this, done = std::move(done)](const http_result& r) {
    done(ntfy_answer(r, env_.wall_now()));
  });
}

} // namespace fq
