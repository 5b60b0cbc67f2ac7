// SPDX-License-Identifier: Apache-2.0
// Asks a provider of captchas (Turnstile, hCaptcha) whether a visitor's response is good. A provider that
// does not answer in time never counts as a yes.
#pragma once
#include "outbound/json_api.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace fq {

enum class captcha_verdict : std::uint8_t { passed, refused, unavailable };

class captcha_port {
public:
  virtual ~captcha_port() = default;
  /// What the page shows to the provider.
  [[nodiscard]] virtual const std::string& site_key() const = 0;
  /// Calls `done` exactly once, on any thread. `action` and `bound_to`: what the visitor's page gave the
  /// provider; a response to another is refused, if the provider keeps them.
  virtual void verify(std::string response, std::string action, std::string bound_to,
                      std::function<void(captcha_verdict)> done) = 0;
};

/// Both providers take the same form at their siteverify address; a response is good once.
class siteverify_captcha final : public captcha_port {
public:
  struct settings {
    std::string name; ///< prefix of errors
    std::string url; ///< scheme and host, without a trailing slash
    std::string path; ///< of siteverify
    std::string site_key, secret;
    bool keeps_action = false; ///< its answer repeats `action` and `cdata`
    milliseconds timeout{3'000}; ///< below http.request_timeout
    http_client::settings http;
  };

  siteverify_captcha(settings options, environment& env);
  [[nodiscard]] const std::string& site_key() const override { return settings_.site_key; }
  void verify(std::string response, std::string action, std::string bound_to,
              std::function<void(captcha_verdict)> done) override;

private:
  settings settings_;
  json_api api_; // last: its callbacks use the members above
};

} // namespace fq
