// SPDX-License-Identifier: Apache-2.0
#include "crypto/session_token.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace fq {
namespace {

constexpr std::size_t uuid_size = 36;
constexpr std::size_t secret_bytes = 16;

void put_big_endian(std::uint8_t* out, std::uint64_t value, int size) noexcept {
  for (int i = size - 1; i >= 0; --i, value >>= 8) out[i] = static_cast<std::uint8_t>(value);
}

std::string secret_text(const hmac_sha256_key& hmac, const uuid& entry, std::uint32_t admission_no) {
  std::array<std::uint8_t, 20> message;
  put_big_endian(message.data(), entry.hi, 8);
  put_big_endian(message.data() + 8, entry.lo, 8);
  put_big_endian(message.data() + 16, admission_no, 4);
  const auto mac = hmac(byte_view{message});
  return to_base64url(byte_view{mac}.first(secret_bytes));
}

// A key's name is 6 bits of its own HMAC, so the key file needs no second column. Two keys may have the same
// name; then both are tried.
char name_of(const hmac_sha256_key& hmac) {
  const auto mac = hmac(std::string_view{"fairqueue session key name"});
  return to_base64url(byte_view{mac}.first(1)).front();
}

std::string token_text(const uuid& entry, char kid, std::string_view secret) {
  std::string text(uuid_size, '\0');
  write_text(entry, text.data());
  text += '.';
  text += kid;
  text += secret;
  return text;
}

bool is_lower_case_uuid(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'F'; })
         && parse_uuid(text).has_value();
}

} // namespace

std::vector<session_keys::named_key> session_keys::named(const std::vector<secret_key>& keys) {
  std::vector<named_key> all;
  for (const auto& key : keys) {
    hmac_sha256_key hmac{key.bytes()};
    const char kid = name_of(hmac);
    all.push_back({kid, std::move(hmac)});
  }
  return all;
}

std::string make_session_token(const session_keys& keys, const uuid& entry, std::uint32_t admission_no) {
  const auto all = keys.keys_.get();
  const auto& key = all->front();
  return token_text(entry, key.kid, secret_text(key.hmac, entry, admission_no));
}

std::optional<uuid> session_token_entry(std::string_view token) noexcept {
  if (token.size() != session_token_size || token[uuid_size] != '.') return std::nullopt;
  if (!is_lower_case_uuid(token.substr(0, uuid_size))) return std::nullopt;
  // The kid is checked as the last character of a group of four, where all 64 values are valid.
  const std::array<char, 4> kid_group{'A', 'A', 'A', token[uuid_size + 1]};
  std::array<std::uint8_t, secret_bytes> scratch;
  const bool kid_valid =
    from_base64url(std::string_view{kid_group.data(), kid_group.size()}, scratch).has_value();
  if (!kid_valid || !from_base64url(token.substr(uuid_size + 2), scratch)) return std::nullopt;
  return parse_uuid(token.substr(0, uuid_size));
}

bool session_token_matches(const session_keys& keys, std::string_view token, const uuid& entry,
                           std::uint32_t admission_no) noexcept {
  if (token.size() != session_token_size) return false;
  const char kid = token[uuid_size + 1];
  const auto all = keys.keys_.get();
  for (const auto& key : *all) {
    if (key.kid != kid) continue;
    if (constant_time_equal(token, token_text(entry, kid, secret_text(key.hmac, entry, admission_no))))
      return true;
  }
  return false;
}

} // namespace fq
