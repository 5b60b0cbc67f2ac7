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

constexpr bool is_dash_position(int i) { return i == 8 || i == 13 || i == 18 || i == 23; }

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
  static constexpr char digits[] = "0123456789abcdef";
  for (int i = 0, nibble = 0; i < 36; ++i) {
    if (is_dash_position(i)) {
      *out++ = '-';
      continue;
    }
    const auto word = nibble < 16 ? id.hi : id.lo;
    *out++ = digits[(word >> (60 - 4 * (nibble % 16))) & 15];
    ++nibble;
  }
  return out;
}

std::string to_string(const uuid& id) {
  std::string text(36, '\0');
  write_text(id, text.data());
  return text;
}

std::optional<uuid> parse_uuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  uuid id;
  for (int i = 0, nibble = 0; i < 36; ++i) {
    if (is_dash_position(i)) {
      if (text[static_cast<std::size_t>(i)] != '-') return std::nullopt;
      continue;
    }
    const int v = hex_value(text[static_cast<std::size_t>(i)]);
    if (v < 0) return std::nullopt;
    auto& word = nibble < 16 ? id.hi : id.lo;
    word = (word << 4) | static_cast<std::uint64_t>(v);
    ++nibble;
  }
  return id;
}

} // namespace fq
