// SPDX-License-Identifier: Apache-2.0
// OpenSSL's SHA-256 and HMAC with contexts per thread, libsodium's BLAKE2b, and the text encodings. A
// failure of these libraries means no memory or a broken installation, so the process ends.
#include "crypto/digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sodium.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace fq {
namespace {

void must(bool ok) noexcept {
  if (!ok) std::abort();
}

struct free_context {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
};
using digest_context = std::unique_ptr<EVP_MD_CTX, free_context>;
using mac_context = std::unique_ptr<EVP_MAC_CTX, free_context>;

// Fetched once, because the lookup by name costs more than hashing a short message. Intentionally never
// freed: threads may still hash while the process ends.
const EVP_MD* sha256_algorithm() noexcept {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  must(algorithm != nullptr);
  return algorithm;
}

mac_context make_mac_context() noexcept {
  static EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  must(algorithm != nullptr);
  mac_context context{EVP_MAC_CTX_new(algorithm)};
  must(context != nullptr);
  return context;
}

char sha256_name[] = "SHA256"; // OpenSSL's parameters require mutable text; it only reads them
char sha512_name[] = "SHA512";

void set_key(EVP_MAC_CTX* context, byte_view key, char* digest = sha256_name) noexcept {
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                               OSSL_PARAM_construct_end()};
  static constexpr std::uint8_t empty_key = 0; // a null key would mean "keep the previous key"
  must(EVP_MAC_init(context, key.empty() ? &empty_key : key.data(), key.size(), params) == 1);
}

template <class Digest = sha256_digest>
Digest finish_mac(EVP_MAC_CTX* context, byte_view message) noexcept {
  Digest out;
  std::size_t size = 0;
  must(EVP_MAC_update(context, message.data(), message.size()) == 1);
  must(EVP_MAC_final(context, out.data(), &size, out.size()) == 1 && size == out.size());
  return out;
}

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

sha256_digest sha256(std::string_view message) noexcept {
  thread_local const digest_context context{EVP_MD_CTX_new()};
  must(context != nullptr);
  sha256_digest out;
  must(EVP_DigestInit_ex2(context.get(), sha256_algorithm(), nullptr) == 1);
  must(EVP_DigestUpdate(context.get(), message.data(), message.size()) == 1);
  must(EVP_DigestFinal_ex(context.get(), out.data(), nullptr) == 1);
  return out;
}

secret_key::secret_key(std::span<const std::uint8_t, size> bytes) noexcept {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

secret_key::~secret_key() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

struct hmac_sha256_key::prepared {
  std::uint64_t number; // never reused, so that a cached state cannot be taken for another key's
  std::vector<std::uint8_t> key;

  explicit prepared(byte_view bytes) : number{next_number()}, key(bytes.begin(), bytes.end()) {}
  prepared(const prepared&) = delete;
  prepared& operator=(const prepared&) = delete;
  ~prepared() { OPENSSL_cleanse(key.data(), key.size()); }

  static std::uint64_t next_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  // Returns this thread's context with the key set; replaces the context prepared longest ago.
  EVP_MAC_CTX* ready_context() const noexcept {
    struct slot {
      std::uint64_t number = 0;
      mac_context context;
    };
    thread_local std::array<slot, 8> slots;
    thread_local std::size_t next_victim = 0;
    for (auto& s : slots) {
      if (s.number != number) continue;
      must(EVP_MAC_init(s.context.get(), nullptr, 0, nullptr) == 1); // back to "key set, no data"
      return s.context.get();
    }
    auto& s = slots[next_victim];
    next_victim = (next_victim + 1) % slots.size();
    if (!s.context) s.context = make_mac_context();
    set_key(s.context.get(), key);
    s.number = number;
    return s.context.get();
  }
};

hmac_sha256_key::hmac_sha256_key(byte_view key) : prepared_{std::make_shared<const prepared>(key)} {}

sha256_digest hmac_sha256_key::operator()(byte_view message) const noexcept {
  return finish_mac(prepared_->ready_context(), message);
}

sha256_digest hmac_sha256_key::operator()(std::string_view message) const noexcept {
  return (*this)(view_bytes(message));
}

sha256_digest hmac_sha256(byte_view key, std::string_view message) noexcept {
  const auto context = make_mac_context();
  set_key(context.get(), key);
  return finish_mac(context.get(), view_bytes(message));
}

sha512_digest hmac_sha512(byte_view key, std::string_view message) noexcept {
  const auto context = make_mac_context();
  set_key(context.get(), key, sha512_name);
  return finish_mac<sha512_digest>(context.get(), view_bytes(message));
}

std::array<std::uint64_t, 2> keyed_hash_128(byte_view key, std::string_view message) noexcept {
  std::array<std::uint64_t, 2> out{};
  must(crypto_generichash(reinterpret_cast<unsigned char*>(out.data()), sizeof out,
                          reinterpret_cast<const unsigned char*>(message.data()), message.size(), key.data(),
                          key.size())
       == 0);
  return out;
}

std::string to_hex(byte_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const auto b : bytes) {
    text.push_back(digits[b >> 4]);
    text.push_back(digits[b & 15]);
  }
  return text;
}

std::string to_base64url(byte_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t pending = 0;
  int pending_bits = 0;
  for (const auto b : bytes) {
    pending = pending << 8 | b;
    pending_bits += 8;
    while (pending_bits >= 6) {
      pending_bits -= 6;
      text.push_back(base64url_alphabet[pending >> pending_bits & 63]);
    }
  }
  if (pending_bits > 0) text.push_back(base64url_alphabet[pending << (6 - pending_bits) & 63]);
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
