// SPDX-License-Identifier: Apache-2.0
// Nettle's SHA-2 and HMAC, libsodium's BLAKE2b, and the text encodings. Nettle: a short message costs a third
// of what it costs by OpenSSL 3's EVP, and a keyed state can be copied.
#include "crypto/digest.hpp"

#include "domain/base/hex.hpp"

#include <nettle/hmac.h>
#include <nettle/sha2.h>
#include <openssl/crypto.h>
#include <sodium.h>

#include <algorithm>
#include <cstdlib>

#undef sha256_digest // Nettle's macros, which prefix its functions
#undef sha512_digest

namespace fq {
namespace {

constexpr std::string_view base64url_alphabet =
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr auto base64url_values = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < base64url_alphabet.size(); ++i)
    values[static_cast<unsigned char>(base64url_alphabet[i])] = static_cast<std::int8_t>(i);
  return values;
}();

int base64url_value(char c) noexcept { return base64url_values[static_cast<unsigned char>(c)]; }

} // namespace

byte_view view_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

sha256_digest sha256(std::string_view message) noexcept { return sha256(message, {}); }

sha256_digest sha256(std::string_view first, std::string_view second) noexcept {
  sha256_digest out;
  sha256_ctx state;
  sha256_init(&state);
  sha256_update(&state, first.size(), view_bytes(first).data());
  sha256_update(&state, second.size(), view_bytes(second).data());
  nettle_sha256_digest(&state, out.size(), out.data());
  return out;
}

secret_key::secret_key(std::span<const std::uint8_t, size> bytes) noexcept {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

secret_key::~secret_key() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

struct hmac_sha256_key::prepared {
  hmac_sha256_ctx state;

  explicit prepared(byte_view key) noexcept { hmac_sha256_set_key(&state, key.size(), key.data()); }
  prepared(const prepared&) = delete;
  prepared& operator=(const prepared&) = delete;
  ~prepared() { OPENSSL_cleanse(&state, sizeof state); }

  sha256_digest operator()(byte_view message) const noexcept {
    auto own = state;
    sha256_digest out;
    hmac_sha256_update(&own, message.size(), message.data());
    hmac_sha256_digest(&own, out.size(), out.data());
    OPENSSL_cleanse(&own, sizeof own);
    return out;
  }
};

hmac_sha256_key::hmac_sha256_key(byte_view key) : prepared_{std::make_shared<const prepared>(key)} {}

sha256_digest hmac_sha256_key::operator()(byte_view message) const noexcept { return (*prepared_)(message); }

sha256_digest hmac_sha256_key::operator()(std::string_view message) const noexcept {
  return (*this)(view_bytes(message));
}

sha256_digest hmac_sha256(byte_view key, std::string_view message) noexcept {
  return hmac_sha256_key{key}(message);
}

sha512_digest hmac_sha512(byte_view key, std::string_view message) noexcept {
  hmac_sha512_ctx state;
  hmac_sha512_set_key(&state, key.size(), key.data());
  const auto bytes = view_bytes(message);
  hmac_sha512_update(&state, bytes.size(), bytes.data());
  sha512_digest out;
  hmac_sha512_digest(&state, out.size(), out.data());
  OPENSSL_cleanse(&state, sizeof state);
  return out;
}

std::array<std::uint64_t, 2> keyed_hash_128(byte_view key, std::string_view message) noexcept {
  std::array<std::uint64_t, 2> out{};
  if (crypto_generichash(reinterpret_cast<unsigned char*>(out.data()), sizeof out, view_bytes(message).data(),
                         message.size(), key.data(), key.size())
      != 0)
    std::abort(); // a key of another size: a defect
  return out;
}

std::string to_hex(byte_view bytes) {
  std::string text(bytes.size() * 2, '\0');
  auto* to = text.data();
  for (const auto b : bytes) to = write_hex(b, 1, to);
  return text;
}

void append_base64url(std::string& out, byte_view bytes) {
  const auto from = out.size();
  out.resize(from + (bytes.size() * 4 + 2) / 3);
  auto* to = out.data() + from;
  const auto put = [&to](std::uint32_t group, unsigned characters) {
    for (unsigned i = 0; i < characters; ++i) *to++ = base64url_alphabet[group >> (18 - 6 * i) & 63];
  };
  std::size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) put(bytes[at] << 16 | bytes[at + 1] << 8 | bytes[at + 2], 4);
  if (bytes.size() - at == 1) put(bytes[at] << 16, 2);
  if (bytes.size() - at == 2) put(bytes[at] << 16 | bytes[at + 1] << 8, 3);
}

std::string to_base64url(byte_view bytes) {
  std::string text;
  append_base64url(text, bytes);
  return text;
}

std::optional<std::size_t> from_base64url(std::string_view text, std::span<std::uint8_t> out) noexcept {
  const auto tail = text.size() % 4;
  const auto size = text.size() / 4 * 3 + (tail == 0 ? 0 : tail - 1);
  if (tail == 1 || size > out.size()) return std::nullopt;
  auto* to = out.data();
  const char* from = text.data();
  for (std::size_t group = 0; group < text.size() / 4; ++group, from += 4, to += 3) {
    const int a = base64url_value(from[0]);
    const int b = base64url_value(from[1]);
    const int c = base64url_value(from[2]);
    const int d = base64url_value(from[3]);
    if ((a | b | c | d) < 0) return std::nullopt;
    to[0] = static_cast<std::uint8_t>(a << 2 | b >> 4);
    to[1] = static_cast<std::uint8_t>(b << 4 | c >> 2);
    to[2] = static_cast<std::uint8_t>(c << 6 | d);
  }
  if (tail != 0) {
    const int a = base64url_value(from[0]);
    const int b = base64url_value(from[1]);
    const int c = tail == 3 ? base64url_value(from[2]) : 0;
    const int unused_bits = tail == 3 ? c & 3 : b & 15;
    if ((a | b | c) < 0 || unused_bits != 0) return std::nullopt;
    to[0] = static_cast<std::uint8_t>(a << 2 | b >> 4);
    if (tail == 3) to[1] = static_cast<std::uint8_t>(b << 4 | c >> 2);
  }
  return size;
}

std::optional<std::vector<std::uint8_t>> from_base64url(std::string_view text) {
  std::vector<std::uint8_t> bytes(text.size() / 4 * 3 + 3);
  const auto size = from_base64url(text, bytes);
  if (!size) return std::nullopt;
  bytes.resize(*size);
  return bytes;
}

bool constant_time_equal(byte_view left, byte_view right) noexcept {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

bool constant_time_equal(std::string_view left, std::string_view right) noexcept {
  return constant_time_equal(view_bytes(left), view_bytes(right));
}

} // namespace fq
