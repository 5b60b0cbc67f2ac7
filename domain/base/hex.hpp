// SPDX-License-Identifier: Apache-2.0
// Hexadecimal digits: of ids, keys, digests and percent escapes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

namespace detail {
inline constexpr std::string_view hex_digits = "0123456789abcdef";

inline constexpr auto hex_values = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::int8_t i = 0; i < 16; ++i) {
    const auto digit = static_cast<unsigned char>(hex_digits[static_cast<std::size_t>(i)]);
    values[digit] = i;
    if (i > 9) values[digit - 'a' + 'A'] = i;
  }
  return values;
}();

/// "00" to "ff".
inline constexpr auto hex_pairs = [] {
  std::array<std::array<char, 2>, 256> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {hex_digits[i >> 4], hex_digits[i & 15]};
  return pairs;
}();
} // namespace detail

/// 0 to 15, for upper and lower case; -1 for any other character.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  return detail::hex_values[static_cast<unsigned char>(c)];
}

/// The low `bytes` bytes of `value`, with lower-case digits. Returns the end.
inline char* write_hex(std::uint64_t value, int bytes, char* out) noexcept {
  for (int i = bytes - 1; i >= 0; --i) {
    const auto& pair = detail::hex_pairs[value >> (8 * i) & 0xff];
    *out++ = pair[0];
    *out++ = pair[1];
  }
  return out;
}

[[nodiscard]] inline std::string hex_text(std::uint64_t value, int bytes = 8) {
  std::string text(static_cast<std::size_t>(bytes) * 2, '\0');
  write_hex(value, bytes, text.data());
  return text;
}

/// The value of `digits` digits; none if a character is no hex digit.
[[nodiscard]] inline std::optional<std::uint64_t> read_hex(const char* from, int digits) noexcept {
  std::uint64_t value = 0;
  int seen = 0;
  for (int i = 0; i < digits; ++i) {
    const int digit = hex_value(from[i]);
    seen |= digit;
    value = value << 4 | static_cast<std::uint64_t>(digit & 15);
  }
  return seen < 0 ? std::nullopt : std::optional{value};
}

/// Accepts upper- and lower-case hex of any even length; empty for anything else.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);

/// Of 64 digits; zeros for anything else.
[[nodiscard]] std::array<std::uint8_t, 32> digest_of_hex(std::string_view digits);

} // namespace fq
