// SPDX-License-Identifier: Apache-2.0
// Notices to devices by the Apple Push Notification service: HTTP/2 only, a kept connection to each of its
// two environments.
#pragma once
#include "outbound/apns_token.hpp"
#include "outbound/channel.hpp"
#include "outbound/http_client.hpp"

#include <array>
#include <memory>
#include <string_view>

namespace fq {

struct push_content;

/// What an answer of APNs means. `body`: its JSON. A token that Apple calls expired is one more time away
/// from this: see deliver.
[[nodiscard]] delivery_answer apns_answer(int status, std::string_view body,
                                          std::optional<milliseconds> retry_after);

class apns_channel final : public channel_port {
public:
  struct settings {
    std::string team_id;
    std::string key_id;
    std::string key; ///< the p8 file's text. Secret
    std::string topic; ///< the app's bundle id
    std::string url = "https://api.push.apple.com"; ///< without a trailing slash
    std::string sandbox_url =
      "https://api.sandbox.push.apple.com"; ///< of tokens of the development environment; likewise
    http_client::settings http; ///< in_flight_max: how many devices at once; its timeout is that of one step,
                                ///< and a try has up to three
  };
  /// Throws std::runtime_error if the key is none for ES256. `env` must outlive the channel.
  apns_channel(settings options, environment& env);
  apns_channel(const apns_channel&) = delete;
  apns_channel& operator=(const apns_channel&) = delete;

  /// A token that one environment does not take is tried at the other: if it is taken there, the notice has
  /// arrived, and the answer says by "wrong_environment" that the app registers its devices for the wrong
  /// one. If not, the device is gone, unless what ails the other one passes: then it is tried again later.
  /// is_channel_down is said of production alone.
  void deliver(const notice& what, const delivery_target& to,
               std::function<void(delivery_answer)> done) override;

private:
  /// What the sends to one environment share.
  struct host_state {
    bool wants_connection = false; ///< the last one in use did us no good
    milliseconds connected_at{0}; ///< steady: when one was last asked for
    milliseconds paused_until{0}; ///< steady: it hears nobody before
  };
  struct attempt;
  void send(const std::shared_ptr<attempt>& a);
  void take_answer(const std::shared_ptr<attempt>& a, const std::string& token, const http_result& answer);
  void take_refusal(const std::shared_ptr<attempt>& a, const std::string& token, delivery_answer answer);
  [[nodiscard]] milliseconds left_of_pause(bool is_sandbox);
  [[nodiscard]] bool takes_connection(bool is_sandbox);
  void want_connection(bool is_sandbox);
  host_state& host_of(bool is_sandbox) { return hosts_[is_sandbox ? 1 : 0]; } // mutex_ is held

  const settings settings_;
  environment& env_;
  apns_token tokens_;
  std::mutex mutex_; // guards the next one
  std::array<host_state, 2> hosts_; ///< by is_sandbox
  http_client http_; // last, so that it ends first: its answers come to the members above
};

} // namespace fq
