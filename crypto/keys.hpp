// SPDX-License-Identifier: Apache-2.0
// The installation's secrets in <data>/keys/: created at the first start, then loaded, and loaded again when
// a key begins to sign or ends. Used by the composition in app/, `fairqueue token` and `fairqueue keys`; no
// other code reads these files.
//
// The first key of a kind is <kind>.jwk or <kind>.key. Later ones are <kind>/<unix ms, 13 digits>.*,
// as are all of passes. The name says from when on the key signs. Before, it only verifies, so that all nodes
// can have it in time. A key that signs no more verifies until what it has signed is dead.
#pragma once

#include "crypto/digest.hpp"
#include "crypto/limits.hpp"
#include "domain/base/time.hpp"

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
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

/// Max life of what a key signs, by kind.
struct key_lives {
  milliseconds person{24 * 60 * 60 * 1000}; ///< tokens of customers and organizers
  milliseconds ticket{7 * 24 * 60 * 60 * 1000ll};
  milliseconds session = session_keys_life; ///< session tokens, cursors, admission passes
};

/// Writes to `<data_dir>/key_lives` what the server signs from now on. Lives that were longer count until all
/// that was signed with them is dead: key_store::open and rotate_key end no key before. Returns false if the
/// file cannot be written; then only `lives` counts after the next start. Throws `key_store_error` if the
/// file is not one that this wrote.
bool note_lives(const std::filesystem::path& data_dir, timestamp now, const key_lives& lives);

/// The kinds of keys that rotate; also the names of their files.
inline constexpr std::array<std::string_view, 7> all_key_kinds{"organizer", "customer", "ticket", "operator",
                                                               "session",   "passes",   "sandbox"};

/// All secrets of one data folder at one time. Of each list the first key signs and all verify.
struct key_store {
  std::vector<signing_key> organizer; ///< sign tokens of kind organizer only
  std::vector<signing_key> customer;
  std::vector<signing_key> ticket;
  std::vector<signing_key> operate;
  std::vector<secret_key> session; ///< derive session tokens and cursors
  std::vector<std::string> passes; ///< private keys of admission passes: JWK texts, EC P-256
  std::vector<secret_key> sandbox; ///< sign the sandbox gateway's webhooks
  secret_key stored; ///< stored.key: of keyed hashes in the ledger and of webhook secrets; does not rotate
  timestamp changes_at = timestamp::max(); ///< a key begins to sign or ends: open again
  std::vector<std::filesystem::path> ended; ///< files of keys that verify no more

  /// Loads every key of `<data_dir>/keys` that is valid at `now` by the lives configured and noted. Creates
  /// folders (0700) and missing first keys (0600, synced, never over an existing file). Two processes that
  /// start at the same time get the same keys. Throws `key_store_error` for an unreadable or malformed file,
  /// and for a file that group or others can access.
  [[nodiscard]] static key_store open(const std::filesystem::path& data_dir, timestamp now,
                                      const key_lives& configured = {});
};

/// 32 hex digits, equal for one installation whatever has rotated; reveals nothing about the keys.
[[nodiscard]] std::string fingerprint_of(const key_store& keys);

/// Removes the files of `keys.ended`, as far as it may.
void remove_ended(const key_store& keys) noexcept;

enum class older_keys : bool { verify, end };

/// Makes a key of `kind` that signs from `signs_from` on. Removes the files of ended keys; `older_keys::end`
/// also removes every other key of the kind. Returns the new file. Throws `key_store_error` like
/// key_store::open, and if the kind already has `keys_of_kind_max` keys.
std::filesystem::path rotate_key(const std::filesystem::path& data_dir, std::string_view kind, timestamp now,
                                 timestamp signs_from, const key_lives& lives, older_keys older);

} // namespace fq
