// SPDX-License-Identifier: Apache-2.0
// Signs JWTs for external services (Google: RS256, Apple: ES256) with the private PEM key that the service
// issued. Our own tokens: tokens.hpp, passes.hpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace fq {

/// Immutable; may be shared by threads.
class pem_signer {
public:
  enum class algorithm_type {
    rs256, ///< RSA of at least 2048 bits
    es256, ///< EC P-256; the signature is r and s, 64 bytes
  };

  /// Throws std::runtime_error with the problem of the key, without key material. Refuses a key with a
  /// passphrase.
  pem_signer(algorithm_type algorithm, std::string_view pem);
  ~pem_signer();

  /// Returns a compact JWS of `claims`, a JSON text, with alg, typ and kid in its header. Throws
  /// std::runtime_error if the crypto library fails, which happens only without memory.
  [[nodiscard]] std::string jwt(std::string_view kid, std::string_view claims) const;

private:
  struct key;
  algorithm_type algorithm_;
  std::unique_ptr<key> key_;
};

} // namespace fq
