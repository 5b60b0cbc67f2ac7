// SPDX-License-Identifier: Apache-2.0
// An identifier in sixteen bytes, so that a history of a million sightings stays small. Used by the simulated
// fans and the checker.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq::load {

struct uuid {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  auto operator<=>(const uuid&) const = default;
  [[nodiscard]] bool is_nil() const { return high == 0 && low == 0; }
};

struct uuid_hash {
  std::size_t operator()(const uuid& id) const noexcept {
    return static_cast<std::size_t>(id.high ^ (id.low * 0x9E3779B97F4A7C15ULL));
  }
};

// Accepts only the 8-4-4-4-12 hexadecimal form.
inline std::optional<uuid> parse_uuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  uuid out;
  int digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (c != '-') return std::nullopt;
      continue;
    }
    std::uint64_t nibble = 0;
    if (c >= '0' && c <= '9')
      nibble = static_cast<std::uint64_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      nibble = static_cast<std::uint64_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      nibble = static_cast<std::uint64_t>(c - 'A' + 10);
    else
      return std::nullopt;
    auto& half = digits < 16 ? out.high : out.low;
    half = (half << 4) | nibble;
    ++digits;
  }
  return out;
}

inline std::string to_string(const uuid& id) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) out += '-';
    const auto half = digit < 16 ? id.high : id.low;
    out += hex[(half >> (60 - 4 * (digit % 16))) & 0xF];
  }
  return out;
}

} // namespace fq::load
