// SPDX-License-Identifier: Apache-2.0
// The code of an event ticket, as a QR code shows it: text of the QR alphanumeric set, without an address or
// a name. Scanners check it offline. docs/design/tickets.md has the format, vectors, and what a leak permits.
//
//   fixed     1 || event || ticket || generation || Ed25519 signature            101 bytes, 152 characters
//   rotating  2 || event || ticket || generation || 16 bytes of HMAC-SHA256       53 bytes,  80 characters
//
// Ids are 16 bytes, a generation is 4, big endian. All keys are derived from an installation key and the
// event, so nodes exchange none.
#pragma once
#include "crypto/digest.hpp"
#include "domain/base/ids.hpp"
#include "domain/base/time.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

enum class event_ticket_code_kind : std::uint8_t {
  fixed = 1, ///< signed, valid until the generation rises; printed
  rotating = 2, ///< valid for one step (event_ticket_code_step); shown by the holder's page
};

struct event_ticket_claims {
  event_id event;
  event_ticket_id ticket;
  std::uint32_t generation =
    0; ///< raised by a transfer, and with the mail that the event is cancelled: lower ones are void
  friend bool operator==(const event_ticket_claims&, const event_ticket_claims&) = default;
};

/// A well-formed code. Nothing of it is verified.
struct event_ticket_code {
  event_ticket_code_kind kind{};
  event_ticket_claims claims;
  std::array<std::uint8_t, 64> proof{}; ///< fixed: the signature; rotating: the MAC and zeros
};

/// Empty for any text that is not exactly a code: characters, length, kind.
[[nodiscard]] std::optional<event_ticket_code> read_event_ticket_code(std::string_view text) noexcept;

using event_ticket_public_key = std::array<std::uint8_t, 32>;

/// The keys of the tickets of one event. Independent of those of other events.
class event_ticket_keys {
public:
  /// `stored`: key_store::stored. `key_number` is the event's: a higher one gives new keys, and all codes of
  /// the event become void.
  event_ticket_keys(const secret_key& stored, const event_id& event, std::uint32_t key_number);

  /// Takes about 25 us.
  [[nodiscard]] std::string fixed_code(const event_ticket_id& ticket, std::uint32_t generation) const;
  /// What scanners need for fixed codes.
  [[nodiscard]] const event_ticket_public_key& public_key() const noexcept { return public_key_; }
  /// What the holder's page and scanners need for rotating codes of one ticket.
  [[nodiscard]] secret_key secret_of(const event_ticket_id& ticket, std::uint32_t generation) const;

private:
  event_id event_;
  secret_key key_; ///< derives the others
  secret_key seed_; ///< the private key
  event_ticket_public_key public_key_{};
};

/// Whether a fixed code has this event's signature; false for a rotating one.
[[nodiscard]] bool is_signed(const event_ticket_code& code, const event_ticket_public_key& key) noexcept;

/// `secret`: event_ticket_keys::secret_of of the same ticket and generation.
[[nodiscard]] std::string rotating_code(const secret_key& secret, const event_ticket_claims& claims,
                                        timestamp now);

/// Whether a rotating code is of the step of `now`, the one before or the one after (RFC 6238 section 5.2);
/// false for a fixed one. Constant time in the MAC.
[[nodiscard]] bool is_current(const event_ticket_code& code, const secret_key& secret,
                              timestamp now) noexcept;

} // namespace fq
