// SPDX-License-Identifier: Apache-2.0
#include "domain/sale/unknown_payment.hpp"

#include <array>
#include <charconv>

namespace fq {

std::string text_of(const unknown_payment& p) {
  return p.gateway + '\n' + p.reference + '\n' + p.gateway_id + '\n' + std::to_string(p.captured) + '\n'
         + p.currency;
}

std::optional<unknown_payment> parse_unknown_payment(std::string_view text) {
  std::array<std::string_view, 5> lines;
  for (auto& line : lines) {
    line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  unknown_payment p{std::string{lines[0]}, std::string{lines[1]}, std::string{lines[2]}, 0,
                    std::string{lines[4]}};
  const auto [stop, error] = std::from_chars(lines[3].data(), lines[3].data() + lines[3].size(), p.captured);
  if (error != std::errc{} || stop != lines[3].data() + lines[3].size()) return std::nullopt;
  return p;
}

uuid derived_id(const uuid& from, std::string_view word) {
  std::uint64_t hash = 0xcbf29ce484222325ull; // FNV-1a
  for (const char c : to_string(from).append(word))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return make_uuid(time_of(from), owner_of(from), hash ^ hash >> 32);
}

} // namespace fq
