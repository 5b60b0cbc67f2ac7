// SPDX-License-Identifier: Apache-2.0
// Digests, text encodings and comparison of secrets. Pure functions over Nettle, libsodium and OpenSSL,
// thread-safe. Used by tokens, payment gateways, idempotency (body hashes) and rate limits (address hashes).
#pragma once
#include "domain/base/hex.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

using byte_view = std::span<const std::uint8_t>;
using sha256_digest = std::array<std::uint8_t, 32>;
using sha512_digest = std::array<std::uint8_t, 64>;

[[nodiscard]] byte_view view_bytes(std::string_view text) noexcept;

[[nodiscard]] sha256_digest sha256(std::string_view message) noexcept;
/// Of `first` followed by `second`.
[[nodiscard]] sha256_digest sha256(std::string_view first, std::string_view second) noexcept;

/// A 32-byte secret that is wiped on destruction. Never log it.
class secret_key {
public:
  static constexpr std::size_t size = 32;

  secret_key() noexcept = default;
  explicit secret_key(std::span<const std::uint8_t, size> bytes) noexcept;
  secret_key(const secret_key&) noexcept = default;
  secret_key& operator=(const secret_key&) noexcept = default;
  ~secret_key();

  [[nodiscard]] byte_view bytes() const noexcept { return bytes_; }

private:
  std::array<std::uint8_t, size> bytes_{};
};

/// HMAC-SHA256 under one long-lived key, whose state is computed once.
class hmac_sha256_key {
public:
  explicit hmac_sha256_key(byte_view key);

  [[nodiscard]] sha256_digest operator()(byte_view message) const noexcept;
  [[nodiscard]] sha256_digest operator()(std::string_view message) const noexcept;

private:
  struct prepared;
  std::shared_ptr<const prepared> prepared_;
};

/// HMAC-SHA256 for a key that is used once. For long-lived keys: `hmac_sha256_key`.
[[nodiscard]] sha256_digest hmac_sha256(byte_view key, std::string_view message) noexcept;

/// HMAC-SHA512 for a key that is used once (Paystack's webhooks).
[[nodiscard]] sha512_digest hmac_sha512(byte_view key, std::string_view message) noexcept;

/// 128 bits of BLAKE2b under `key` (16 to 64 bytes): for table keys derived from personal data, such as
/// e-mail addresses.
[[nodiscard]] std::array<std::uint64_t, 2> keyed_hash_128(byte_view key, std::string_view message) noexcept;

/// Lower-case hex. The inverse is from_hex.
[[nodiscard]] std::string to_hex(byte_view bytes);

/// Base64url without padding (RFC 4648 section 5).
[[nodiscard]] std::string to_base64url(byte_view bytes);
void append_base64url(std::string& out, byte_view bytes);

/// Strict inverse: no padding, no white space, no other alphabet, unused trailing bits zero. So every byte
/// string has exactly one text.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> from_base64url(std::string_view text);

/// Decodes into a caller's buffer, for the hot path. Returns the number of bytes; empty if malformed or too
/// long.
[[nodiscard]] std::optional<std::size_t> from_base64url(std::string_view text,
                                                        std::span<std::uint8_t> out) noexcept;

/// Whether length and content are equal; the time depends on the length only.
[[nodiscard]] bool constant_time_equal(std::string_view left, std::string_view right) noexcept;
[[nodiscard]] bool constant_time_equal(byte_view left, byte_view right) noexcept;

} // namespace fq
