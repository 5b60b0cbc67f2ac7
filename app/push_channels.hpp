// SPDX-License-Identifier: Apache-2.0
// The push channels to devices that the options enable.
#pragma once
#include "config/options.hpp"
#include "domain/base/environment.hpp"
#include "outbound/channel.hpp"

#include <memory>

namespace fq {

/// Null: off.
struct push_channels {
  std::unique_ptr<channel_port> fcm;
  std::unique_ptr<channel_port> apns;
  std::unique_ptr<channel_port> ntfy;
};

/// Reads the key files. Throws std::runtime_error that names each bad file and its problem, without key
/// material. An unreachable service is no error. `env` must outlive the channels.
push_channels open_push_channels(const config::options& options, environment& env);

} // namespace fq
