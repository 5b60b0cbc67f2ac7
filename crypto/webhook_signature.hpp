// SPDX-License-Identifier: Apache-2.0
// Signatures of outgoing webhooks in the format of Standard Webhooks (standardwebhooks.com), so that
// receivers can use its libraries. Secrets are derived from an installation key: none is stored, and a
// secret can be shown again.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// Returns "whsec_" and the base64 of 32 bytes: HMAC-SHA256(key, "fairqueue webhook" || id, 16 bytes ||
/// generation, 4 bytes big endian). A higher generation gives a new secret. `key`: from webhook_key_of.
[[nodiscard]] std::string webhook_secret(const secret_key& key, const uuid& endpoint,
                                         std::uint32_t generation);

/// The key that webhook secrets are derived from. `stored`: key_store::stored.
[[nodiscard]] secret_key webhook_key_of(const secret_key& stored);

/// The secrets that sign now, newest first: of `generation`, and of the previous generation if
/// `previous_signs` and it exists.
[[nodiscard]] std::vector<std::string> webhook_secrets(const secret_key& key, const uuid& endpoint,
                                                       std::uint32_t generation, bool previous_signs);

/// Returns the value of webhook-signature: "v1,<base64>" per secret, separated by blanks. The base64 is of
/// HMAC-SHA256(secret, "<id>.<seconds>.<body>"); `id` and `unix_seconds` are the values of webhook-id and
/// webhook-timestamp. Empty without secrets, or if one is not "whsec_" and the strict base64 of 24 to 64
/// bytes.
[[nodiscard]] std::optional<std::string> sign_webhook(const std::vector<std::string>& secrets,
                                                      std::string_view id, std::int64_t unix_seconds,
                                                      std::string_view body);

} // namespace fq
