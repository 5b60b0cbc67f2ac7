// SPDX-License-Identifier: Apache-2.0
#include "crypto/webhook_signature.hpp"

#include "crypto/limits.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>

namespace fq {
namespace {

constexpr std::string_view webhook_secret_prefix = "whsec_";
std::string to_base64(byte_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), sodium_base64_VARIANT_ORIGINAL);
  text.pop_back(); // the terminator
  return text;
}

/// A decoded secret, wiped on destruction.
struct signing_bytes {
  std::array<std::uint8_t, webhook_secret_bytes_max> bytes{};
  std::size_t size = 0;

  signing_bytes() = default;
  signing_bytes(const signing_bytes&) = delete;
  signing_bytes& operator=(const signing_bytes&) = delete;
  ~signing_bytes() { sodium_memzero(bytes.data(), bytes.size()); }

  bool read(std::string_view secret) {
    if (!secret.starts_with(webhook_secret_prefix)) return false;
    const auto text = secret.substr(webhook_secret_prefix.size());
    // libsodium 1.0.18 reads each of these as '/'.
    if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) > 0x7f; })) return false;
    const char* end = nullptr;
    const bool is_base64 = sodium_base642bin(bytes.data(), bytes.size(), text.data(), text.size(), nullptr,
                                             &size, &end, sodium_base64_VARIANT_ORIGINAL)
                           == 0;
    return is_base64 && end == text.data() + text.size() && size >= webhook_secret_bytes_min;
  }
};

void append_big_endian(std::string& to, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    to.push_back(static_cast<char>(value >> shift & 0xff));
}

} // namespace

std::string webhook_secret(const secret_key& key, const uuid& endpoint, std::uint32_t generation) {
  std::string about = "fairqueue webhook";
  append_big_endian(about, endpoint.hi, 8);
  append_big_endian(about, endpoint.lo, 8);
  append_big_endian(about, generation, 4);
  return std::string{webhook_secret_prefix} + to_base64(hmac_sha256(key.bytes(), about));
}

secret_key webhook_key_of(const secret_key& stored) {
  return secret_key{hmac_sha256(stored.bytes(), "fairqueue webhook secrets")};
}

std::vector<std::string> webhook_secrets(const secret_key& key, const uuid& endpoint,
                                         std::uint32_t generation, bool previous_signs) {
  std::vector<std::string> all{webhook_secret(key, endpoint, generation)};
  if (previous_signs && generation > 1) all.push_back(webhook_secret(key, endpoint, generation - 1));
  return all;
}

std::optional<std::string> sign_webhook(const std::vector<std::string>& secrets, std::string_view id,
                                        std::int64_t unix_seconds, std::string_view body) {
  std::string message{id};
  message.append(".").append(std::to_string(unix_seconds)).append(".").append(body);
  std::string signatures;
  for (const auto& secret : secrets) {
    signing_bytes key;
    if (!key.read(secret)) return std::nullopt;
    if (!signatures.empty()) signatures += ' ';
    signatures.append("v1,").append(to_base64(hmac_sha256(byte_view{key.bytes.data(), key.size}, message)));
  }
  if (signatures.empty()) return std::nullopt;
  return signatures;
}

} // namespace fq
