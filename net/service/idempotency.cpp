// SPDX-License-Identifier: Apache-2.0
// The Idempotency-Key field (draft-ietf-httpapi-idempotency-key-header-07).
#include "net/service/idempotency.hpp"

#include "crypto/digest.hpp"
#include "net/http/problem.hpp"

#include <algorithm>

namespace fq::net {
namespace {

constexpr std::string_view field_name = "Idempotency-Key";

bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

/// Reads "..." with \" and \\ inside (an RFC 9651 string), without parameters.
std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || text.back() != '"') return std::nullopt;
  std::string out;
  for (auto inner = text.substr(1, text.size() - 2); !inner.empty(); inner.remove_prefix(1)) {
    if (inner.front() == '"') return std::nullopt;
    if (inner.front() == '\\') {
      inner.remove_prefix(1);
      if (inner.empty() || (inner.front() != '"' && inner.front() != '\\')) return std::nullopt;
    }
    out += inner.front();
  }
  return out;
}

std::uint64_t big_endian(const std::uint8_t* bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

digest128 digest_of(std::string_view message) {
  const auto full = sha256(message);
  return {big_endian(full.data()), big_endian(full.data() + 8)};
}

/// Includes the path with its ids: the same key on two claims means two requests.
digest128 scoped(const request& rq, const uuid& principal, std::string_view key) {
  std::string message;
  message.reserve(64 + rq.path.size() + key.size());
  message += to_string(principal);
  message += ' ';
  message += rq.path;
  message += ' ';
  message += key;
  return digest_of(message);
}

std::size_t count_fields(const request& rq) {
  return static_cast<std::size_t>(std::count_if(
    rq.fields.begin(), rq.fields.end(), [](const auto& f) { return same_text(f.first, field_name); }));
}

} // namespace

std::optional<std::string> parse_idempotency_key(std::string_view field) {
  auto key = field.starts_with('"') ? unquoted(field) : std::optional{std::string{field}};
  if (!key || key->empty() || key->size() > idempotency_key_max
      || !std::all_of(key->begin(), key->end(), is_visible))
    return std::nullopt;
  return key;
}

idempotency_header read_idempotency(const request& rq, const uuid& principal) {
  const auto count = count_fields(rq);
  if (count == 0) return {};
  const auto key = count == 1 ? parse_idempotency_key(rq.field(field_name)) : std::nullopt;
  if (!key) return {{}, problem(fault::invalid_idempotency_key, rq.request_id)};
  return {{true, scoped(rq, principal, *key), digest_of(rq.body)}, std::nullopt};
}

idempotency_ref idempotency_of(const request& rq, const uuid& principal, std::string_view key) {
  const auto parsed = parse_idempotency_key(key);
  return parsed ? idempotency_ref{true, scoped(rq, principal, *parsed), digest_of(rq.body)}
                : idempotency_ref{};
}

std::uint64_t join_key_of(const idempotency_ref& ref) {
  return ref.given ? std::max<std::uint64_t>(1, ref.key[0]) : 0;
}

std::optional<response> keys_in_flight::enter(const idempotency_ref& ref, std::string_view request_id,
                                              hold& taken) {
  if (!ref.given) return std::nullopt;
  const uuid key{ref.key[0], ref.key[1]};
  {
    const std::lock_guard guard{lock_};
    if (keys_.size() >= keys_in_flight_max) return problem(fault::unavailable, request_id, {}, 1);
    if (!keys_.insert(key).second) return problem(fault::idempotency_in_progress, request_id);
  }
  taken = hold{this, key};
  return std::nullopt;
}

void keys_in_flight::leave(const uuid& key) {
  const std::lock_guard guard{lock_};
  keys_.erase(key);
}

} // namespace fq::net
