// SPDX-License-Identifier: Apache-2.0
#include "net/service/browser_mark.hpp"

#include "net/service/limits.hpp"

#include <charconv>
#include <cstdint>

namespace fq::net {
namespace {

/// "<id>.<end>.<hash>", the end in seconds of Unix time.
constexpr std::size_t id_size = 36;

} // namespace

browser_marks::browser_marks(const secret_key& stored) :
    key_(hmac_sha256(stored.bytes(), "fairqueue browser marks")) {}

/// An address has no line feed, so the text has one reading.
std::string browser_marks::hash_of(std::string_view email, std::string_view head) const {
  return to_base64url(key_(std::string{email} + '\n' + std::string{head}));
}

std::string browser_marks::issue(std::string_view email, const uuid& customer, std::uint64_t nonce,
                                 timestamp now) const {
  const auto ends_at = std::chrono::floor<seconds>(now + browser_mark_life).time_since_epoch().count();
  const auto head = to_string(uuid{nonce, customer.lo}) + '.' + std::to_string(ends_at);
  return head + '.' + hash_of(email, head);
}

uuid browser_marks::read(std::string_view text, std::string_view email, timestamp now) const {
  const auto point = text.rfind('.');
  if (text.size() > browser_mark_max || point == std::string_view::npos || point <= id_size) return {};
  const auto head = text.substr(0, point);
  if (!constant_time_equal(hash_of(email, head), text.substr(point + 1))) return {};
  std::int64_t ends_at = 0; // ours from here on
  std::from_chars(head.data() + id_size + 1, head.data() + head.size(), ends_at);
  const auto id = parse_uuid(head.substr(0, id_size));
  return id && unix_ms(now) < ends_at * 1000 ? *id : uuid{};
}

} // namespace fq::net
