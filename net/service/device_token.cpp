// SPDX-License-Identifier: Apache-2.0
#include "net/service/device_token.hpp"

#include "net/service/auth.hpp"
#include "net/service/guards.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace fq::net {
namespace {

constexpr std::string_view token_prefix = "gate_";
constexpr std::size_t id_digits = 32;
constexpr std::size_t secret_size = 43; ///< 256 bits in base64url
constexpr std::size_t random_size = 16; ///< of them; the others are the beginning of the keyed hash

} // namespace

device_secrets::device_secrets(const secret_key& stored) :
    key_(hmac_sha256(stored.bytes(), "fairqueue secrets of devices")) {}

sha256_digest device_secrets::hash_of(aggregate_id owner, byte_view random) const {
  return key_(std::to_string(number_of(owner)) + ' ' + to_hex(random));
}

std::string device_secrets::issue(aggregate_id owner, environment& env) const {
  std::array<std::uint8_t, 2 * random_size> bytes{};
  const auto random = std::span{bytes}.first<random_size>();
  env.random_bytes(std::as_writable_bytes(random));
  const auto hash = hash_of(owner, random);
  std::copy_n(hash.begin(), random_size, bytes.begin() + random_size);
  return to_base64url(bytes);
}

bool device_secrets::is_ours(aggregate_id owner, std::string_view secret) const {
  std::array<std::uint8_t, 2 * random_size> bytes{};
  if (from_base64url(secret, bytes) != bytes.size()) return false;
  const byte_view all{bytes};
  const auto hash = hash_of(owner, all.first(random_size));
  return constant_time_equal(byte_view{hash}.first(random_size), all.subspan(random_size));
}

std::string device_secret_hash(std::string_view secret) { return to_hex(sha256(secret)); }

std::string device_token(const checkin_device_id& device, std::string_view secret) {
  auto id = to_string(device);
  std::erase(id, '-');
  return std::string{token_prefix} + id + '_' + std::string{secret};
}

std::optional<device_pass> parse_device_token(std::string_view token) {
  if (token.size() != token_prefix.size() + id_digits + 1 + secret_size || !token.starts_with(token_prefix)
      || token[token_prefix.size() + id_digits] != '_')
    return std::nullopt;
  std::string id{token.substr(token_prefix.size(), id_digits)};
  for (const std::size_t dash : {8u, 13u, 18u, 23u}) id.insert(dash, 1, '-');
  const auto device = parse_event_owned_id(id);
  if (!device) return std::nullopt;
  return device_pass{*device, device_secret_hash(secret_of(token))};
}

std::string_view secret_of(std::string_view token) {
  return token.substr(token_prefix.size() + id_digits + 1);
}

std::optional<device_pass> pass_of(const request& rq) { return parse_device_token(bearer_token(rq)); }

} // namespace fq::net
