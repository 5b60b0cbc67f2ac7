// SPDX-License-Identifier: Apache-2.0
// The webhook channel that the options describe.
#pragma once
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "outbound/channel.hpp"
#include "outbound/webhook_url.hpp"

#include <memory>

namespace fq {

/// Rules for endpoint URLs. The routes that create endpoints and the channel both apply them.
webhook_url_rules webhook_urls_of(const config::options& options);

/// Throws std::runtime_error without libcurl. `env` must outlive the channel.
std::unique_ptr<channel_port> open_webhooks(const config::options& options, environment& env);

} // namespace fq
