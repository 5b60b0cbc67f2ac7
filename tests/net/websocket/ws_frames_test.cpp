// SPDX-License-Identifier: Apache-2.0
// WebSocket frames: close codes of refused frames, for any split of the bytes.
#define CAF_SUITE net_ws_frames
#include "caf/test/unit_test.hpp"

#include "net/http/websocket.hpp"
#include "net/websocket/ws_frames.hpp"

#include <string>
#include <vector>

namespace ws_frames_test {

using namespace fq::net;

namespace {

struct log final : ws_listener {
  std::string text;
  void on_message() override { text += "message "; }
  void on_ping(std::string_view payload) override { text += "ping(" + std::string{payload} + ") "; }
  void on_pong() override { text += "pong "; }
  void on_close(ws_close code) override { text += "close " + std::to_string(static_cast<int>(code)) + " "; }
  void on_violation(ws_close code) override {
    text += "violation " + std::to_string(static_cast<int>(code)) + " ";
  }
};

std::string frame(unsigned first, const std::string& payload, bool masked = true) {
  std::string out{static_cast<char>(first)};
  const unsigned mask_bit = masked ? 0x80 : 0;
  if (payload.size() < 126) {
    out += static_cast<char>(mask_bit | payload.size());
  } else {
    out += static_cast<char>(mask_bit | 126);
    out += static_cast<char>(payload.size() >> 8);
    out += static_cast<char>(payload.size() & 0xff);
  }
  const char mask[] = {0x11, 0x22, 0x33, 0x44};
  if (masked) out.append(mask, 4);
  for (std::size_t i = 0; i < payload.size(); ++i)
    out += static_cast<char>(masked ? payload[i] ^ mask[i & 3] : payload[i]);
  return out;
}

/// The reader's result for input in pieces of `size` bytes.
std::string read(std::string bytes, std::size_t size = 1'000'000) {
  ws_reader reader;
  log heard;
  for (std::size_t at = 0; at < bytes.size(); at += size)
    if (!reader.feed({bytes.data() + at, std::min(size, bytes.size() - at)}, heard)) break;
  return heard.text;
}

std::string close_payload(unsigned code, const std::string& why = {}) {
  return std::string{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)} + why;
}

} // namespace

CAF_TEST(messages pings and pongs are noticed) {
  const auto bytes = frame(0x81, "hi") + frame(0x89, "abc") + frame(0x8a, "")
                     + frame(0x82, std::string(300, '\xff')) + frame(0x01, "a") + frame(0x89, "")
                     + frame(0x80, "b");
  const std::string expected = "message ping(abc) pong message ping() message ";
  CAF_CHECK_EQUAL(read(bytes), expected);
  for (std::size_t size = 1; size < 20; ++size) CAF_CHECK_EQUAL(read(bytes, size), expected);
}

CAF_TEST(protocol errors are 1002) {
  const std::string refused = "violation 1002 ";
  CAF_CHECK_EQUAL(read(frame(0x81, "hi", false)), refused); // unmasked
  CAF_CHECK_EQUAL(read(frame(0xc1, "hi")), refused); // RSV1
  CAF_CHECK_EQUAL(read(frame(0x83, "hi")), refused); // unknown opcode
  CAF_CHECK_EQUAL(read(frame(0x8b, "")), refused);
  CAF_CHECK_EQUAL(read(frame(0x09, "")), refused); // fragmented control
  CAF_CHECK_EQUAL(read(frame(0x89, std::string(126, 'x'))), refused); // long control
  CAF_CHECK_EQUAL(read(frame(0x80, "x")), refused); // continuation without a start
  CAF_CHECK_EQUAL(read(frame(0x01, "x") + frame(0x81, "y")), refused); // interleaved
  CAF_CHECK_EQUAL(read(std::string{"\x81\xfe\x00\x05", 4} + "mask" + "hello"),
                  refused); // not the shortest length
  CAF_CHECK_EQUAL(read(frame(0x88, "x")), refused);
  for (unsigned code : {999u, 1004u, 1005u, 1006u, 1015u, 2999u, 5000u})
    CAF_CHECK_EQUAL(read(frame(0x88, close_payload(code))), refused);
}

CAF_TEST(text must be utf 8) {
  CAF_CHECK_EQUAL(read(frame(0x81, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")), "message ");
  for (const char* bad :
       {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xf5\x80\x80\x80"})
    CAF_CHECK_EQUAL(read(frame(0x81, bad)), "violation 1007 ");
  CAF_CHECK_EQUAL(read(frame(0x01, "\xe2") + frame(0x80, "\x82\xac")), "message ");
  CAF_CHECK_EQUAL(read(frame(0x88, close_payload(1000, "\xff"))), "violation 1007 ");
  CAF_CHECK_EQUAL(read(frame(0x82, "\xff")), "message ");
}

CAF_TEST(more than 8 KiB is 1009) {
  CAF_CHECK_EQUAL(read(frame(0x81, std::string(8192, 'x'))), "message ");
  CAF_CHECK_EQUAL(read(frame(0x81, std::string(8193, 'x'))), "violation 1009 ");
  CAF_CHECK_EQUAL(read(frame(0x01, std::string(8000, 'x')) + frame(0x80, std::string(193, 'x'))),
                  "violation 1009 ");
  CAF_CHECK_EQUAL(read(std::string{"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10} + "mask"),
                  "violation 1009 ");
}

CAF_TEST(close codes are heard and nothing after them) {
  CAF_CHECK_EQUAL(read(frame(0x88, close_payload(1000, "bye")) + frame(0x81, "x")), "close 1000 ");
  CAF_CHECK_EQUAL(read(frame(0x88, "")), "close 1005 ");
  CAF_CHECK_EQUAL(read(frame(0x88, close_payload(4999))), "close 4999 ");
}

CAF_TEST(frames are written in the shortest form) {
  std::string out;
  append_frame(out, ws_opcode::text, "hi");
  CAF_CHECK_EQUAL(out, std::string("\x81\x02hi", 4));
  out.clear();
  append_frame(out, ws_opcode::text, std::string(126, 'x'));
  CAF_CHECK_EQUAL(out.substr(0, 4), std::string("\x81\x7e\x00\x7e", 4));
  out.clear();
  append_frame(out, ws_opcode::text, std::string(65536, 'x'));
  CAF_CHECK_EQUAL(out.substr(0, 10), std::string("\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10));
  out.clear();
  append_close(out, ws_close::service_restart);
  CAF_CHECK_EQUAL(out, std::string("\x88\x02\x03\xf4", 4));
}

CAF_TEST(the accept value is that of RFC 6455) {
  CAF_CHECK_EQUAL(accept_of("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

CAF_TEST(handshakes are checked) {
  request req;
  req.fields = {{"Upgrade", "websocket"},
                {"Connection", "keep-alive, Upgrade"},
                {"Sec-WebSocket-Version", "13"},
                {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
  CAF_CHECK(!check_handshake(req));
  auto other = req;
  other.fields[2].second = "12";
  CAF_CHECK(check_handshake(other) == http_refusal::upgrade_required);
  other = req;
  other.fields[3].second = "short";
  CAF_CHECK(check_handshake(other) == http_refusal::bad_handshake);
  other = req;
  other.fields[1].second = "close";
  CAF_CHECK(check_handshake(other) == http_refusal::upgrade_required);
  other = req;
  other.verb = method::post;
  CAF_CHECK(check_handshake(other) == http_refusal::bad_handshake);
}

} // namespace ws_frames_test
