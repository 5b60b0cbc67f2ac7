// SPDX-License-Identifier: Apache-2.0
// The installation's secrets in <data>/keys/: created at the first start, then loaded. Used once by the
// composition in app/ and by `fairqueue token`; no other code reads these files.
#pragma once

#include "crypto/digest.hpp"
#include "domain/base/time.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq {

/// A problem with a key file: its path, the problem and the remedy. Never contains key material.
struct key_store_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A symmetric signing key and its key id from the JWK.
struct signing_key {
  std::string kid;
  secret_key secret;
};

/// All secrets of one data folder. Immutable after open().
struct key_store {
  signing_key organizer; ///< organizer.jwk: signs tokens of kind organizer only
  signing_key customer; ///< customer.jwk
  signing_key ticket; ///< ticket.jwk
  signing_key operate; ///< operator.jwk
  secret_key session; ///< session.key: derives session tokens
  secret_key sandbox; ///< sandbox.key: signs the sandbox gateway's webhooks

  /// Loads every key of `<data_dir>/keys`. Creates the folder (0700) and missing files (0600, synced, never
  /// over an existing file). Two processes that start at the same time get the same keys. Throws
  /// `key_store_error` for an unreadable or malformed file, and for a file that group or others can access.
  [[nodiscard]] static key_store open(const std::filesystem::path& data_dir);
};

/// 32 hex digits, equal for equal keys; reveals nothing about the keys.
[[nodiscard]] std::string fingerprint_of(const key_store& keys);

/// Private keys (JWK texts, EC P-256) of admission passes in <data>/keys/passes/, newest first. Creates one
/// if there is none. Throws `key_store_error` like key_store::open.
[[nodiscard]] std::vector<std::string> open_pass_keys(const std::filesystem::path& data_dir, timestamp now);
/// Creates a new key, which signs from the next start on; returns its id. Deletes keys that can no longer
/// have signed a valid pass: superseded for more than 48 h (session limit of 24 h, plus a day).
std::string rotate_pass_keys(const std::filesystem::path& data_dir, timestamp now);

} // namespace fq
