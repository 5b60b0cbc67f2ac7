// SPDX-License-Identifier: Apache-2.0
// Subject tokens: JWTs that a tenant signs with its own key to identify the joining subject, so that a
// publishable API key cannot take another subject's place. Verified by RFC 8725: the tenant's key determines
// the algorithm, never the token; no URL is fetched.
#pragma once
#include "crypto/limits.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// What is wrong with a key for subject tokens, for people; empty if valid: a public EC P-256 (ES256) or RSA
/// key of at least 2048 bits (RS256), as JWK.
[[nodiscard]] std::string subject_key_problem(std::string_view jwk);

/// Returns the subject (`sub`, 1 to 128 bytes without control characters) of a valid token; else empty.
/// Valid: signed with `jwk`, `aud` is "fairqueue", `exp` is present, and `exp`, `nbf` and `iat` match `now`.
[[nodiscard]] std::optional<std::string> verify_subject_token(std::string_view token, std::string_view jwk,
                                                              timestamp now);

} // namespace fq
