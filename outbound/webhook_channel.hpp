// SPDX-License-Identifier: Apache-2.0
// Posts notices as webhooks to the URLs of organizers and origins, in the format of Standard Webhooks. URL
// and answer are untrusted: it connects to public addresses only, follows no redirect, reads little of the
// answer and discloses none of it.
#pragma once
#include "domain/base/environment.hpp"
#include "outbound/channel.hpp"
#include "outbound/http_client.hpp"
#include "outbound/webhook_url.hpp"

#include <functional>
#include <string>
#include <vector>

namespace fq {

struct webhook_settings {
  webhook_url_rules urls{};
  milliseconds timeout{15'000}; ///< of a whole attempt, queueing included
  milliseconds connect_timeout{5'000};
  std::size_t concurrency = 32; ///< attempts in parallel
  std::string ca_file{}; ///< trusted PEM certificates; empty: the system's
  std::vector<std::string> resolve{}; ///< see http_client::settings
};

/// The request body: {"id","type","time","data"}, where `data` is the notice's payload. Empty if the payload
/// is not a JSON object.
[[nodiscard]] std::string webhook_body(const notice& what);

/// Maps an answer to a delivery outcome. Only 2xx is success and only 410 is permanent. The receiver may
/// repair every other failure, redirects too, while retries last.
[[nodiscard]] delivery_answer webhook_answer(int status, const std::string& retry_after, timestamp now);

class webhook_channel final : public channel_port {
public:
  /// Throws std::runtime_error without libcurl. `env` must outlive the channel. The destructor answers
  /// `again`, with reason "cancelled", to outstanding attempts.
  webhook_channel(webhook_settings settings, environment& env);

  /// Reasons besides those of answers (ok, gone, redirect, rate_limited, rejected, server_error):
  /// - retried: timeout, unknown_host, unreachable, tls, network (connection lost, not HTTP)
  /// - retried, no attempt was made or finished: overloaded, cancelled
  /// - refused: ssrf_blocked (the URL or its resolved address)
  /// - refused, FairQueue's fault: malformed_payload, malformed_secret
  void deliver(const notice& what, const delivery_target& to,
               std::function<void(delivery_answer)> done) override;

private:
  webhook_settings settings_;
  environment& env_;
  http_client http_; // last, so it is destroyed first: its callbacks use the members above
};

} // namespace fq
