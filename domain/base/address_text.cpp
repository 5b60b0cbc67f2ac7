// SPDX-License-Identifier: Apache-2.0
#include "domain/base/address_text.hpp"

#include <cstddef>
#include <string>

namespace fq {
namespace {

bool is_part(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || std::string_view{".!#$%&'*+/=?^_`{|}~-"}.find(c) != std::string_view::npos;
}

/// CAF's length of a text: seven bits a byte, the lowest first.
std::string length_bytes(std::size_t size) {
  std::string bytes;
  for (; size > 0x7f; size >>= 7) bytes += static_cast<char>((size & 0x7f) | 0x80);
  return bytes + static_cast<char>(size);
}

} // namespace

bool names_address(std::string_view text, std::string_view address) {
  for (auto at = text.find(address); at != std::string_view::npos; at = text.find(address, at + 1)) {
    const auto end = at + address.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

bool names_address_serialized(std::string_view bytes, std::string_view address) {
  return bytes.find(length_bytes(address.size()).append(address)) != std::string_view::npos
         || names_address(bytes, address);
}

} // namespace fq
