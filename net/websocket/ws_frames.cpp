// SPDX-License-Identifier: Apache-2.0
#include "net/websocket/ws_frames.hpp"

#include <algorithm>
#include <array>

namespace fq::net {

namespace {

bool is_close_code(unsigned code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

bool is_utf8(std::string_view text) {
  utf8_checker checker;
  for (const char c : text)
    if (!checker.feed(static_cast<unsigned char>(c))) return false;
  return checker.complete();
}

} // namespace

void append_frame(std::string& out, ws_opcode opcode, std::string_view payload) {
  out.push_back(static_cast<char>(0x80 | static_cast<unsigned>(opcode)));
  const auto size = payload.size();
  if (size < 126) {
    out.push_back(static_cast<char>(size));
  } else {
    const unsigned bytes = size < 65536 ? 2 : 8;
    out.push_back(static_cast<char>(bytes == 2 ? 126 : 127));
    for (unsigned i = bytes; i-- > 0;)
      out.push_back(static_cast<char>(static_cast<std::uint64_t>(size) >> (8 * i) & 0xff));
  }
  out.append(payload);
}

void append_close(std::string& out, ws_close code, std::string_view why) {
  if (code == ws_close::no_status) return append_frame(out, ws_opcode::close, {});
  const auto number = static_cast<unsigned>(code);
  std::string payload{static_cast<char>(number >> 8), static_cast<char>(number & 0xff)};
  payload.append(why.substr(0, control_payload_max - 2));
  append_frame(out, ws_opcode::close, payload);
}

bool ws_reader::violate(ws_close code, ws_listener& listener) {
  listener.on_violation(code);
  return false;
}

bool ws_reader::header_complete() const {
  if (header_size_ < 2) return false;
  const unsigned length = header_[1] & 0x7f;
  const unsigned extended = length == 126 ? 2 : length == 127 ? 8 : 0;
  const unsigned mask = header_[1] & 0x80 ? 4 : 0;
  return header_size_ == 2 + extended + mask;
}

bool ws_reader::feed(std::span<char> data, ws_listener& listener) {
  while (!data.empty()) {
    if (!in_payload_) {
      header_[header_size_++] = static_cast<unsigned char>(data.front());
      data = data.subspan(1);
      if (!header_complete()) continue;
      if (!begin_frame(listener)) return false;
      if (remaining_ == 0 && !end_frame(listener)) return false;
      continue;
    }
    const auto part = data.first(std::min<std::size_t>(data.size(), remaining_));
    data = data.subspan(part.size());
    if (!take_payload(part, listener)) return false;
    if (remaining_ == 0 && !end_frame(listener)) return false;
  }
  return true;
}

/// Checks a complete frame header, in the order of the RFC.
bool ws_reader::begin_frame(ws_listener& listener) {
  using enum ws_close;
  const bool fin = header_[0] & 0x80;
  const unsigned opcode = header_[0] & 0x0f;
  if (header_[0] & 0x70) return violate(protocol_error, listener); // no extension was negotiated
  if ((opcode > 2 && opcode < 8) || opcode > 10) return violate(protocol_error, listener);
  if (!(header_[1] & 0x80)) return violate(protocol_error, listener); // clients must mask
  std::uint64_t length = header_[1] & 0x7f;
  if (length >= 126) {
    const unsigned bytes = length == 126 ? 2 : 8;
    length = 0;
    for (unsigned i = 0; i < bytes; ++i) length = length << 8 | header_[2 + i];
    if (length < (bytes == 2 ? 126u : 65536u))
      return violate(protocol_error, listener); // not the shortest form
  }
  if (is_control()) {
    if (!fin || length > control_payload_max) return violate(protocol_error, listener);
    control_.clear();
  } else {
    if ((opcode == 0) != in_message_) return violate(protocol_error, listener);
    if (!in_message_) {
      is_text_ = opcode == 1;
      message_size_ = 0;
      text_.reset();
    }
    if (length > ws_message_max - message_size_) return violate(too_big, listener);
    message_size_ += static_cast<std::uint32_t>(length);
    in_message_ = !fin;
  }
  remaining_ = static_cast<std::uint32_t>(length);
  mask_at_ = 0;
  in_payload_ = true;
  return true;
}

bool ws_reader::take_payload(std::span<char> data, ws_listener& listener) {
  std::array<char, 4> mask{}; // locals, because `data` could be our members for all that the compiler knows
  for (unsigned i = 0; i < 4; ++i)
    mask[i] = static_cast<char>(header_[header_size_ - 4 + ((mask_at_ + i) & 3)]);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(data[i] ^ mask[i & 3]);
  mask_at_ += static_cast<decltype(mask_at_)>(data.size());
  remaining_ -= static_cast<std::uint32_t>(data.size());
  if (is_control()) {
    control_.append(data.data(), data.size());
    return true;
  }
  if (is_text_)
    for (const char c : data)
      if (!text_.feed(static_cast<unsigned char>(c))) return violate(ws_close::invalid_text, listener);
  return true;
}

bool ws_reader::end_frame(ws_listener& listener) {
  in_payload_ = false;
  header_size_ = 0;
  if (is_control()) return end_control(listener);
  if (in_message_) return true;
  if (is_text_ && !text_.complete()) return violate(ws_close::invalid_text, listener);
  listener.on_message();
  return true;
}

bool ws_reader::end_control(ws_listener& listener) {
  const auto payload = std::move(control_);
  control_ = {};
  switch (static_cast<ws_opcode>(header_[0] & 0x0f)) {
    case ws_opcode::ping: listener.on_ping(payload); return true;
    case ws_opcode::pong: listener.on_pong(); return true;
    case ws_opcode::continuation:
    case ws_opcode::text:
    case ws_opcode::binary:
    case ws_opcode::close: break;
  }
  if (payload.empty()) {
    listener.on_close(ws_close::no_status);
    return false;
  }
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(payload[i]));
  };
  const unsigned code = payload.size() < 2 ? 0 : byte(0) << 8 | byte(1);
  if (!is_close_code(code)) return violate(ws_close::protocol_error, listener);
  if (!is_utf8(std::string_view{payload}.substr(2))) return violate(ws_close::invalid_text, listener);
  listener.on_close(static_cast<ws_close>(code));
  return false;
}

} // namespace fq::net
