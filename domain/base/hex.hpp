// SPDX-License-Identifier: Apache-2.0
// Value of a hexadecimal digit, for ids, keys and percent escapes.
#pragma once

namespace fq {

/// 0 to 15, for upper and lower case; -1 for any other character.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

} // namespace fq
