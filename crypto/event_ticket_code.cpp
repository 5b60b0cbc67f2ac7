// SPDX-License-Identifier: Apache-2.0
#include "crypto/event_ticket_code.hpp"

#include "crypto/base45.hpp"
#include "crypto/ed25519.hpp"
#include "crypto/hkdf.hpp"
#include "crypto/limits.hpp"

#include <algorithm>
#include <span>
#include <tuple>

namespace fq {
namespace {

constexpr std::size_t claims_bytes = 37; ///< kind, two ids, generation
constexpr std::size_t mac_bytes = 16;
constexpr std::size_t signature_bytes = std::tuple_size_v<ed25519_signature>;
constexpr std::size_t fixed_code_bytes = claims_bytes + signature_bytes;
/// Signed before the claims: neither a signature nor a MAC serves another purpose.
constexpr std::string_view signing_context = "fairqueue event ticket";

using code_bytes = std::array<std::uint8_t, fixed_code_bytes>;

template <class Bytes>
void append_number(Bytes& to, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    to.push_back(static_cast<typename Bytes::value_type>(value >> shift & 0xff));
}

template <class Bytes>
void append_id(Bytes& to, const uuid& id) {
  append_number(to, id.hi, 8);
  append_number(to, id.lo, 8);
}

std::uint64_t number_at(std::span<const std::uint8_t> from, std::size_t at, int bytes) noexcept {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | from[at + static_cast<std::size_t>(i)];
  return value;
}

std::string claims_of(event_ticket_code_kind kind, const event_ticket_claims& claims) {
  std::string bytes(1, static_cast<char>(kind));
  append_id(bytes, claims.event);
  append_id(bytes, claims.ticket);
  append_number(bytes, claims.generation, 4);
  return bytes;
}

std::string with_context(const std::string& claims) { return std::string{signing_context} + claims; }

std::string text_of(const std::string& claims, byte_view proof) {
  std::vector<std::uint8_t> bytes(claims.begin(), claims.end());
  bytes.insert(bytes.end(), proof.begin(), proof.end());
  return to_base45(bytes);
}

std::int64_t step_of(timestamp now) { return unix_ms(now) / milliseconds{event_ticket_code_step}.count(); }

sha256_digest mac_of(const secret_key& secret, const std::string& claims, std::int64_t step) {
  auto message = with_context(claims);
  append_number(message, static_cast<std::uint64_t>(step), 8);
  return hmac_sha256(secret.bytes(), message);
}

std::string about_event(const event_id& event, std::uint32_t key_number) {
  std::string info;
  append_id(info, event);
  append_number(info, key_number, 4);
  return info;
}

} // namespace

std::optional<event_ticket_code> read_event_ticket_code(std::string_view text) noexcept {
  code_bytes bytes{};
  const auto size = from_base45(text, bytes);
  if (!size) return std::nullopt;
  event_ticket_code code;
  code.kind = static_cast<event_ticket_code_kind>(bytes[0]);
  const bool is_fixed = code.kind == event_ticket_code_kind::fixed && *size == fixed_code_bytes;
  const bool is_rotating = code.kind == event_ticket_code_kind::rotating && *size == claims_bytes + mac_bytes;
  if (!is_fixed && !is_rotating) return std::nullopt;
  code.claims.event = {number_at(bytes, 1, 8), number_at(bytes, 9, 8)};
  code.claims.ticket = {number_at(bytes, 17, 8), number_at(bytes, 25, 8)};
  code.claims.generation = static_cast<std::uint32_t>(number_at(bytes, 33, 4));
  std::copy(bytes.begin() + claims_bytes, bytes.end(), code.proof.begin());
  return code;
}

event_ticket_keys::event_ticket_keys(const secret_key& stored, const event_id& event,
                                     std::uint32_t key_number) :
    event_{event},
    key_{hkdf_sha256(stored.bytes(), "fairqueue event tickets", about_event(event, key_number))},
    seed_{hkdf_sha256(key_.bytes(), "", "signature")},
    public_key_{ed25519_public_key_of(seed_)} {}

std::string event_ticket_keys::fixed_code(const event_ticket_id& ticket, std::uint32_t generation) const {
  const auto claims = claims_of(event_ticket_code_kind::fixed, {event_, ticket, generation});
  return text_of(claims, ed25519_sign(seed_, with_context(claims)));
}

secret_key event_ticket_keys::secret_of(const event_ticket_id& ticket, std::uint32_t generation) const {
  std::string info = "rotating";
  append_id(info, ticket);
  append_number(info, generation, 4);
  return hkdf_sha256(key_.bytes(), "", info);
}

bool is_signed(const event_ticket_code& code, const event_ticket_public_key& key) noexcept {
  if (code.kind != event_ticket_code_kind::fixed) return false;
  return is_ed25519_signature(code.proof, with_context(claims_of(code.kind, code.claims)), key);
}

std::string rotating_code(const secret_key& secret, const event_ticket_claims& claims, timestamp now) {
  const auto bytes = claims_of(event_ticket_code_kind::rotating, claims);
  const auto mac = mac_of(secret, bytes, step_of(now));
  return text_of(bytes, byte_view{mac}.first(mac_bytes));
}

bool is_current(const event_ticket_code& code, const secret_key& secret, timestamp now) noexcept {
  if (code.kind != event_ticket_code_kind::rotating) return false;
  const auto bytes = claims_of(code.kind, code.claims);
  const auto given = byte_view{code.proof}.first(mac_bytes);
  bool found = false;
  for (const std::int64_t shift : {-1, 0, 1}) {
    const auto mac = mac_of(secret, bytes, step_of(now) + shift);
    found |= constant_time_equal(given, byte_view{mac}.first(mac_bytes));
  }
  return found;
}

} // namespace fq
