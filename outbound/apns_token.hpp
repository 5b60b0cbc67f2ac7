// SPDX-License-Identifier: Apache-2.0
// Creates and caches the signed provider token that Apple requires with every notice. Apple accepts a token
// for one hour and allows a new one every 20 minutes. Called by apns_channel; thread-safe.
#pragma once
#include "crypto/pem_signer.hpp"
#include "domain/base/environment.hpp"

#include <mutex>
#include <string>
#include <string_view>

namespace fq {

class apns_token {
public:
  static constexpr milliseconds age_max{
    50 * 60'000}; ///< a token in use is replaced at this age; Apple's limit is 60 min
  static constexpr milliseconds age_min{20 * 60'000}; ///< a token is not replaced before this age

  /// `key`: content of the p8 file. Throws std::runtime_error if it does not fit ES256. `env` must outlive
  /// the object.
  apns_token(std::string team_id, std::string key_id, std::string_view key, environment& env);

  /// Returns the current token; signs a new one if it is too old. Throws std::runtime_error without memory.
  [[nodiscard]] std::string get();
  /// Reports that Apple called `token` expired (clock skew). Returns zero if get() now gives a different
  /// token, else the time until it may.
  [[nodiscard]] milliseconds refuse(const std::string& token);

private:
  const std::string team_id_;
  const std::string key_id_;
  const pem_signer signer_;
  environment& env_;

  std::mutex mutex_; // guards the members below
  std::string current_; ///< empty: none
  milliseconds made_at_{0}; ///< steady time
};

} // namespace fq
