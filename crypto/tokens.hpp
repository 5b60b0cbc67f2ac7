// SPDX-License-Identifier: Apache-2.0
// Bearer tokens: compact JWS, HS256, one key per kind of token (RFC 8725: one kind cannot be used as
// another). Used by the login and OTP flows, `fairqueue token` and the io threads.
//
// OpenSSL's HMAC instead of libcjose: cjose takes 2 us longer to verify a token and 3 us longer to issue one.
// Subject tokens, passes and push providers use cjose: few requests need one.
#pragma once
#include "crypto/keys.hpp"
#include "crypto/limits.hpp"
#include "crypto/replaceable.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

enum class token_kind : std::uint8_t {
  organizer, ///< subject: the organizer
  customer, ///< subject: the customer
  ticket, ///< subject: the queue entry
  operate, ///< subject: the API key that was exchanged for it
  guest, ///< subject: the guest
};

inline constexpr std::array all_token_kinds{token_kind::organizer, token_kind::customer, token_kind::ticket,
                                            token_kind::operate, token_kind::guest};

/// "organizer", "customer", "ticket", "operator", "guest".
[[nodiscard]] std::string_view to_string(token_kind kind) noexcept;

struct token_claims {
  token_kind kind{};
  uuid subject;
  timestamp issued_at;
  timestamp expires_at;
  uuid session = {}; ///< the sign-in of an organizer, by which the token can be ended; nil: none
};

/// Why a token is refused, in the order of the checks. For tests and metrics only: clients always receive
/// 401.
enum class token_error : std::uint8_t {
  none,
  too_long,
  malformed, ///< not three strict base64url parts, or other claims than token_issuer writes
  unknown_header, ///< alg, typ and kid are not byte for byte those of one of our token kinds
  bad_claims, ///< iss, aud, sub or the lifetime is wrong for the kind
  bad_signature,
  expired,
};

[[nodiscard]] std::string_view to_string(token_error error) noexcept;

struct token_result {
  token_error error = token_error::none;
  token_claims claims; ///< valid only if `error` is none
  explicit operator bool() const noexcept { return error == token_error::none; }
};

namespace detail {
struct token_key;
/// Of each kind: the first signs.
using token_keys = std::array<std::vector<std::shared_ptr<const token_key>>, all_token_kinds.size()>;
} // namespace detail

/// Signs tokens. May be shared by threads.
class token_issuer {
public:
  explicit token_issuer(const key_store& keys);
  void renew(const key_store& keys);

  /// A token for `subject`, valid from `now` (truncated to seconds) for `lifetime`. `session`: see
  /// token_claims.
  [[nodiscard]] std::string issue(token_kind kind, const uuid& subject, timestamp now, seconds lifetime,
                                  const uuid& session = {}) const;

private:
  replaceable<detail::token_keys> keys_;
};

/// Verifies tokens of all kinds; the caller compares `claims.kind` with the kind that its route requires.
/// Refuses everything that `token_issuer` could not have written. May be shared by threads.
class token_verifier {
public:
  explicit token_verifier(const key_store& keys);
  void renew(const key_store& keys);

  [[nodiscard]] token_result verify(std::string_view token, timestamp now) const;

private:
  replaceable<detail::token_keys> keys_;
};

} // namespace fq
