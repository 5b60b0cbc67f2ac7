// SPDX-License-Identifier: Apache-2.0
// The way out for webhooks that the options describe.
#pragma once
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "outbound/channel.hpp"
#include "outbound/webhook_url.hpp"

#include <memory>

namespace fq {

/// Which urls endpoints may have: for the routes that create them. The channel asks by the same.
webhook_url_rules webhook_urls_of(const config::options& options);

/// Throws std::runtime_error without libcurl. `env` must outlive the channel.
std::unique_ptr<channel_port> open_webhooks(const config::options& options, environment& env);

} // namespace fq
