// SPDX-License-Identifier: Apache-2.0
// The cases are those of tests/net/http/framing_test.cpp.
#include "net/http/framing.hpp"

#include <algorithm>
#include <array>

namespace fq::net {

namespace {

using std::string_view;

constexpr bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

string_view trim(string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Removes the first element of a comma separated list from `rest` and returns it.
string_view next_element(string_view& rest) {
  const auto comma = rest.find(',');
  const auto element = trim(rest.substr(0, comma));
  rest = comma == string_view::npos ? string_view{} : rest.substr(comma + 1);
  return element;
}

/// Fields that must not be repeated: two of them are an attack or a mistake.
bool must_be_single(string_view name) {
  switch (name.size()) {
    case 4: return same_text(name, "host");
    case 6: return same_text(name, "origin") || same_text(name, "expect");
    case 12: return same_text(name, "content-type");
    case 13: return same_text(name, "authorization");
    case 14: return same_text(name, "content-length");
    case 15: return same_text(name, "idempotency-key");
    case 17: return same_text(name, "transfer-encoding") || same_text(name, "sec-websocket-key");
    default: return false;
  }
}

struct single_fields {
  std::optional<string_view> host, expect, content_length, transfer_encoding;
  bool repeated = false;
  bool connection_close = false;
  bool connection_keep_alive = false;
};

void note_connection(string_view value, single_fields& found) {
  while (!value.empty()) {
    const auto option = next_element(value);
    found.connection_close |= same_text(option, "close");
    found.connection_keep_alive |= same_text(option, "keep-alive");
  }
}

single_fields collect(std::span<const field_view> fields) {
  single_fields found;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, value] = fields[i];
    if (name.size() == 10 && same_text(name, "connection")) note_connection(value, found);
    if (!must_be_single(name)) continue;
    for (std::size_t j = 0; j < i; ++j) found.repeated |= same_text(fields[j].first, name);
    if (same_text(name, "host"))
      found.host = trim(value);
    else if (same_text(name, "expect"))
      found.expect = trim(value);
    else if (same_text(name, "content-length"))
      found.content_length = value;
    else if (same_text(name, "transfer-encoding"))
      found.transfer_encoding = trim(value);
  }
  return found;
}

constexpr auto authority_characters = [] {
  std::array<bool, 256> allowed{};
  for (std::size_t i = 0; i < allowed.size(); ++i)
    allowed[i] = is_visible(static_cast<char>(i))
                 && string_view{"/@\\?#,<>\"{}|^`"}.find(static_cast<char>(i)) == string_view::npos;
  return allowed;
}();

bool is_authority(string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return authority_characters[c]; });
}

framing refuse(http_refusal why, string_view detail) {
  framing verdict;
  verdict.no = why;
  verdict.detail = detail;
  verdict.keep_alive = false;
  return verdict;
}

/// Origin form of the target. The absolute form is accepted for http and https if its authority is the
/// Host. Empty: neither form.
string_view origin_form(string_view target, const std::optional<string_view>& host) {
  if (target.empty() || !std::all_of(target.begin(), target.end(), is_visible)
      || target.find('#') != string_view::npos)
    return {};
  if (target.front() == '/') return target;
  for (const string_view scheme : {string_view{"http://"}, string_view{"https://"}}) {
    if (target.size() < scheme.size() || !same_text(target.substr(0, scheme.size()), scheme)) continue;
    const auto rest = target.substr(scheme.size());
    const auto slash = rest.find('/');
    if (slash != string_view::npos && host && same_text(rest.substr(0, slash), *host))
      return rest.substr(slash);
  }
  return {};
}

/// For a Transfer-Encoding that is not exactly "chunked". 501 if it is a valid list that ends in chunked;
/// else 400, because the end of the body is unknown.
framing refuse_coding(string_view value) {
  bool last_is_chunked = false;
  std::size_t chunked = 0, elements = 0;
  for (auto rest = value; !rest.empty(); ++elements) {
    last_is_chunked = same_text(next_element(rest), "chunked");
    chunked += last_is_chunked;
  }
  if (elements > 1 && chunked == 1 && last_is_chunked)
    return refuse(http_refusal::not_implemented, "only the chunked transfer coding is implemented");
  return refuse(http_refusal::bad_request, "malformed Transfer-Encoding");
}

std::optional<std::uint64_t> parse_length(string_view text) {
  if (text.empty() || text.size() > content_length_digits_max) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

} // namespace

framing check_framing(const request_head& head) {
  using enum http_refusal;
  if (head.version != 10 && head.version != 11)
    return refuse(version_not_supported, "HTTP/1.1 or HTTP/1.0 is spoken here");
  if (head.fields.size() > request_fields_max) return refuse(header_too_large, "too many header fields");
  // Once legal, now an aid to request smuggling.
  if (head.has_folded_line) return refuse(bad_request, "folded header lines are refused");
  const auto found = collect(head.fields);
  if (found.repeated) return refuse(bad_request, "a header field that must be single is repeated");
  if (found.host ? !is_authority(*found.host) : head.version == 11)
    return refuse(bad_request, "exactly one valid Host is required");
  if (found.transfer_encoding) {
    if (head.version == 10) return refuse(bad_request, "Transfer-Encoding in HTTP/1.0");
    if (found.content_length) return refuse(bad_request, "both Content-Length and Transfer-Encoding");
    if (!same_text(*found.transfer_encoding, "chunked")) return refuse_coding(*found.transfer_encoding);
  }
  framing verdict;
  if (found.content_length) {
    const auto length = parse_length(*found.content_length);
    if (!length) return refuse(bad_request, "malformed Content-Length");
    verdict.kind = *length > 0 ? body_kind::length : body_kind::none;
    verdict.length = *length;
  } else if (found.transfer_encoding) {
    verdict.kind = body_kind::chunked;
  }
  verdict.target = origin_form(head.target, found.host);
  if (verdict.target.empty()) return refuse(bad_request, "malformed request target");
  const auto verb = method_of(head.method);
  if (!verb) {
    auto unknown = refuse(method_unknown, "unknown method");
    unknown.target = verdict.target; // the answer names the methods of the path
    return unknown;
  }
  verdict.verb = *verb;
  if (found.expect) {
    if (!same_text(*found.expect, "100-continue"))
      return refuse(expectation_failed, "only 100-continue can be expected");
    verdict.expects_continue = head.version == 11 && verdict.kind != body_kind::none;
  }
  verdict.keep_alive = !found.connection_close && (head.version == 11 || found.connection_keep_alive);
  return verdict;
}

} // namespace fq::net
