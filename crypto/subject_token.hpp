// SPDX-License-Identifier: Apache-2.0
// Subject tokens: JWTs that a tenant signs with its own key to say who is joining, so that a publishable API
// key cannot take somebody else's place. Verified by RFC 8725: the algorithm follows from the tenant's key,
// never from the token; nothing is fetched.
#pragma once

#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// Longest subject token looked at (bytes).
inline constexpr std::size_t subject_token_bytes_max = 4096;
/// `exp` lies at most this far in the future.
inline constexpr seconds subject_token_life_max{24 * 60 * 60};

/// What is wrong with a key for subject tokens, for people; empty if it may be used: a public EC P-256
/// (ES256) or RSA key of at least 2048 bits (RS256), as JWK.
[[nodiscard]] std::string subject_key_problem(std::string_view jwk);

/// The subject (`sub`, 1 to 128 bytes without control characters) of a token that is signed with `jwk`, meant
/// for us (`aud` is "fairqueue") and valid at `now` (`exp` is required; `nbf` and `iat` are heeded); nothing
/// otherwise.
[[nodiscard]] std::optional<std::string> verify_subject_token(std::string_view token, std::string_view jwk,
                                                              timestamp now);

} // namespace fq
