// SPDX-License-Identifier: Apache-2.0
// argon2id through libsodium.
#include "crypto/password.hpp"

#include <sodium.h>

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace fq {
namespace {

void ready_sodium() noexcept {
  static const bool ready = sodium_init() >= 0;
  if (!ready) std::abort();
}

// A dummy hash for unknown users: the limits used below, with a discarded random password.
const std::string absent_user_hash =
  "$argon2id$v=19$m=65536,t=2,p=1$XJYr/UtLgRlGjoBgcSSNOg$LadNFKCikECO9RQZjIRz39Dab5Z43eLhTb4Na0QPJ8I";

} // namespace

std::string hash_password(std::string_view password) {
  ready_sodium();
  if (password.size() > password_bytes_max)
    throw std::invalid_argument{"password longer than password_bytes_max"};
  std::string text(crypto_pwhash_STRBYTES, '\0');
  if (crypto_pwhash_str(text.data(), password.data(), password.size(), crypto_pwhash_OPSLIMIT_INTERACTIVE,
                        crypto_pwhash_MEMLIMIT_INTERACTIVE)
      != 0)
    throw std::bad_alloc{};
  text.resize(text.find('\0'));
  return text;
}

bool verify_password(const std::string& stored, std::string_view password) {
  ready_sodium();
  if (password.size() > password_bytes_max) return false;
  return crypto_pwhash_str_verify(stored.c_str(), password.data(), password.size()) == 0;
}

bool verify_absent_user(std::string_view password) {
  static_cast<void>(verify_password(absent_user_hash, password));
  return false;
}

bool absent_user_costs_the_same() {
  ready_sodium();
  return crypto_pwhash_str_needs_rehash(absent_user_hash.c_str(), crypto_pwhash_OPSLIMIT_INTERACTIVE,
                                        crypto_pwhash_MEMLIMIT_INTERACTIVE)
         == 0;
}

} // namespace fq
