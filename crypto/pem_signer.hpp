// SPDX-License-Identifier: Apache-2.0
// Signs the JWTs that other people's services want from us (Google: RS256, Apple: ES256) with the private key
// they gave us, a PEM text. Our own tokens are signed elsewhere (tokens.hpp, passes.hpp).
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

  /// Throws std::runtime_error that says what is wrong with the key, without any of it. A key with a
  /// passphrase is refused.
  pem_signer(algorithm_type algorithm, std::string_view pem);
  ~pem_signer();
  pem_signer(const pem_signer&) = delete;
  pem_signer& operator=(const pem_signer&) = delete;

  /// A compact JWS of `claims`, a JSON text, with alg, typ and kid in its header. Throws std::runtime_error
  /// if the crypto library fails, which it does only without memory.
  [[nodiscard]] std::string jwt(std::string_view kid, std::string_view claims) const;

private:
  struct key;
  algorithm_type algorithm_;
  std::unique_ptr<key> key_;
};

} // namespace fq
