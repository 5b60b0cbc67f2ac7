// SPDX-License-Identifier: Apache-2.0
#include "domain/base/address_text.hpp"

#include "domain/base/ids.hpp"

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

/// As CAF writes it: the highest byte first.
std::string bytes_of(const uuid& id) {
  std::string bytes;
  for (const auto half : {id.hi, id.lo})
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(half >> shift);
  return bytes;
}

bool is_address(std::string_view name) { return name.find('@') != std::string_view::npos; }

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

/// Quotes of a value are escaped, so no text of a person passes for the member.
std::string_view order_of_mail(std::string_view text) {
  constexpr std::string_view topic = "mail.send\n", begin = R"({"template":)", member = R"("order_id":")";
  constexpr std::size_t id_size = 36;
  if (text.starts_with(topic)) text.remove_prefix(topic.size());
  if (!text.starts_with(begin)) return {};
  const auto at = text.find(member);
  return at == std::string_view::npos ? std::string_view{} : text.substr(at + member.size(), id_size);
}

bool is_of(std::string_view text, std::string_view name) {
  return is_address(name) ? names_address(text, name) : !name.empty() && order_of_mail(text) == name;
}

bool is_of_serialized(std::string_view bytes, std::string_view name) {
  if (is_address(name)) return names_address_serialized(bytes, name);
  const auto id = parse_uuid(name);
  return id && bytes.find(bytes_of(*id)) != std::string_view::npos;
}

} // namespace fq
