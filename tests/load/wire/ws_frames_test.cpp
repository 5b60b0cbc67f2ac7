// SPDX-License-Identifier: Apache-2.0
// WebSocket framing, client side.
#define CAF_SUITE load.ws_frames
#include "caf/test/unit_test.hpp"

#include "load/wire/ws_frames.hpp"

using namespace fq::load;

CAF_TEST(the accept value is the one of RFC 6455) {
  CAF_CHECK_EQUAL(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  CAF_CHECK_EQUAL(websocket_key(1, 2).size(), 24u);
}

CAF_TEST(frames are taken one after the other) {
  std::string inbox("\x81\x03"
                    "abc"
                    "\x89\x00",
                    7);
  ws_frame frame;
  CAF_REQUIRE(take_frame(inbox, frame) == parse_result::done);
  CAF_CHECK(frame.opcode == ws_opcode::text);
  CAF_CHECK_EQUAL(frame.payload, "abc");
  CAF_REQUIRE(take_frame(inbox, frame) == parse_result::done);
  CAF_CHECK(frame.opcode == ws_opcode::ping);
  CAF_CHECK(take_frame(inbox, frame) == parse_result::need_more);
}

CAF_TEST(a long frame arrives in pieces) {
  std::string whole("\x81\x7e\x01\x00", 4);
  whole += std::string(256, 'x');
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto part = whole.substr(0, size);
    ws_frame frame;
    CAF_CHECK(take_frame(part, frame) == parse_result::need_more);
  }
  ws_frame frame;
  CAF_REQUIRE(take_frame(whole, frame) == parse_result::done);
  CAF_CHECK_EQUAL(frame.payload.size(), 256u);
}

CAF_TEST(what a server must not send is bad) {
  ws_frame frame;
  std::string masked("\x81\x81"
                     "maskx",
                     7);
  CAF_CHECK(take_frame(masked, frame) == parse_result::bad);
  std::string reserved("\xC1\x00", 2);
  CAF_CHECK(take_frame(reserved, frame) == parse_result::bad);
  std::string opcode("\x83\x00", 2);
  CAF_CHECK(take_frame(opcode, frame) == parse_result::bad);
  std::string long_ping("\x89\x7e\x00\x80", 4);
  CAF_CHECK(take_frame(long_ping, frame) == parse_result::bad);
  std::string huge("\x81\x7f\x00\x00\x00\x01\x00\x00\x00\x00", 10);
  CAF_CHECK(take_frame(huge, frame) == parse_result::bad);
}

CAF_TEST(our frames are masked) {
  const auto frame = client_frame(ws_opcode::pong, "hi", 0x01020304);
  CAF_REQUIRE_EQUAL(frame.size(), 8u);
  CAF_CHECK_EQUAL(static_cast<int>(static_cast<unsigned char>(frame[0])), 0x8A);
  CAF_CHECK_EQUAL(static_cast<int>(static_cast<unsigned char>(frame[1])), 0x82);
  CAF_CHECK_EQUAL(static_cast<int>(frame[6]), 'h' ^ 1);
}
