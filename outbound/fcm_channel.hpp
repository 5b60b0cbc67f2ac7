// SPDX-License-Identifier: Apache-2.0
// Notices to devices by Firebase Cloud Messaging, its HTTP v1 API: one request a device, over a shared HTTP/2
// connection.
#pragma once
#include "outbound/google_token.hpp"

#include <memory>
#include <string_view>

namespace fq {

/// What an answer of FCM means. `body`: its JSON; only words that FCM documents are looked at, and none but
/// its error code is kept.
[[nodiscard]] delivery_answer fcm_answer(int status, std::string_view body,
                                         std::optional<milliseconds> retry_after);

class fcm_channel final : public channel_port {
public:
  struct settings {
    google_account account;
    std::string url = "https://fcm.googleapis.com"; ///< without a trailing slash
    std::size_t waiting_max = 1'000; ///< sends waiting for an access token
    http_client::settings http; ///< in_flight_max: how many devices at once; its timeout is that of one step,
                                ///< and a try has up to four
  };
  /// Throws std::runtime_error if the account's key is none for RS256. `env` must outlive the channel.
  fcm_channel(settings options, environment& env);
  fcm_channel(const fcm_channel&) = delete;
  fcm_channel& operator=(const fcm_channel&) = delete;

  void deliver(const notice& what, const delivery_target& to,
               std::function<void(delivery_answer)> done) override;

private:
  struct attempt;
  void send(const std::shared_ptr<attempt>& a);
  void post(const std::shared_ptr<attempt>& a, const std::string& token);
  void take_answer(const std::shared_ptr<attempt>& a, const std::string& token, const http_result& answer);

  const settings settings_;
  environment& env_;
  google_token tokens_;
  http_client http_; // last, so that it ends first: its answers come to the members above
};

} // namespace fq
