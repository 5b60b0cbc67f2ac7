// SPDX-License-Identifier: Apache-2.0
#include "net/http/websocket.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

namespace fq::net {

namespace {

constexpr std::string_view handshake_guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
constexpr std::size_t sha1_size = 20;

/// Whether `key` is the base64 text of 16 bytes: 22 characters and "==".
bool is_key(std::string_view key) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return key.size() == 24 && key.substr(22) == "=="
         && std::all_of(key.begin(), key.begin() + 22,
                        [&](char c) { return alphabet.find(c) != std::string_view::npos; });
}

} // namespace

bool lists(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    auto element = list.substr(0, comma);
    while (!element.empty() && (element.front() == ' ' || element.front() == '\t')) element.remove_prefix(1);
    while (!element.empty() && (element.back() == ' ' || element.back() == '\t')) element.remove_suffix(1);
    if (same_text(element, token)) return true;
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return false;
}

std::optional<http_refusal> check_handshake(const request& req) {
  if (req.verb != method::get || req.http_1_0 || !req.body.empty()) return http_refusal::bad_handshake;
  if (!lists(req.field("upgrade"), "websocket") || !lists(req.field("connection"), "upgrade")
      || req.field("sec-websocket-version") != "13")
    return http_refusal::upgrade_required;
  if (!is_key(req.field("sec-websocket-key"))) return http_refusal::bad_handshake;
  return std::nullopt;
}

std::string accept_of(std::string_view key) {
  const auto text = std::string{key}.append(handshake_guid);
  std::array<unsigned char, sha1_size> digest{};
  unsigned size = sha1_size;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  std::string accept(28, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(accept.data()), digest.data(), sha1_size);
  return accept;
}

} // namespace fq::net
