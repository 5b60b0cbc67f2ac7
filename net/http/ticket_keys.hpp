// SPDX-License-Identifier: Apache-2.0
// Keys that encrypt TLS session tickets. A returning client skips the expensive half of the handshake and
// the server stores no state for it. A key seals for one hour and opens for two more; then its tickets stay
// secret even if memory leaks. Random, in memory only: not kept over a restart, not shared by nodes. Safe
// on any thread.
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
  std::array<unsigned char, 16> name; ///< in the ticket, unencrypted
  std::array<unsigned char, 32> cipher; ///< AES-256
  std::array<unsigned char, 32> mac; ///< HMAC-SHA-256
};

class ticket_keys {
public:
  static constexpr milliseconds seals_for{3'600'000};
  static constexpr milliseconds opens_for = 3 * seals_for; ///< since its creation

  explicit ticket_keys(environment& env) : env_(env) {}

  /// The key for new tickets.
  [[nodiscard]] ticket_key sealing();

  struct found {
    ticket_key key;
    bool is_old; ///< no longer seals: issue a new ticket
  };
  /// The key of that name, if it still opens.
  [[nodiscard]] std::optional<found> opening(std::span<const unsigned char, 16> name);

  /// Fills `out` with unpredictable bytes.
  void fill(std::span<unsigned char> out) { env_.random_bytes(std::as_writable_bytes(out)); }

private:
  struct dated {
    ticket_key key;
    milliseconds made;
  };
  void rotate(milliseconds now);

  environment& env_;
  std::mutex lock_;
  std::deque<dated> keys_; ///< newest first
};

} // namespace fq::net
