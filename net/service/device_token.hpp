// SPDX-License-Identifier: Apache-2.0
// Tokens of devices that scan tickets: `gate_<device id, 32 hex digits>_<secret>`. The id leads to the event,
// whose owner compares the secret's hash. Called by the guard and the check-in routes.
#pragma once
#include "actors/protocol/checkin_messages.hpp"
#include "crypto/digest.hpp"
#include "domain/base/environment.hpp"
#include "net/http/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq::net {

/// Secrets of devices: random, with a keyed hash, so that the guard knows our tokens without a question to
/// the event's owner. Strangers behind the same address then take nothing from a device.
class device_secrets {
public:
  explicit device_secrets(const secret_key& stored);

  /// For a device of the event `owner`.
  [[nodiscard]] std::string issue(aggregate_id owner, environment& env) const;
  /// Whether `issue` made it, here or on another node. Not whether its device may scan.
  [[nodiscard]] bool is_ours(aggregate_id owner, std::string_view secret) const;

private:
  [[nodiscard]] sha256_digest hash_of(aggregate_id owner, byte_view random) const;
  hmac_sha256_key key_;
};

[[nodiscard]] std::string device_secret_hash(std::string_view secret);
[[nodiscard]] std::string device_token(const checkin_device_id& device, std::string_view secret);

/// The bearer token's device and the hash of its secret; nothing for any other token.
[[nodiscard]] std::optional<device_pass> pass_of(const request& rq);
[[nodiscard]] std::optional<device_pass> parse_device_token(std::string_view token);
/// The secret's text in a well-formed token.
[[nodiscard]] std::string_view secret_of(std::string_view token);

} // namespace fq::net
