// SPDX-License-Identifier: Apache-2.0
// Notices as webhooks to urls of organizers and origins, in the shape of Standard Webhooks. Trusts neither
// the url nor the answer: connects to public addresses only, follows no redirect, reads little and shows
// nothing of what it read.
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
  milliseconds timeout{15'000}; ///< of a whole try, waiting for a turn included
  milliseconds connect_timeout{5'000};
  std::size_t concurrency = 32; ///< tries at a time
  std::string ca_file{}; ///< PEM certificates to trust in place of the system's; empty: the system's
  std::vector<std::string> resolve{}; ///< see http_client::settings
};

/// What is posted: {"id","type","time","data"}, where `data` is the notice's payload; empty if that is no
/// JSON object.
[[nodiscard]] std::string webhook_body(const notice& what);

/// What an answer means. Only 2xx is taken and only 410 is final: everything else, redirects too, may be
/// mended by the receiver while the retries last.
[[nodiscard]] delivery_answer webhook_answer(int status, const std::string& retry_after, timestamp now);

class webhook_channel final : public channel_port {
public:
  /// Throws std::runtime_error without libcurl. `env` must outlive the channel, whose end answers `again`
  /// ("cancelled") to what is under way.
  webhook_channel(webhook_settings settings, environment& env);

  /// Reasons beside those of answers (ok, gone, redirect, rate_limited, rejected, server_error): timeout,
  /// unknown_host, unreachable, tls, network (cut, no HTTP), overloaded and cancelled are tried again;
  /// ssrf_blocked (the url, or what its name resolved to), and malformed_payload and malformed_secret, which
  /// are our fault, are refused.
  void deliver(const notice& what, const delivery_target& to,
               std::function<void(delivery_answer)> done) override;

private:
  webhook_settings settings_;
  environment& env_;
  http_client http_; // last, so that it ends first: its callbacks use the members above
};

} // namespace fq
