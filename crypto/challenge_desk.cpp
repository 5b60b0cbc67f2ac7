// SPDX-License-Identifier: Apache-2.0
#include "crypto/challenge_desk.hpp"

#include <array>
#include <span>

namespace fq {
namespace {

hmac_sha256_key fresh_key(environment& env) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  env.random_bytes(std::as_writable_bytes(std::span{bytes}));
  return hmac_sha256_key{bytes};
}

} // namespace

std::string puzzle_of(std::string_view salt, std::uint64_t number) {
  return to_hex(sha256(std::string{salt} + std::to_string(number)));
}

challenge_desk::challenge_desk(environment& env) : env_{&env}, key_{fresh_key(env)} {}

std::string challenge_desk::signature_of(std::string_view challenge) const { return to_hex(key_(challenge)); }

std::optional<opened_challenge> challenge_desk::open(const uuid& client, std::uint64_t of_all,
                                                     timestamp now) {
  const auto terms = book_.open(client, of_all, env_->random_u64(), now);
  if (!terms) return std::nullopt;
  std::array<std::uint64_t, 2> drawn{}; // more than an id's bytes: never read ahead
  env_->random_bytes(std::as_writable_bytes(std::span{drawn}));
  opened_challenge made{salt_of(*terms), {}, {}, terms->highest, terms->expires_at};
  made.challenge = puzzle_of(made.salt, drawn[0] % (terms->highest + 1));
  made.signature = signature_of(made.challenge);
  return made;
}

std::optional<solved_challenge> challenge_desk::pass(timestamp now) {
  const auto terms = book_.pass(env_->random_u64(), now);
  if (!terms) return std::nullopt;
  solved_challenge made{salt_of(*terms), 0, {}};
  made.signature = signature_of(puzzle_of(made.salt, made.number));
  return made;
}

std::optional<challenge_terms> challenge_desk::check(const solved_challenge& solved, const uuid& client,
                                                     std::uint64_t of_all, timestamp now) const {
  const auto terms = read_salt(solved.salt);
  if (!terms || !book_.accepts(*terms, client, of_all, now)) return std::nullopt;
  const auto expected = signature_of(puzzle_of(solved.salt, solved.number));
  return constant_time_equal(expected, solved.signature) ? terms : std::nullopt;
}

} // namespace fq
