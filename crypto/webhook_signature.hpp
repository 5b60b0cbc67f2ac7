// SPDX-License-Identifier: Apache-2.0
// Signatures of the webhooks we send, as Standard Webhooks has them (standardwebhooks.com), so that receivers
// check them with any of its libraries. Secrets are made from a key of the installation: none is stored, and
// the same one can be shown again.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// "whsec_" and the base64 of 32 bytes: HMAC-SHA256(key, "fairqueue webhook" || id, 16 bytes || generation, 4
/// bytes big endian). A higher generation is a fresh secret. `key`: one made for nothing else, say from
/// key_store::session as for one-time passwords.
[[nodiscard]] std::string webhook_secret(const secret_key& key, const uuid& endpoint,
                                         std::uint32_t generation);

/// The key that an installation's secrets are made from, of its session key.
[[nodiscard]] secret_key webhook_key_of(const secret_key& session);

/// Those that sign now, newest first: the one of `generation`, and the one before if there is one and it
/// still does.
[[nodiscard]] std::vector<std::string> webhook_secrets(const secret_key& key, const uuid& endpoint,
                                                       std::uint32_t generation, bool previous_signs);

/// The value of webhook-signature: "v1,<base64>" for each secret, with blanks between, where the base64 is
/// HMAC-SHA256(secret,
/// "<id>.<seconds>.<body>"). `id` and `unix_seconds` are the values of webhook-id and webhook-timestamp.
/// Nothing if there is no secret, or one is not "whsec_" and the strict base64 of 24 to 64 bytes.
[[nodiscard]] std::optional<std::string> sign_webhook(const std::vector<std::string>& secrets,
                                                      std::string_view id, std::int64_t unix_seconds,
                                                      std::string_view body);

} // namespace fq
