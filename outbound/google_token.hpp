// SPDX-License-Identifier: Apache-2.0
// Access tokens of a Google service account (OAuth 2.0, RFC 7523: a signed assertion is exchanged for a
// token). All sends share one token until five minutes before its end. One exchange runs at a time; sends
// that need it wait. Called by fcm_channel; thread-safe.
#pragma once
#include "crypto/pem_signer.hpp"
#include "domain/base/environment.hpp"
#include "outbound/channel.hpp"
#include "outbound/http_client.hpp"

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fq {

/// The content of a service account's JSON file from Google's console.
struct google_account {
  std::string project_id;
  std::string client_email;
  std::string private_key_id;
  std::string private_key; ///< PEM. Secret
  std::string token_uri;
};

/// Throws std::runtime_error that names the missing or wrong field, without any key data.
[[nodiscard]] google_account read_google_account(std::string_view json);

class google_token {
public:
  /// A token, or the reason why no send gets one.
  using result = std::variant<std::string, delivery_answer>;
  using taker = std::function<void(result)>;

  /// `waiting_max`: sends that wait for an exchange; further sends are answered "overloaded". Throws
  /// std::runtime_error if the key does not fit RS256. `env` must outlive the object; `http` must be
  /// destroyed first.
  google_token(google_account account, std::size_t waiting_max, environment& env, http_client& http);

  /// Calls `then` exactly once, without a lock: before this returns, or on the client's thread. `patience`:
  /// timeout of an exchange that this call starts. If a running exchange may last longer than that, answers
  /// "timeout".
  void get(milliseconds patience, taker then);
  /// Reports that FCM refused `token`. True if get() now gives a different one. At most once a minute: after
  /// a second refusal within it, the token is not the cause.
  [[nodiscard]] bool refuse(const std::string& token);

private:
  void exchange(milliseconds timeout);
  [[nodiscard]] std::string assertion() const;
  void take_answer(const http_result& answer);
  void end_exchange(const result& outcome);
  [[nodiscard]] delivery_answer failure_of(const http_response& response) const;

  const google_account account_;
  const pem_signer signer_;
  const std::size_t waiting_max_;
  environment& env_;
  http_client& http_;

  std::mutex mutex_; // guards the members below
  std::string current_; ///< empty: none
  milliseconds usable_until_{0}; ///< steady time
  milliseconds next_refusal_{0}; ///< steady time; refuse() has no effect before
  bool is_exchanging_ = false;
  milliseconds exchanged_by_{0}; ///< steady time; the latest end of a running exchange
  std::vector<taker> waiting_;
};

} // namespace fq
