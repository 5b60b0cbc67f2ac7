// SPDX-License-Identifier: Apache-2.0
// Hexadecimal digits: of ids, keys, digests and percent escapes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace fq {

/// 0 to 15, for upper and lower case; -1 for any other character.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Accepts upper- and lower-case hex of any even length; empty for anything else.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text);

/// Of 64 digits; zeros for anything else.
[[nodiscard]] std::array<std::uint8_t, 32> digest_of_hex(std::string_view digits);

} // namespace fq
