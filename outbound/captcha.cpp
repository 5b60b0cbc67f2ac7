// SPDX-License-Identifier: Apache-2.0
#include "outbound/captcha.hpp"

#include <utility>

namespace fq {
namespace {

json_api::settings api_settings(const siteverify_captcha::settings& s) {
  json_api::settings api{s.name, s.url, s.timeout, s.http};
  api.http.timeout = s.timeout;
  return api;
}

/// A refused secret is our own mistake, and an internal error is the provider's.
bool is_visitors_fault(const boost::json::object& answer) {
  for (const auto& code : array_at(answer, "error-codes")) {
    const auto* text = code.if_string();
    if (text == nullptr || text->find("secret") != std::string::npos || *text == "internal-error")
      return false;
  }
  return true;
}

} // namespace

siteverify_captcha::siteverify_captcha(settings options, environment& env) :
    settings_{std::move(options)}, api_{api_settings(settings_), env} {}

void siteverify_captcha::verify(std::string response, std::string action, std::string bound_to,
                                std::function<void(captcha_verdict)> done) {
  http_request rq;
  rq.method = http_request::method_type::post;
  rq.url = settings_.path;
  rq.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  rq.body = "secret=" + percent_encode(settings_.secret) + "&sitekey=" + percent_encode(settings_.site_key)
            + "&response=" + percent_encode(response);
  rq.fresh_connection = true; // a second call with the same response would be refused
  api_.send(std::move(rq), api_.begin({}),
            [this, action = std::move(action), bound_to = std::move(bound_to),
             done = std::move(done)](const api_answer& answer) {
              if (answer.failure || answer.is_refusal()) return done(captcha_verdict::unavailable);
              const auto* success = answer.body.if_contains("success");
              if (success == nullptr || !success->is_bool()) return done(captcha_verdict::unavailable);
              if (!success->get_bool())
                return done(is_visitors_fault(answer.body) ? captcha_verdict::refused
                                                           : captcha_verdict::unavailable);
              const bool is_other =
                settings_.keeps_action
                && (text_at(answer.body, "action") != action || text_at(answer.body, "cdata") != bound_to);
              done(is_other ? captcha_verdict::refused : captcha_verdict::passed);
            });
}

} // namespace fq
