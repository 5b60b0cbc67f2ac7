// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking of identifiers, and their text form.
#include "domain/base/ids.hpp"

#include "domain/base/hex.hpp"

namespace fq {
namespace {

constexpr std::uint64_t low30 = (std::uint64_t{1} << 30) - 1;
constexpr std::uint64_t version_7 = std::uint64_t{7} << 12;
constexpr std::uint64_t variant_rfc = std::uint64_t{2} << 62;

uuid pack(timestamp now, aggregate_id owner, std::uint64_t bits42) {
  const auto ms = static_cast<std::uint64_t>(unix_ms(now)) & 0xffff'ffff'ffffull;
  return {(ms << 16) | version_7 | ((bits42 >> 30) & 0xfff),
          variant_rfc | (std::uint64_t{number_of(owner)} << 30) | (bits42 & low30)};
}

} // namespace

uuid make_uuid(timestamp now, aggregate_id owner, std::uint64_t random) { return pack(now, owner, random); }

entry_id make_entry_id(timestamp joined_at, aggregate_id owner, queue_number n) {
  return pack(joined_at, owner, value_of(n) & queue_number_max);
}

aggregate_id owner_of(const uuid& id) {
  return aggregate_id{static_cast<std::uint32_t>((id.lo >> 30) & 0xffff'ffff)};
}

queue_number queue_number_of(const entry_id& id) {
  return queue_number{(((id.hi & 0xfff) << 30) | (id.lo & low30)) & queue_number_max};
}

timestamp time_of(const uuid& id) { return from_unix_ms(static_cast<std::int64_t>(id.hi >> 16)); }

char* write_text(const uuid& id, char* out) {
  out = write_hex(id.hi >> 32, 4, out);
  *out++ = '-';
  out = write_hex(id.hi >> 16, 2, out);
  *out++ = '-';
  out = write_hex(id.hi, 2, out);
  *out++ = '-';
  out = write_hex(id.lo >> 48, 2, out);
  *out++ = '-';
  return write_hex(id.lo, 6, out);
}

std::string to_string(const uuid& id) {
  std::string text(36, '\0');
  write_text(id, text.data());
  return text;
}

std::optional<uuid> parse_uuid(std::string_view text) {
  if (text.size() != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-')
    return std::nullopt;
  const auto* from = text.data();
  const auto a = read_hex(from, 8), b = read_hex(from + 9, 4), c = read_hex(from + 14, 4),
             d = read_hex(from + 19, 4), e = read_hex(from + 24, 12);
  if (!a || !b || !c || !d || !e) return std::nullopt;
  return uuid{*a << 32 | *b << 16 | *c, *d << 48 | *e};
}

} // namespace fq
