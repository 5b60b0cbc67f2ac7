// SPDX-License-Identifier: Apache-2.0
// Bearer tokens: compact JWS, HS256, one key per kind of token (RFC 8725: a kind cannot be passed off as
// another). Called by the login and OTP flows, `fairqueue token` and the io threads; knows neither HTTP nor
// routes.
//
// Why libcjose and not libjwt: cjose verifies one of our tokens in about 1.9 us, libjwt 1.10 in 3.4 to 4.5 us
// (the claims copied and parsed again); and cjose imports JWKs and signs with ES256 and RS256, which
// admission passes, mail and push providers and tenants' subject tokens need, where libjwt 1.10 has no JWKs
// at all.
#pragma once

#include "crypto/keys.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fq {

enum class token_kind : std::uint8_t {
  organizer, ///< subject: the organizer
  customer, ///< subject: the customer
  ticket, ///< subject: the queue entry
  operate, ///< subject: the API key that was exchanged for it
};

inline constexpr std::array all_token_kinds{token_kind::organizer, token_kind::customer, token_kind::ticket,
                                            token_kind::operate};

/// "organizer", "customer", "ticket", "operator".
[[nodiscard]] std::string_view to_string(token_kind kind) noexcept;

/// Longest token looked at (bytes); a longer one is malformed.
inline constexpr std::size_t token_bytes_max = 4096;

/// How far two clocks may differ before a token counts as expired.
inline constexpr seconds token_clock_skew{60};

struct token_claims {
  token_kind kind{};
  uuid subject;
  timestamp issued_at;
  timestamp expires_at;
};

/// Why a token is refused, in the order of the checks. Clients only ever hear 401: this is for tests and
/// metrics.
enum class token_error : std::uint8_t {
  none,
  too_long,
  malformed, ///< not three strict base64url parts, or claims that are not exactly ours
  unknown_header, ///< alg, typ and kid are not byte for byte those of one of our kinds of token
  bad_claims, ///< iss, aud, sub or the lifetime is wrong for the kind
  bad_signature,
  expired,
};

[[nodiscard]] std::string_view to_string(token_error error) noexcept;

struct token_result {
  token_error error = token_error::none;
  token_claims claims; ///< meaningful only when `error` is none
  explicit operator bool() const noexcept { return error == token_error::none; }
};

namespace detail {
struct token_key;
using token_keys = std::array<std::shared_ptr<const token_key>, all_token_kinds.size()>;
} // namespace detail

/// Signs tokens. Immutable after construction; may be shared by threads.
class token_issuer {
public:
  explicit token_issuer(const key_store& keys);

  /// A token for `subject`, valid from `now` (cut to seconds) for `lifetime`. Throws std::runtime_error if
  /// the crypto library fails, which it does only without memory.
  [[nodiscard]] std::string issue(token_kind kind, const uuid& subject, timestamp now,
                                  seconds lifetime) const;

private:
  detail::token_keys keys_;
};

/// Checks tokens of all kinds; the caller compares `claims.kind` with what its route wants. Immutable after
/// construction; may be shared by threads. Everything is refused that `token_issuer` could not have written.
class token_verifier {
public:
  explicit token_verifier(const key_store& keys);

  [[nodiscard]] token_result verify(std::string_view token, timestamp now) const;

private:
  detail::token_keys keys_;
};

} // namespace fq
