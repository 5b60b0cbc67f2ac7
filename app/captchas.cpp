// SPDX-License-Identifier: Apache-2.0
#include "app/captchas.hpp"

#include "app/limits.hpp"

namespace fq {

std::map<challenge_kind, std::unique_ptr<captcha_port>> open_captchas(const config::options& o,
                                                                      environment& env) {
  std::map<challenge_kind, std::unique_ptr<captcha_port>> all;
  const auto add = [&](challenge_kind kind, siteverify_captcha::settings s) {
    if (s.secret.empty()) return;
    s.http.in_flight_max = s.http.waiting_max = captchas_at_once;
    s.http.response_bytes_max = captcha_answer_bytes_max;
    all.emplace(kind, std::make_unique<siteverify_captcha>(std::move(s), env));
  };
  const auto& c = o.challenges;
  add(challenge_kind::turnstile, {.name = "turnstile",
                                  .url = c.turnstile_url,
                                  .path = "/turnstile/v0/siteverify",
                                  .site_key = c.turnstile_site_key,
                                  .secret = c.turnstile_secret,
                                  .keeps_action = true,
                                  .http = {}});
  add(challenge_kind::hcaptcha, {.name = "hcaptcha",
                                 .url = c.hcaptcha_url,
                                 .path = "/siteverify",
                                 .site_key = c.hcaptcha_site_key,
                                 .secret = c.hcaptcha_secret,
                                 .http = {}});
  return all;
}

} // namespace fq
