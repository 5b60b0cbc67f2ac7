// SPDX-License-Identifier: Apache-2.0
// Opens and checks the challenges of one action at one owner (ALTCHA's protocol, version 1). The server gives
// a salt and a SHA-256 hash. The client looks for the number for which the hash of salt and number is that
// one. Each desk has a random key, so a challenge counts for its action and its owner only. It ends with the
// desk, whose memory has the used challenges: none counts twice.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/challenge.hpp"
#include "domain/base/environment.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace fq {

/// SHA-256 of the salt and the number in decimal, in hex.
[[nodiscard]] std::string puzzle_of(std::string_view salt, std::uint64_t number);

class challenge_desk {
public:
  /// `env` must outlive the desk.
  explicit challenge_desk(environment& env);

  /// `client`: key of its address. `of_all`: joins of all clients. Nothing while too many are open.
  [[nodiscard]] std::optional<opened_challenge> open(const uuid& client, std::uint64_t of_all, timestamp now);
  /// One that is solved: its number is 0.
  [[nodiscard]] std::optional<solved_challenge> pass(timestamp now);
  [[nodiscard]] bool may_mail(const uuid& client, timestamp now) { return book_.may_mail(client, now); }

  /// What `use` takes, if the challenge is ours, solved and not used.
  [[nodiscard]] std::optional<challenge_terms> check(const solved_challenge& solved, const uuid& client,
                                                     std::uint64_t of_all, timestamp now) const;
  void use(const challenge_terms& terms, const uuid& client, timestamp now) { book_.use(terms, client, now); }

private:
  [[nodiscard]] std::string signature_of(std::string_view challenge) const;

  environment* env_;
  hmac_sha256_key key_;
  challenge_book book_;
};

} // namespace fq
