// SPDX-License-Identifier: Apache-2.0
// The installation's own secrets in <data>/keys/: created at the first start, loaded at every later one.
// Called once by the composition in app/ and by `fairqueue token`; nobody else reads these files.
#pragma once

#include "crypto/digest.hpp"
#include "domain/base/time.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace fq {

/// What is wrong with a key file, with its path and what to do about it. Never contains key material.
struct key_store_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A symmetric signing key as its JWK describes it.
struct signing_key {
  std::string kid;
  secret_key secret;
};

/// All secrets of one data folder. Immutable once opened; copy what you need.
struct key_store {
  signing_key organizer; ///< organizer.jwk: signs tokens of kind organizer only
  signing_key customer; ///< customer.jwk
  signing_key ticket; ///< ticket.jwk
  signing_key operate; ///< operator.jwk
  secret_key session; ///< session.key: secrets of session tokens
  secret_key sandbox; ///< sandbox.key: signature of the sandbox gateway's webhooks

  /// Loads every key of `<data_dir>/keys`, creating the folder (0700) and absent files (0600, synced to the
  /// disk, never over an existing one). Two processes that start at once end with the same keys. Throws
  /// `key_store_error` for an unreadable or malformed file and for one that group or others may read or
  /// write.
  [[nodiscard]] static key_store open(const std::filesystem::path& data_dir);
};

/// Equal for equal keys, 32 hex digits; tells nothing about them.
[[nodiscard]] std::string fingerprint_of(const key_store& keys);

/// Private keys (JWK texts, EC P-256) of admission passes in <data>/keys/passes/, the newest first; one is
/// made if there is none. Throws `key_store_error` as above.
[[nodiscard]] std::vector<std::string> open_pass_keys(const std::filesystem::path& data_dir, timestamp now);
/// Makes a new one, which signs from the next start on, and removes those that nothing valid can be signed
/// with any more: superseded for longer than a session lasts at most (24 h) and a day. Answers the new key's
/// id.
std::string rotate_pass_keys(const std::filesystem::path& data_dir, timestamp now);

} // namespace fq
