// SPDX-License-Identifier: Apache-2.0
#include "app/webhook_channels.hpp"

#include "app/limits.hpp"
#include "outbound/webhook_channel.hpp"

namespace fq {

webhook_url_rules webhook_urls_of(const config::options& options) {
  const auto& o = options.webhooks;
  return {o.allow_private, o.allow_http, o.parsed_ports().value()}; // config::load has checked the ports
}

std::unique_ptr<channel_port> open_webhooks(const config::options& options, environment& env) {
  webhook_settings s;
  s.urls = webhook_urls_of(options);
  s.timeout = options.webhooks.timeout;
  s.concurrency = webhooks_at_once;
  return std::make_unique<webhook_channel>(std::move(s), env);
}

} // namespace fq
