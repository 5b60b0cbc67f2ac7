// SPDX-License-Identifier: Apache-2.0
#include "load/wire/http_reply.hpp"

#include <charconv>

namespace fq::load {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same_text(std::string_view a, std::string_view lower_b) {
  if (a.size() != lower_b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower_b[i]) return false;
  return true;
}

bool has_word(std::string_view list, std::string_view lower_word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    auto word = list.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (same_text(word, lower_word)) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

template <class Number>
bool whole_number(std::string_view text, Number& out, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool take_field(std::string_view name, std::string_view value, reply_head& head) {
  switch (name.size()) {
    case 10:
      if (same_text(name, "connection")) head.keep_alive = head.keep_alive && !has_word(value, "close");
      return true;
    case 11:
      if (same_text(name, "retry-after")) whole_number(value, head.retry_after_s);
      return true;
    case 14:
      if (!same_text(name, "content-length")) return true;
      head.has_length = true;
      return whole_number(value, head.content_length) && head.content_length <= reply_body_max_bytes;
    case 17:
      if (same_text(name, "transfer-encoding")) head.chunked = has_word(value, "chunked");
      return true;
    case 20:
      if (same_text(name, "idempotency-replayed"))
        head.replayed = same_text(value, "true");
      else if (same_text(name, "sec-websocket-accept"))
        head.websocket_accept = value;
      return true;
    default: return true;
  }
}

// Decodes a chunked body at the start of `data`; `used`: the bytes that it consumed.
parse_result take_chunks(std::string_view data, std::string& body, std::size_t& used) {
  std::size_t at = 0;
  body.clear();
  for (;;) {
    const auto line_end = data.find("\r\n", at);
    if (line_end == std::string_view::npos)
      return data.size() - at > 64 ? parse_result::bad : parse_result::need_more;
    auto size_text = data.substr(at, line_end - at);
    size_text = size_text.substr(0, size_text.find(';'));
    std::size_t size = 0;
    if (!whole_number(size_text, size, 16) || body.size() + size > reply_body_max_bytes)
      return parse_result::bad;
    at = line_end + 2;
    if (size == 0) {
      // Trailers are not supported; an empty line ends the body.
      if (data.size() < at + 2) return parse_result::need_more;
      if (data.substr(at, 2) != "\r\n") return parse_result::bad;
      used = at + 2;
      return parse_result::done;
    }
    if (data.size() < at + size + 2) return parse_result::need_more;
    if (data.substr(at + size, 2) != "\r\n") return parse_result::bad;
    body.append(data.substr(at, size));
    at += size + 2;
  }
}

} // namespace

parse_result parse_head(std::string_view data, reply_head& head) {
  const auto end = data.find("\r\n\r\n");
  if (end == std::string_view::npos)
    return data.size() > reply_head_max_bytes ? parse_result::bad : parse_result::need_more;
  if (end < 12 || end > reply_head_max_bytes || !data.starts_with("HTTP/1.")) return parse_result::bad;
  head = reply_head{};
  head.head_bytes = end + 4;
  head.keep_alive = data[7] == '1';
  if (data[8] != ' ' || !whole_number(data.substr(9, 3), head.status) || head.status < 100)
    return parse_result::bad;
  auto at = data.find("\r\n") + 2;
  while (at < end + 2) {
    const auto line_end = data.find("\r\n", at);
    const auto line = data.substr(at, line_end - at);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return parse_result::bad;
    auto value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    if (!take_field(line.substr(0, colon), value, head)) return parse_result::bad;
    at = line_end + 2;
  }
  return parse_result::done;
}

parse_result take_reply(std::string& inbox, bool at_end, http_reply& reply) {
  for (;;) {
    reply_head head;
    const auto parsed = parse_head(inbox, head);
    if (parsed != parse_result::done) return parsed;
    if (head.status < 200 && head.status != 101) {
      inbox.erase(0, head.head_bytes);
      continue;
    }
    reply.status = head.status;
    reply.retry_after_s = head.retry_after_s;
    reply.replayed = head.replayed;
    reply.keep_alive = head.keep_alive;
    reply.websocket_accept = head.websocket_accept;
    reply.body.clear();
    const bool no_body = head.status == 101 || head.status == 204 || head.status == 304;
    std::size_t body_bytes = 0;
    const auto rest = std::string_view(inbox).substr(head.head_bytes);
    if (no_body) {
      body_bytes = 0;
    } else if (head.chunked) {
      const auto chunks = take_chunks(rest, reply.body, body_bytes);
      if (chunks != parse_result::done) return chunks;
    } else if (head.has_length) {
      if (rest.size() < head.content_length) return parse_result::need_more;
      body_bytes = head.content_length;
      reply.body = rest.substr(0, body_bytes);
    } else {
      if (rest.size() > reply_body_max_bytes) return parse_result::bad;
      if (!at_end) return parse_result::need_more;
      body_bytes = rest.size();
      reply.body = rest;
      reply.keep_alive = false;
    }
    inbox.erase(0, head.head_bytes + body_bytes);
    return parse_result::done;
  }
}

} // namespace fq::load
