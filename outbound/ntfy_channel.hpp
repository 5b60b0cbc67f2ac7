// SPDX-License-Identifier: Apache-2.0
// Sends pushes to an ntfy server (https://docs.ntfy.sh/publish/), for development. The ntfy topic replaces
// the device token.
#pragma once
#include "outbound/channel.hpp"
#include "outbound/http_client.hpp"

namespace fq {

class ntfy_channel final : public channel_port {
public:
  struct settings {
    std::string url; ///< without a trailing slash
    http_client::settings http;
  };
  /// `env` must outlive the channel.
  ntfy_channel(settings options, environment& env);

  /// `to.address` is the topic.
  void deliver(const notice& what, const delivery_target& to,
               std::function<void(delivery_answer)> done) override;

private:
  const std::string url_;
  environment& env_;
  http_client http_; // last, so it is destroyed first
};

} // namespace fq
