// SPDX-License-Identifier: Apache-2.0
#include "load/wire/ws_frames.hpp"

#include <openssl/evp.h>

#include <array>

namespace fq::load {

namespace {

std::string base64(const unsigned char* data, std::size_t size) {
  std::string out(4 * ((size + 2) / 3) + 1, '\0');
  const int written =
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), data, static_cast<int>(size));
  out.resize(static_cast<std::size_t>(written));
  return out;
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t out = 0;
  for (const char c : bytes) out = (out << 8) | static_cast<unsigned char>(c);
  return out;
}

bool known_opcode(unsigned value) { return value <= 2 || (value >= 8 && value <= 10); }

} // namespace

parse_result take_frame(std::string& inbox, ws_frame& frame) {
  if (inbox.size() < 2) return parse_result::need_more;
  const auto first = static_cast<unsigned char>(inbox[0]);
  const auto second = static_cast<unsigned char>(inbox[1]);
  if ((first & 0x70) != 0 || (second & 0x80) != 0 || !known_opcode(first & 0x0F)) return parse_result::bad;
  const bool control = (first & 0x08) != 0;
  std::uint64_t length = second & 0x7F;
  if (control && ((first & 0x80) == 0 || length > 125)) return parse_result::bad;
  std::size_t head_bytes = 2;
  if (length >= 126) {
    const std::size_t extra = length == 126 ? 2 : 8;
    if (inbox.size() < 2 + extra) return parse_result::need_more;
    length = big_endian(std::string_view(inbox).substr(2, extra));
    head_bytes += extra;
  }
  if (length > ws_payload_max_bytes) return parse_result::bad;
  if (inbox.size() < head_bytes + length) return parse_result::need_more;
  frame.opcode = static_cast<ws_opcode>(first & 0x0F);
  frame.last = (first & 0x80) != 0;
  frame.payload.assign(inbox, head_bytes, static_cast<std::size_t>(length));
  inbox.erase(0, head_bytes + static_cast<std::size_t>(length));
  return parse_result::done;
}

std::string client_frame(ws_opcode opcode, std::string_view payload, std::uint32_t mask) {
  std::string out;
  out.reserve(payload.size() + 14);
  out += static_cast<char>(0x80 | static_cast<unsigned>(opcode));
  const auto size = payload.size();
  if (size < 126) {
    out += static_cast<char>(0x80 | size);
  } else {
    const int bytes = size <= 0xFFFF ? 2 : 8;
    out += static_cast<char>(0x80 | (bytes == 2 ? 126 : 127));
    for (int i = bytes - 1; i >= 0; --i)
      out += static_cast<char>((static_cast<std::uint64_t>(size) >> (8 * i)) & 0xFF);
  }
  const std::array<char, 4> key{static_cast<char>(mask >> 24), static_cast<char>(mask >> 16),
                                static_cast<char>(mask >> 8), static_cast<char>(mask)};
  out.append(key.data(), key.size());
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(payload[i] ^ key[i % 4]);
  return out;
}

std::string websocket_key(std::uint64_t high, std::uint64_t low) {
  std::array<unsigned char, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<unsigned char>(high >> (8 * i));
    bytes[8 + i] = static_cast<unsigned char>(low >> (8 * i));
  }
  return base64(bytes.data(), bytes.size());
}

std::string websocket_accept(std::string_view key) {
  std::string text(key);
  text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  return base64(digest.data(), size);
}

} // namespace fq::load
