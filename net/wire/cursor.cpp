// SPDX-License-Identifier: Apache-2.0
// A cursor is 4 bytes of aggregate number and 8 of an HMAC, as 16 base64url characters.
#include "net/wire/cursor.hpp"

#include <algorithm>
#include <array>

namespace fq::net {
namespace {

constexpr std::size_t seal_size = 8;
constexpr std::size_t cursor_size = 4 + seal_size;

void write_big_endian(std::uint8_t* to, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i, value >>= 8) to[i] = static_cast<std::uint8_t>(value);
}

sha256_digest seal(const hmac_sha256_key& key, const uuid& scope, aggregate_id after) {
  std::array<std::uint8_t, 20> message{};
  write_big_endian(message.data(), scope.hi, 8);
  write_big_endian(message.data() + 8, scope.lo, 8);
  write_big_endian(message.data() + 16, number_of(after), 4);
  return key(byte_view{message});
}

} // namespace

/// Separate keys, so that a seal is never valid as another kind of signature.
std::vector<hmac_sha256_key> cursor_codec::derived(const std::vector<secret_key>& secrets) {
  std::vector<hmac_sha256_key> keys;
  for (const auto& secret : secrets)
    keys.emplace_back(byte_view{hmac_sha256(secret.bytes(), "fairqueue list cursor v1")});
  return keys;
}

std::string cursor_codec::encode(const uuid& scope, aggregate_id after) const {
  std::array<std::uint8_t, cursor_size> bytes{};
  write_big_endian(bytes.data(), number_of(after), 4);
  const auto sealed = seal(keys_.get()->front(), scope, after);
  std::copy_n(sealed.begin(), seal_size, bytes.begin() + 4);
  return to_base64url(bytes);
}

std::optional<aggregate_id> cursor_codec::decode(const uuid& scope, std::string_view text) const {
  std::array<std::uint8_t, cursor_size> bytes{};
  const auto size = from_base64url(text, bytes);
  if (!size || *size != cursor_size) return std::nullopt;
  const auto after = aggregate_id{std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16
                                  | std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]}};
  const auto keys = keys_.get();
  const auto is_right = [&](const hmac_sha256_key& key) {
    const auto sealed = seal(key, scope, after);
    return constant_time_equal(byte_view{sealed.data(), seal_size}, byte_view{bytes.data() + 4, seal_size});
  };
  if (std::ranges::none_of(*keys, is_right)) return std::nullopt;
  return after;
}

} // namespace fq::net
