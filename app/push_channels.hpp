// SPDX-License-Identifier: Apache-2.0
// The ways to people's devices that the options switch on.
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

/// Reads the key files. Throws std::runtime_error that names each file and what is wrong with it, without
/// anything of a key. A service that is away is no error. `env` must outlive the channels.
push_channels open_push_channels(const config::options& options, environment& env);

} // namespace fq
