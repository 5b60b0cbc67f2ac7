// SPDX-License-Identifier: Apache-2.0
// Keys that TLS session tickets are sealed with, so that who was here before comes back without the expensive
// half of a handshake and we remember nothing about them. A key seals for an hour and opens for two more;
// then what it sealed is safe from whoever gets our memory. Random, in memory only: no restart and no other
// node knows them. Safe on any thread.
#pragma once
#include "domain/base/environment.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>

namespace fq::net {

struct ticket_key {
  std::array<unsigned char, 16> name; ///< in the ticket, in the clear
  std::array<unsigned char, 32> cipher; ///< AES-256
  std::array<unsigned char, 32> mac; ///< HMAC-SHA-256
};

class ticket_keys {
public:
  static constexpr milliseconds seals_for{3'600'000};
  static constexpr milliseconds opens_for = 3 * seals_for; ///< since it was made

  explicit ticket_keys(environment& env) : env_(env) {}

  /// The key of new tickets.
  [[nodiscard]] ticket_key sealing();

  struct found {
    ticket_key key;
    bool is_old; ///< it no longer seals: give a new ticket
  };
  /// The key of that name, if it still opens.
  [[nodiscard]] std::optional<found> opening(std::span<const unsigned char, 16> name);

  /// With unpredictable bytes.
  void fill(std::span<unsigned char> out) { env_.random_bytes(std::as_writable_bytes(out)); }

private:
  struct dated {
    ticket_key key;
    milliseconds made;
  };
  void rotate(milliseconds now);

  environment& env_;
  std::mutex lock_;
  std::deque<dated> keys_; ///< the newest first
};

} // namespace fq::net
