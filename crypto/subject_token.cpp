// SPDX-License-Identifier: Apache-2.0
#include "crypto/subject_token.hpp"

#include "crypto/digest.hpp"
#include "crypto/jose.hpp"
#include "crypto/limits.hpp"
#include "crypto/tokens.hpp"
#include "domain/model/rows.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace fq {
namespace {

namespace json = boost::json;

std::optional<json::object> parse_object(std::string_view text) {
  json::parse_options strict;
  strict.max_depth = 8;
  json::error_code error;
  const auto value = json::parse(text, error, {}, strict);
  if (error || !value.is_object()) return std::nullopt;
  return value.get_object();
}

std::optional<json::object> decode_object(std::string_view base64url) {
  const auto bytes = from_base64url(base64url);
  if (!bytes) return std::nullopt;
  return parse_object({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

std::string text_of(const json::object& object, std::string_view name) {
  const auto* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

/// Whether the numbers of a key are base64url: cjose ends the process on others.
bool has_sound_numbers(const json::object& jwk) {
  return std::ranges::all_of(std::array{"x", "y", "n", "e"}, [&](const char* name) {
    return !jwk.contains(name)
           || from_base64url(text_of(jwk, name)).value_or(std::vector<std::uint8_t>{}).size() > 0;
  });
}

/// The algorithm of a key; empty: not supported.
std::string algorithm_of(const json::object& jwk) {
  if (!has_sound_numbers(jwk)) return {};
  if (text_of(jwk, "kty") == "EC" && text_of(jwk, "crv") == "P-256") return "ES256";
  const auto modulus = from_base64url(text_of(jwk, "n"));
  if (text_of(jwk, "kty") == "RSA" && modulus && modulus->size() >= rsa_bytes_min) return "RS256";
  return {};
}

bool header_is_sound(const json::object& header, const json::object& jwk) {
  for (const auto& [name, value] : header)
    if (name != "alg" && name != "typ" && name != "kid") return false; // no crit, no keys or URLs of keys
  const auto type = text_of(header, "typ");
  const bool type_is_ours = !header.contains("typ") || type == "JWT" || type == "fq-subject+jwt";
  const bool kid_fits =
    !header.contains("kid") || !jwk.contains("kid") || text_of(header, "kid") == text_of(jwk, "kid");
  return type_is_ours && kid_fits && text_of(header, "alg") == algorithm_of(jwk);
}

bool is_for_us(const json::object& claims) {
  const auto* aud = claims.if_contains("aud");
  if (aud == nullptr) return false;
  if (aud->is_string()) return aud->get_string() == "fairqueue";
  return aud->is_array() && std::ranges::any_of(aud->get_array(), [](const json::value& v) {
           return v.is_string() && v.get_string() == "fairqueue";
         });
}

/// Seconds since the epoch; empty if absent or not an integer.
std::optional<timestamp> time_of(const json::object& claims, std::string_view name) {
  const auto* value = claims.if_contains(name);
  constexpr std::int64_t year_3000 = 32'503'680'000;
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0 || value->get_int64() > year_3000)
    return std::nullopt;
  return timestamp{seconds{value->get_int64()}};
}

bool is_valid_at(const json::object& claims, timestamp now) {
  const auto exp = time_of(claims, "exp");
  if (!exp || *exp + token_clock_skew <= now || *exp > now + subject_token_life_max + token_clock_skew)
    return false;
  for (const auto* name : {"nbf", "iat"}) {
    const auto at = time_of(claims, name);
    if (claims.contains(name) && (!at || *at > now + token_clock_skew)) return false;
  }
  return true;
}

bool is_subject(const std::string& text) {
  return !text.empty() && text.size() <= subject_name_max
         && std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

} // namespace

std::string subject_key_problem(std::string_view text) {
  const auto jwk = parse_object(text);
  if (!jwk) return "is not a JWK";
  if (jwk->contains("d")) return "is a private key; give its public half";
  if (algorithm_of(*jwk).empty()) return "must be EC P-256 or RSA of at least 2048 bits";
  try {
    jose::import_key(text);
  } catch (const std::runtime_error&) { return "is not a key that can be read"; }
  return {};
}

std::optional<std::string> verify_subject_token(std::string_view token, std::string_view key, timestamp now) {
  if (token.size() > subject_token_bytes_max || key.empty()) return std::nullopt;
  const auto first = token.find('.');
  const auto second = first == std::string_view::npos ? first : token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos)
    return std::nullopt;
  const auto jwk = parse_object(key);
  const auto header = decode_object(token.substr(0, first));
  const auto claims = decode_object(token.substr(first + 1, second - first - 1));
  if (!jwk || !header || !claims || !header_is_sound(*header, *jwk)) return std::nullopt;
  try {
    if (!jose::is_signed_with(token, jose::import_key(key).get())) return std::nullopt;
  } catch (const std::runtime_error&) { return std::nullopt; }
  auto subject = text_of(*claims, "sub");
  if (!is_for_us(*claims) || !is_valid_at(*claims, now) || !is_subject(subject)) return std::nullopt;
  return subject;
}

} // namespace fq
