// SPDX-License-Identifier: Apache-2.0
#include "crypto/ed25519.hpp"

#include <sodium.h>

#include <cstdlib>

namespace fq {
namespace {

/// libsodium's form of a private key, wiped on destruction.
struct expanded_key {
  std::array<std::uint8_t, crypto_sign_SECRETKEYBYTES> bytes{};
  ed25519_public_key public_key{};

  explicit expanded_key(const secret_key& seed) {
    if (crypto_sign_seed_keypair(public_key.data(), bytes.data(), seed.bytes().data()) != 0) std::abort();
  }
  expanded_key(const expanded_key&) = delete;
  expanded_key& operator=(const expanded_key&) = delete;
  ~expanded_key() { sodium_memzero(bytes.data(), bytes.size()); }
};

} // namespace

ed25519_public_key ed25519_public_key_of(const secret_key& seed) { return expanded_key{seed}.public_key; }

ed25519_signature ed25519_sign(const secret_key& seed, std::string_view message) {
  const expanded_key key{seed};
  ed25519_signature signature{};
  crypto_sign_detached(signature.data(), nullptr, view_bytes(message).data(), message.size(),
                       key.bytes.data());
  return signature;
}

bool is_ed25519_signature(const ed25519_signature& signature, std::string_view message,
                          const ed25519_public_key& key) noexcept {
  return crypto_sign_verify_detached(signature.data(), view_bytes(message).data(), message.size(), key.data())
         == 0;
}

} // namespace fq
