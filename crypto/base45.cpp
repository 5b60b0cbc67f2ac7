// SPDX-License-Identifier: Apache-2.0
#include "crypto/base45.hpp"

#include <array>

namespace fq {
namespace {

constexpr std::string_view base45_alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";
constexpr unsigned base45_radix = 45;
static_assert(base45_alphabet.size() == base45_radix);

constexpr auto base45_values = [] {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < base45_alphabet.size(); ++i)
    values[static_cast<unsigned char>(base45_alphabet[i])] = static_cast<std::int8_t>(i);
  return values;
}();

/// The number that `digits` are, the lowest first; empty if one is no digit.
std::optional<unsigned> number_of(std::string_view digits) noexcept {
  unsigned number = 0;
  for (auto at = digits.size(); at-- > 0;) {
    const int value = base45_values[static_cast<unsigned char>(digits[at])];
    if (value < 0) return std::nullopt;
    number = number * base45_radix + static_cast<unsigned>(value);
  }
  return number;
}

void append_digits(std::string& text, unsigned number, int digits) {
  for (; digits > 0; --digits, number /= base45_radix) text += base45_alphabet[number % base45_radix];
}

} // namespace

std::string to_base45(byte_view bytes) {
  std::string text;
  text.reserve(bytes.size() / 2 * 3 + 2);
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) append_digits(text, bytes[at] * 256u + bytes[at + 1], 3);
  if (at < bytes.size()) append_digits(text, bytes[at], 2);
  return text;
}

std::optional<std::size_t> from_base45(std::string_view text, std::span<std::uint8_t> out) noexcept {
  const auto pairs = text.size() / 3, rest = text.size() % 3;
  const auto size = pairs * 2 + (rest == 2 ? 1 : 0);
  if (rest == 1 || size > out.size()) return std::nullopt;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const auto number = number_of(text.substr(pair * 3, 3));
    if (!number || *number > 0xffff) return std::nullopt;
    out[pair * 2] = static_cast<std::uint8_t>(*number >> 8);
    out[pair * 2 + 1] = static_cast<std::uint8_t>(*number & 0xff);
  }
  if (rest == 0) return size;
  const auto last = number_of(text.substr(pairs * 3));
  if (!last || *last > 0xff) return std::nullopt;
  out[size - 1] = static_cast<std::uint8_t>(*last);
  return size;
}

} // namespace fq
