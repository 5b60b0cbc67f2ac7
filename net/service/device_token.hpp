// SPDX-License-Identifier: Apache-2.0
// Tokens of devices that scan tickets: `gate_<device id, 32 hex digits>_<secret>`. The id leads to the event,
// whose owner compares the secret's hash. Called by the guard and the check-in routes.
#pragma once
#include "actors/protocol/checkin_messages.hpp"
#include "domain/base/environment.hpp"
#include "net/http/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

[[nodiscard]] std::string new_device_secret(environment& env);
[[nodiscard]] std::string device_secret_hash(std::string_view secret);
[[nodiscard]] std::string device_token(const checkin_device_id& device, std::string_view secret);

/// The bearer token's device and the hash of its secret; nothing for any other token.
[[nodiscard]] std::optional<device_pass> pass_of(const request& rq);
[[nodiscard]] std::optional<device_pass> parse_device_token(std::string_view token);

} // namespace fq::net
