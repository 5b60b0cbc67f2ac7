// SPDX-License-Identifier: Apache-2.0
// Pushes notices to devices through the Apple Push Notification service (APNs): HTTP/2 only, one kept
// connection per environment (production and sandbox).
#pragma once
#include "outbound/apns_token.hpp"
#include "outbound/channel.hpp"
#include "outbound/http_client.hpp"

#include <array>
#include <memory>
#include <string_view>

namespace fq {

struct push_content;

/// Maps an APNs answer to a delivery outcome. `body`: the answer's JSON. The caller handles an expired
/// provider token first, by one retry with a new token; see deliver.
[[nodiscard]] delivery_answer apns_answer(int status, std::string_view body,
                                          std::optional<milliseconds> retry_after);

class apns_channel final : public channel_port {
public:
  struct settings {
    std::string team_id;
    std::string key_id;
    std::string key; ///< content of the p8 file; secret
    std::string topic; ///< the app's bundle id
    std::string url = "https://api.push.apple.com"; ///< without a trailing slash
    /// for tokens of the development environment, without a trailing slash
    std::string sandbox_url = "https://api.sandbox.push.apple.com";
    /// in_flight_max: devices in parallel; timeout: of one request, a delivery makes up to three
    http_client::settings http;
  };
  /// Throws std::runtime_error if the key does not fit ES256. `env` must outlive the channel.
  apns_channel(settings options, environment& env);
  apns_channel(const apns_channel&) = delete;
  apns_channel& operator=(const apns_channel&) = delete;

  /// A device token that one environment refuses is sent to the other one. If the second delivers, the reason
  /// is "wrong_environment": the app registers its devices for the wrong environment. If the second fails
  /// only temporarily, the delivery is retried later; else the device is gone. Only production sets
  /// is_channel_down.
  void deliver(const notice& what, const delivery_target& to,
               std::function<void(delivery_answer)> done) override;

private:
  /// State shared by all sends to one environment.
  struct host_state {
    bool wants_connection = false; ///< the last connection failed or answered 5xx
    milliseconds connected_at{0}; ///< steady time; the last new connection
    milliseconds paused_until{0}; ///< steady time; no requests before
  };
  struct attempt;
  void send(const std::shared_ptr<attempt>& a);
  void take_answer(const std::shared_ptr<attempt>& a, const std::string& token, const http_result& answer);
  void take_refusal(const std::shared_ptr<attempt>& a, const std::string& token, delivery_answer answer);
  [[nodiscard]] milliseconds left_of_pause(bool is_sandbox);
  [[nodiscard]] bool takes_connection(bool is_sandbox);
  void want_connection(bool is_sandbox);
  host_state& host_of(bool is_sandbox) { return hosts_[is_sandbox ? 1 : 0]; } // requires mutex_

  const settings settings_;
  environment& env_;
  apns_token tokens_;
  std::mutex mutex_; // guards hosts_
  std::array<host_state, 2> hosts_; ///< indexed by is_sandbox
  http_client http_; // last, so it is destroyed first: its callbacks use the members above
};

} // namespace fq
