// SPDX-License-Identifier: Apache-2.0
// Access tokens of a Google service account (OAuth 2.0, RFC 7523: a signed assertion is exchanged for a
// token). One token for all sends, until five minutes before its end; one exchange at a time, for which the
// sends that need it wait. Called by fcm_channel, from any thread.
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

/// What the console's JSON file of a service account says.
struct google_account {
  std::string project_id;
  std::string client_email;
  std::string private_key_id;
  std::string private_key; ///< PEM. Secret
  std::string token_uri;
};

/// Throws std::runtime_error that says what is missing or wrong, without any of the key.
[[nodiscard]] google_account read_google_account(std::string_view json);

class google_token {
public:
  /// A token, or why there is none: then no other send gets one either.
  using result = std::variant<std::string, delivery_answer>;
  using taker = std::function<void(result)>;

  /// `waiting_max`: sends that wait for an exchange; one more is answered "overloaded". Throws
  /// std::runtime_error if the key is none for RS256. `env` must outlive the object; `http` must end before
  /// it.
  google_token(google_account account, std::size_t waiting_max, environment& env, http_client& http);

  /// `then` is called exactly once, perhaps before this returns, else on the client's thread. No lock is held
  /// meanwhile. `patience`: an exchange that this begins may take so long; where one is under way that may
  /// take longer, nobody waits for it, and the answer is "timeout".
  void get(milliseconds patience, taker then);
  /// Somebody has refused `token`. True if get() gives another from now on; not more often than once in a
  /// minute, since a second refusal within one is not the token's fault.
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

  std::mutex mutex_; // guards what follows
  std::string current_; ///< empty: none
  milliseconds usable_until_{0}; ///< steady
  milliseconds next_refusal_{0}; ///< steady: refuse() is obeyed from then on
  bool is_exchanging_ = false;
  milliseconds exchanged_by_{0}; ///< steady: if it is, it ends then at the latest
  std::vector<taker> waiting_;
};

} // namespace fq
