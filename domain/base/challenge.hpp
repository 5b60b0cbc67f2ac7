// SPDX-License-Identifier: Apache-2.0
// Challenges of one action at one owner: how hard they are, until when each counts, and which were used.
// Pure. Their signatures are in crypto/challenge_desk.hpp.
#pragma once
#include "domain/base/ids.hpp"
#include "domain/base/limits.hpp"
#include "domain/base/recent_map.hpp"
#include "domain/base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

/// The largest possible solution; a client computes half as many hashes on average. `of_client`: challenges
/// that the client's address has used lately (challenge_memory). `of_all`: joins of all clients.
[[nodiscard]] std::uint64_t highest_number(std::uint64_t of_client, std::uint64_t of_all);

/// What a challenge says about itself, under its signature.
struct challenge_terms {
  std::uint64_t random = 0;
  std::int64_t expires_at = 0; ///< unix seconds, exclusive
  std::uint64_t serial = 0; ///< of its owner
  std::uint64_t highest = 0; ///< highest_number at its opening; 0: solved in another way
  friend bool operator==(const challenge_terms&, const challenge_terms&) = default;
};

/// ALTCHA's salt: its parameters end with a delimiter, so that no digit of the number can belong to them.
[[nodiscard]] std::string salt_of(const challenge_terms& terms);
/// Nothing for a text that salt_of does not make.
[[nodiscard]] std::optional<challenge_terms> read_salt(std::string_view salt);

/// As the client gets it.
struct opened_challenge {
  std::string salt, challenge, signature; ///< the last two in hex
  std::uint64_t highest = 0; ///< of the number
  std::int64_t expires_at = 0; ///< unix seconds
};

/// How a client shows that it is welcome.
enum class challenge_way : std::uint8_t { work, captcha, mail };

/// A client's answer to a challenge.
struct solved_challenge {
  std::string salt = {}; ///< empty: none
  std::uint64_t number = 0;
  std::string signature = {};
};

/// In memory only: a new owner signs with another key, so that no older challenge counts.
class challenge_book {
public:
  challenge_book();

  /// A challenge for this client. Nothing while too many are open.
  [[nodiscard]] std::optional<challenge_terms> open(const uuid& client, std::uint64_t of_all,
                                                    std::uint64_t random, timestamp now);
  /// One that another check has solved.
  [[nodiscard]] std::optional<challenge_terms> pass(std::uint64_t random, timestamp now);
  /// Whether the client may get one by mail: its address has had few lately. Takes one.
  [[nodiscard]] bool may_mail(const uuid& client, timestamp now);

  /// Not used, not ended, and at least half as hard as one opened now: others of the address may have joined
  /// meanwhile.
  [[nodiscard]] bool accepts(const challenge_terms& terms, const uuid& client, std::uint64_t of_all,
                             timestamp now) const;
  void use(const challenge_terms& terms, const uuid& client, timestamp now);

  [[nodiscard]] std::size_t open_count() const { return static_cast<std::size_t>(next_ - first()); }

private:
  struct client_count {
    std::uint64_t used = 0;
    timestamp last;
  };
  /// 64 challenges, one after the other.
  struct word {
    std::uint64_t used = 0;
    timestamp last_opened;
  };
  [[nodiscard]] std::uint64_t first() const { return first_word_ * 64; }
  [[nodiscard]] std::uint64_t used_by(const uuid& client, timestamp now) const;
  void count(const uuid& client, timestamp now);
  [[nodiscard]] std::optional<challenge_terms> next(std::uint64_t highest, std::uint64_t random,
                                                    timestamp now);

  std::uint64_t next_ = 0; ///< serial
  std::uint64_t first_word_ = 0; ///< earlier ones have ended
  std::deque<word> words_;
  recent_map<uuid, client_count> clients_; ///< with challenge_free_joins at most
  recent_map<uuid, client_count> heavy_clients_; ///< with more: no crowd of others makes them forgotten
  recent_map<uuid, timestamp> mails_; ///< see next_mail
};

} // namespace fq
