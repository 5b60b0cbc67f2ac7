// SPDX-License-Identifier: Apache-2.0
// HS256 tokens. Before a signature is computed, this file checks that the header is byte for byte the header
// of a valid key, and that the claims are exactly ours.
#include "crypto/tokens.hpp"

#include "crypto/digest.hpp"
#include "crypto/limits.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace fq {
namespace {

constexpr std::string_view token_issuer_name = "fairqueue";
constexpr std::string_view type_name(token_kind kind) noexcept {
  switch (kind) {
    case token_kind::organizer: return "fq-organizer";
    case token_kind::customer: return "fq-customer";
    case token_kind::ticket: return "fq-ticket";
    case token_kind::operate: return "fq-operator";
    case token_kind::guest: return "fq-guest";
  }
  return {};
}

/// The members of the claims object, as text.
struct raw_claims {
  std::string_view iss;
  std::string_view aud;
  std::string_view sub;
  std::string_view sid; ///< organizers only, optional
  std::optional<std::int64_t> iat;
  std::optional<std::int64_t> exp;
};

/// Reads exactly {"name":"text","name":integer,...} without white space, signs or leading zeros: the format
/// of token_issuer, in any order. The caller checks that all members are present. It does not look for
/// escapes: no name and no value of ours has one, so such texts are refused later.
class claims_scanner {
public:
  explicit claims_scanner(std::string_view text) : rest_{text} {}

  bool scan(raw_claims& out) {
    if (!take('{')) return false;
    do {
      std::string_view name;
      if (!take_text(name) || !take(':') || !take_value(name, out)) return false;
    } while (take(','));
    return take('}') && rest_.empty();
  }

private:
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_text(std::string_view& out) {
    if (!take('"')) return false;
    const auto end = rest_.find('"');
    if (end == std::string_view::npos) return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool take_value(std::string_view name, raw_claims& out) {
    if (name == "iss") return take_once(out.iss);
    if (name == "aud") return take_once(out.aud);
    if (name == "sub") return take_once(out.sub);
    if (name == "sid") return take_once(out.sid);
    if (name == "iat") return take_once(out.iat);
    if (name == "exp") return take_once(out.exp);
    return false;
  }

  bool take_once(std::string_view& out) { return out.empty() && take_text(out) && !out.empty(); }

  bool take_once(std::optional<std::int64_t>& out) {
    if (out) return false;
    std::int64_t value = 0;
    const auto* begin = rest_.data();
    if (rest_.empty() || *begin < '1' || *begin > '9') return false;
    const auto [end, error] = std::from_chars(begin, begin + std::min<std::size_t>(rest_.size(), 11), value);
    if (error != std::errc{}) return false;
    rest_.remove_prefix(static_cast<std::size_t>(end - begin));
    out = value;
    return true;
  }

  std::string_view rest_;
};

/// Of a signature in base64url, and of what stands between the parts of a token.
constexpr std::size_t signature_room = 48;

void append_id(std::string& out, const uuid& id) {
  char text[36];
  write_text(id, text);
  out.append(text, sizeof text);
}

timestamp from_unix_seconds(std::int64_t s) { return timestamp{seconds{s}}; }

std::int64_t unix_seconds(timestamp t) { return std::chrono::floor<seconds>(t).time_since_epoch().count(); }

/// The parts of a compact JWS.
struct token_parts {
  std::string_view header;
  std::string_view payload;
  std::string_view is_signed; ///< header and payload
  sha256_digest signature;
};

bool split(std::string_view token, token_parts& out) {
  const auto first = token.find('.');
  if (first == std::string_view::npos) return false;
  const auto second = token.find('.', first + 1);
  if (second == std::string_view::npos) return false;
  out = {token.substr(0, first), token.substr(first + 1, second - first - 1), token.substr(0, second), {}};
  return from_base64url(token.substr(second + 1), out.signature) == out.signature.size();
}

} // namespace

namespace detail {

/// A prepared key.
struct token_key {
  token_kind kind;
  hmac_sha256_key sign;
  std::string header; ///< encoded

  token_key(token_kind k, const signing_key& key) :
      kind{k},
      sign{key.secret.bytes()},
      header{to_base64url(view_bytes(R"({"alg":"HS256","typ":")" + std::string{type_name(k)} + R"(","kid":")"
                                     + key.kid + R"("})"))} {}
};

} // namespace detail

namespace {

detail::token_keys prepare(const key_store& keys) {
  const auto all_of = [](token_kind kind, const std::vector<signing_key>& list) {
    std::vector<std::shared_ptr<const detail::token_key>> all;
    for (const auto& key : list) all.push_back(std::make_shared<const detail::token_key>(kind, key));
    return all;
  };
  std::vector<signing_key> guest; // derived: they rotate with those of customers
  for (const auto& key : keys.customer)
    guest.push_back({key.kid, secret_key{hmac_sha256(key.secret.bytes(), "fairqueue tokens of guests")}});
  return {all_of(token_kind::organizer, keys.organizer), all_of(token_kind::customer, keys.customer),
          all_of(token_kind::ticket, keys.ticket), all_of(token_kind::operate, keys.operate),
          all_of(token_kind::guest, guest)};
}

const detail::token_key* find(const detail::token_keys& keys, std::string_view header) {
  for (const auto& list : keys)
    for (const auto& key : list)
      if (key->header == header) return key.get();
  return nullptr;
}

token_error read_claims(std::string_view payload, token_kind kind, token_claims& out) {
  std::array<std::uint8_t, claims_bytes_max> buffer;
  const auto size = from_base64url(payload, buffer);
  if (!size) return token_error::malformed;
  raw_claims raw;
  claims_scanner scanner{{reinterpret_cast<const char*>(buffer.data()), *size}};
  if (!scanner.scan(raw) || !raw.iat || !raw.exp || raw.sub.empty()) return token_error::malformed;
  const auto subject = parse_uuid(raw.sub);
  const auto session = raw.sid.empty() ? std::optional{uuid{}} : parse_uuid(raw.sid);
  if (raw.iss != token_issuer_name || raw.aud != type_name(kind) || !subject || *raw.exp <= *raw.iat
      || !session || (!raw.sid.empty() && kind != token_kind::organizer))
    return token_error::bad_claims;
  out = {kind, *subject, from_unix_seconds(*raw.iat), from_unix_seconds(*raw.exp), *session};
  return token_error::none;
}

/// Accepts a time of issue in the future: since the signature is ours, our clock went back, and users should
/// not have to sign in again.
token_error check_time(const token_claims& claims, timestamp now) {
  if (claims.expires_at + token_clock_skew <= now) return token_error::expired;
  return token_error::none;
}

} // namespace

std::string_view to_string(token_kind kind) noexcept { return type_name(kind).substr(3); }

std::string_view to_string(token_error error) noexcept {
  switch (error) {
    case token_error::none: return "none";
    case token_error::too_long: return "too_long";
    case token_error::malformed: return "malformed";
    case token_error::unknown_header: return "unknown_header";
    case token_error::bad_claims: return "bad_claims";
    case token_error::bad_signature: return "bad_signature";
    case token_error::expired: return "expired";
  }
  return "unknown";
}

token_issuer::token_issuer(const key_store& keys) : keys_{prepare(keys)} {}

void token_issuer::renew(const key_store& keys) { keys_.set(prepare(keys)); }

std::string token_issuer::issue(token_kind kind, const uuid& subject, timestamp now, seconds lifetime,
                                const uuid& session) const {
  const auto issued_at = unix_seconds(now);
  std::string payload;
  payload.reserve(claims_bytes_max);
  payload.append(R"({"iss":"fairqueue","aud":")");
  payload.append(type_name(kind)).append(R"(","sub":")");
  append_id(payload, subject);
  payload.append(R"(","iat":)").append(std::to_string(issued_at));
  payload.append(R"(,"exp":)").append(std::to_string(issued_at + lifetime.count()));
  if (!session.is_nil()) {
    payload.append(R"(,"sid":")");
    append_id(payload, session);
    payload += '"';
  }
  payload.append("}");
  const auto keys = keys_.get();
  const auto& key = *(*keys)[static_cast<std::size_t>(kind)].front();
  std::string token;
  token.reserve(key.header.size() + payload.size() * 4 / 3 + signature_room);
  token.append(key.header).append(1, '.');
  append_base64url(token, view_bytes(payload));
  const auto signature = key.sign(token);
  token += '.';
  append_base64url(token, signature);
  return token;
}

token_verifier::token_verifier(const key_store& keys) : keys_{prepare(keys)} {}

void token_verifier::renew(const key_store& keys) { keys_.set(prepare(keys)); }

token_result token_verifier::verify(std::string_view token, timestamp now) const {
  token_result result;
  const auto refuse = [&result](token_error why) {
    result.error = why;
    return result;
  };
  if (token.size() > token_bytes_max) return refuse(token_error::too_long);
  token_parts parts;
  if (!split(token, parts)) return refuse(token_error::malformed);
  const auto keys = keys_.get();
  const auto* key = find(*keys, parts.header);
  if (key == nullptr) return refuse(token_error::unknown_header);
  if (const auto e = read_claims(parts.payload, key->kind, result.claims); e != token_error::none)
    return refuse(e);
  if (!constant_time_equal(key->sign(parts.is_signed), parts.signature))
    return refuse(token_error::bad_signature);
  return refuse(check_time(result.claims, now));
}

} // namespace fq
