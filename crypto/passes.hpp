// SPDX-License-Identifier: Apache-2.0
// Admission passes: ES256 JWTs that an origin verifies offline, with the keys of /.well-known/jwks.json. A
// pass has the content of a session token and is valid until the session's planned end. It cannot reflect an
// earlier end of the session.
#pragma once

#include "crypto/replaceable.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

struct pass_claims {
  entry_id ticket; ///< jti
  uuid queue; ///< aud: an origin accepts only passes of its own queue
  std::string subject; ///< sub; empty: the ticket id is used
  timestamp issued_at;
  timestamp expires_at; ///< the session's end
};

/// May be shared by threads.
class pass_signer {
public:
  /// `keys`: key_store::passes; the first signs. Throws std::runtime_error for an invalid key.
  explicit pass_signer(const std::vector<std::string>& keys);
  /// The same; if it throws, the former keys stay.
  void renew(const std::vector<std::string>& keys);

  /// Takes about 15 us. Throws std::runtime_error if the crypto library fails, which happens only without
  /// memory.
  [[nodiscard]] std::string issue(const pass_claims& claims) const;
  /// {"keys":[...]} with the public parts of all keys.
  [[nodiscard]] std::string jwks() const;

private:
  struct prepared;
  static std::shared_ptr<const prepared> prepare(const std::vector<std::string>& keys);
  replaceable<std::shared_ptr<const prepared>> keys_;
};

} // namespace fq
