// SPDX-License-Identifier: Apache-2.0
// Admission passes: ES256 JWTs that an origin checks without asking us, with the keys of
// /.well-known/jwks.json. A pass says what a session token says, until the session's end; what a pass cannot
// know is that the session was ended before.
#pragma once

#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

struct pass_claims {
  entry_id ticket; ///< jti
  uuid queue; ///< aud: an origin takes passes of its own queue only
  std::string subject; ///< sub; empty: the ticket
  timestamp issued_at;
  timestamp expires_at; ///< the session's end
};

/// Immutable after construction; may be shared by threads.
class pass_signer {
public:
  /// `keys`: as `open_pass_keys` gives them. Throws std::runtime_error if one is no key.
  explicit pass_signer(const std::vector<std::string>& keys);
  ~pass_signer();
  pass_signer(const pass_signer&) = delete;
  pass_signer& operator=(const pass_signer&) = delete;

  /// About 15 us. Throws std::runtime_error if the crypto library fails, which it does only without memory.
  [[nodiscard]] std::string issue(const pass_claims& claims) const;
  /// {"keys":[...]}: the public halves of all keys.
  [[nodiscard]] const std::string& jwks() const noexcept { return jwks_; }

private:
  struct key;
  std::unique_ptr<const key> current_;
  std::string jwks_;
};

} // namespace fq
