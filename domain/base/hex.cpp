// SPDX-License-Identifier: Apache-2.0
#include "domain/base/hex.hpp"

#include <algorithm>

namespace fq {

std::optional<std::vector<std::uint8_t>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_value(text[i]);
    const int low = hex_value(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return bytes;
}

std::array<std::uint8_t, 32> digest_of_hex(std::string_view digits) {
  std::array<std::uint8_t, 32> digest{};
  if (const auto bytes = from_hex(digits); bytes && bytes->size() == digest.size())
    std::ranges::copy(*bytes, digest.begin());
  return digest;
}

} // namespace fq
