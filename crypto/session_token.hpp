// SPDX-License-Identifier: Apache-2.0
// The session token (event API: `admission_token`): `<entry id>.<kid><secret>`, 60 characters. The secret is
// the base64url text of the first 16 bytes of HMAC-SHA256(key[kid], 16 bytes of entry id || admission_no, 4
// bytes big endian); kid is one base64url character.
// No secret is stored: the token can be computed again after a crash, and raising `admission_no` revokes it.
// Used by the event actor's admissions and by /access.
#pragma once

#include "crypto/digest.hpp"
#include "crypto/replaceable.hpp"
#include "domain/base/ids.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

inline constexpr std::size_t session_token_size = 60;

/// The keys of session tokens. May be shared by threads.
class session_keys {
public:
  explicit session_keys(const secret_key& key) : session_keys(std::vector{key}) {}
  /// The first signs; the others are accepted as well.
  explicit session_keys(const std::vector<secret_key>& keys) : keys_{named(keys)} {}
  void renew(const std::vector<secret_key>& keys) {
    keys_.set(named(keys));
    ++renewals_;
  }
  /// A caller that remembers a valid token must check it again after a renewal.
  [[nodiscard]] std::uint32_t renewals() const noexcept { return renewals_; }

private:
  friend std::string make_session_token(const session_keys&, const uuid&, std::uint32_t);
  friend bool session_token_matches(const session_keys&, std::string_view, const uuid&,
                                    std::uint32_t) noexcept;

  struct named_key {
    char kid;
    hmac_sha256_key hmac;
  };
  static std::vector<named_key> named(const std::vector<secret_key>& keys);

  replaceable<std::vector<named_key>> keys_;
  std::atomic<std::uint32_t> renewals_ = 0;
};

[[nodiscard]] std::string make_session_token(const session_keys& keys, const uuid& entry,
                                             std::uint32_t admission_no);

/// The entry id in a well-formed token. Not verified: call `session_token_matches`.
[[nodiscard]] std::optional<uuid> session_token_entry(std::string_view token) noexcept;

/// Whether `token` is valid for this admission of this entry; constant time in the secret.
[[nodiscard]] bool session_token_matches(const session_keys& keys, std::string_view token, const uuid& entry,
                                         std::uint32_t admission_no) noexcept;

} // namespace fq
