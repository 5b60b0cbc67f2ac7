// SPDX-License-Identifier: Apache-2.0
// The provider token that Apple wants with every notice: signed by ourselves, no older than an hour, and not
// made anew more often than every 20 minutes. Called by apns_channel, from any thread.
#pragma once
#include "crypto/pem_signer.hpp"
#include "domain/base/environment.hpp"

#include <mutex>
#include <string>
#include <string_view>

namespace fq {

class apns_token {
public:
  static constexpr milliseconds age_max{50
                                        * 60'000}; ///< of a token that is used: ten minutes less than Apple's
  static constexpr milliseconds age_min{20 * 60'000}; ///< of a token that is replaced

  /// `key`: the p8 file's text. Throws std::runtime_error if it is none for ES256. `env` must outlive the
  /// object.
  apns_token(std::string team_id, std::string key_id, std::string_view key, environment& env);

  /// The one in use, made now if it must be. Throws std::runtime_error without memory.
  [[nodiscard]] std::string get();
  /// Apple calls `token` expired (one of our clocks is wrong). Zero if get() gives another one from now on,
  /// else how long until it may.
  [[nodiscard]] milliseconds refuse(const std::string& token);

private:
  const std::string team_id_;
  const std::string key_id_;
  const pem_signer signer_;
  environment& env_;

  std::mutex mutex_; // guards what follows
  std::string current_; ///< empty: none
  milliseconds made_at_{0}; ///< steady
};

} // namespace fq
