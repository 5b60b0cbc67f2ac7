// SPDX-License-Identifier: Apache-2.0
#include "net/service/device_token.hpp"

#include "crypto/digest.hpp"
#include "net/service/auth.hpp"
#include "net/service/guards.hpp"

#include <algorithm>
#include <array>

namespace fq::net {
namespace {

constexpr std::string_view token_prefix = "gate_";
constexpr std::size_t id_digits = 32;
constexpr std::size_t secret_size = 43; ///< 256 bits in base64url

} // namespace

std::string new_device_secret(environment& env) {
  std::array<std::byte, 32> random{};
  env.random_bytes(random);
  return to_base64url(byte_view{reinterpret_cast<const std::uint8_t*>(random.data()), random.size()});
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
  return device_pass{*device, device_secret_hash(token.substr(token_prefix.size() + id_digits + 1))};
}

std::optional<device_pass> pass_of(const request& rq) { return parse_device_token(bearer_token(rq)); }

} // namespace fq::net
