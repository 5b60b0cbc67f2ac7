// SPDX-License-Identifier: Apache-2.0
// Pushes notices to devices through the HTTP v1 API of Firebase Cloud Messaging (FCM): one request per device
// over a shared HTTP/2 connection.
#pragma once
#include "outbound/google_token.hpp"

#include <memory>
#include <string_view>

namespace fq {

/// Maps an FCM answer to a delivery outcome. `body`: the answer's JSON. Only documented words are
/// interpreted, and only the error code is kept.
[[nodiscard]] delivery_answer fcm_answer(int status, std::string_view body,
                                         std::optional<milliseconds> retry_after);

class fcm_channel final : public channel_port {
public:
  struct settings {
    google_account account;
    std::string url = "https://fcm.googleapis.com"; ///< without a trailing slash
    std::size_t waiting_max = 1'000; ///< sends that wait for an access token
    /// in_flight_max: devices in parallel; timeout: of one request, a delivery makes up to four
    http_client::settings http;
  };
  /// Throws std::runtime_error if the account's key does not fit RS256. `env` must outlive the channel.
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
  http_client http_; // last, so it is destroyed first: its callbacks use the members above
};

} // namespace fq
