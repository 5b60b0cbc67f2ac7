// SPDX-License-Identifier: Apache-2.0
// What a peer with a certificate may send: frames of CAF's protocol with bounded lengths, one handshake, only
// messages that nodes send, and nothing in another process' name.
#define CAF_SUITE mesh_frames
#include "caf/test/unit_test.hpp"

#include "app/limits.hpp"
#include "app/mesh_frames.hpp"
#include "tests/app/mesh_bytes.hpp"

#include <caf/atom.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/io/basp/header.hpp>

#include <string>
#include <vector>

using namespace fq;
using caf::io::basp::header;
using caf::io::basp::message_type;
using test::process, test::wire_bytes;

namespace {

std::vector<char> announced(message_type kind, std::uint32_t size) {
  const bool is_message = kind == message_type::direct_message || kind == message_type::routed_message;
  return wire_bytes(header{kind, 0, size, kind == message_type::server_handshake ? 3u : 0u,
                           kind == message_type::down_message ? 1u : 0u, is_message ? 7u : 0u});
}

/// As CAF writes a message: the actors that it has passed, the names of its types, the values.
template <class... Ts>
std::vector<char> message_of(const std::string& names, Ts... values) {
  return wire_bytes(std::vector<std::uint32_t>{}, std::uint16_t{0}, names, values...);
}

struct fixture {
  frame_guard guard{mesh_side::accepted, process(9)};
  std::string send(message_type kind, const std::vector<char>& payload) {
    if (const auto wrong = guard.read(announced(kind, static_cast<std::uint32_t>(payload.size())));
        !wrong.empty() || payload.empty())
      return std::string{wrong};
    return std::string{guard.read(payload)};
  }
  std::string send(const std::vector<char>& message) { return send(message_type::direct_message, message); }
  void shake_hands() { CAF_REQUIRE_EQUAL(send(message_type::client_handshake, wire_bytes(process(1))), ""); }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_frames_tests, fixture)

CAF_TEST(the first frame is the handshake and says which process the peer is) {
  CAF_CHECK(!guard.process());
  shake_hands();
  CAF_CHECK(guard.process() == process(1));
  CAF_CHECK_EQUAL(send(message_type::heartbeat, {}), "");
  CAF_CHECK_EQUAL(send(message_type::client_handshake, wire_bytes(process(1))), ""); // CAF repeats it
  CAF_CHECK_NOT_EQUAL(send(message_type::client_handshake, wire_bytes(process(2))), "");
}

CAF_TEST(nothing else comes before the handshake and each side has its own) {
  CAF_CHECK_NOT_EQUAL(send(message_type::heartbeat, {}), "");
  CAF_CHECK_NOT_EQUAL(send(message_type::server_handshake, wire_bytes(process(1))), "");
  CAF_CHECK_NOT_EQUAL(send(message_type::client_handshake, {}), "");
  CAF_CHECK_NOT_EQUAL(send(message_type::client_handshake, wire_bytes(std::uint8_t{9})), "");
  guard = frame_guard{mesh_side::dialed, process(9)};
  CAF_CHECK_EQUAL(send(message_type::server_handshake, wire_bytes(process(1))), "");
}

CAF_TEST(a header announces at most the largest message) {
  const auto length = [&](message_type kind, std::size_t size) {
    frame_guard fresh{guard};
    return std::string{fresh.read(announced(kind, static_cast<std::uint32_t>(size)))};
  };
  CAF_CHECK_EQUAL(length(message_type::client_handshake, handshake_bytes_max), "");
  CAF_CHECK_NOT_EQUAL(length(message_type::client_handshake, handshake_bytes_max + 1), "");
  shake_hands();
  CAF_CHECK_EQUAL(length(message_type::direct_message, frame_bytes_max), "");
  CAF_CHECK_NOT_EQUAL(length(message_type::direct_message, frame_bytes_max + 1), "");
  CAF_CHECK_NOT_EQUAL(length(message_type::direct_message, 0xFFFF'FFFF), "");
}

CAF_TEST(bytes that are no header are refused) {
  CAF_CHECK_NOT_EQUAL(guard.read(std::vector<char>(32, '\x7f')), "");
  CAF_CHECK_NOT_EQUAL(guard.read(std::vector<char>(31)), "");
  CAF_CHECK_EQUAL(guard.next_size(), 32u);
}

CAF_TEST(our messages and those of CAF that nodes need pass) {
  shake_hands();
  CAF_CHECK_EQUAL(send(message_of("@<>+fq::list_nodes")), "");
  CAF_CHECK_EQUAL(send(message_of("@<>+fq::list_nodes+fq::ack_reply")), "");
  CAF_CHECK_EQUAL(send(message_of("@<>")), "");
  CAF_CHECK_EQUAL(send(message_of("@<>+@atom+@atom+@str")), "");
}

CAF_TEST(no frame speaks for another process) {
  CAF_CHECK_NOT_EQUAL(send(message_type::client_handshake, wire_bytes(process(9))), ""); // ours
  guard = frame_guard{mesh_side::accepted, process(9)};
  shake_hands();
  CAF_CHECK_EQUAL(send(message_type::monitor_message, wire_bytes(process(1), process(9))), "");
  for (const auto& [from, to] : {std::pair{2u, 9u}, {9u, 9u}, {1u, 2u}}) {
    CAF_CHECK_NOT_EQUAL(send(message_type::monitor_message, wire_bytes(process(from), process(to))), "");
    CAF_CHECK_NOT_EQUAL(
      send(message_type::down_message, wire_bytes(process(from), process(to), std::uint8_t{1},
                                                  caf::atom("exit"), std::uint16_t{0}, std::string{"@<>"})),
      "");
    guard = frame_guard{mesh_side::accepted, process(9)};
    shake_hands();
  }
  for (const auto from : {1u, 2u}) { // also not itself: nodes relay nothing
    const auto routed = wire_bytes(process(from), process(9), std::vector<std::uint32_t>{}, std::uint16_t{0},
                                   std::string{"@<>+fq::list_nodes"});
    CAF_CHECK_NOT_EQUAL(send(message_type::routed_message, routed), "");
  }
}

CAF_TEST(handles in messages belong to the peer) {
  shake_hands();
  const auto handle = [](std::uint32_t owner) { return std::pair{std::uint64_t{7}, process(owner)}; };
  const auto null = std::pair{std::uint64_t{0}, caf::node_id{}};
  const auto stray = std::pair{std::uint64_t{7}, caf::node_id{}};
  for (const auto* names : {"@<>+fq::greet", "@<>+fq::greeting"}) {
    const auto greeting = [&](const auto& a, const auto& b, const auto& c) {
      return message_of(names, std::string{"node-a"}, a.first, a.second, b.first, b.second, c.first,
                        c.second);
    };
    CAF_CHECK_EQUAL(send(greeting(handle(1), handle(1), null)), "");
    CAF_CHECK_NOT_EQUAL(send(greeting(handle(1), handle(1), handle(2))), "");
    CAF_CHECK_NOT_EQUAL(send(greeting(handle(9), handle(1), handle(1))), "");
    CAF_CHECK_NOT_EQUAL(send(greeting(handle(1), stray, handle(1))), "");
  }
  const auto owner = [](const auto& x) { return message_of("@<>+fq::event_handle", x.first, x.second); };
  CAF_CHECK_EQUAL(send(owner(handle(1))), "");
  CAF_CHECK_NOT_EQUAL(send(owner(handle(2))), "");
  const auto spawner = [](const auto& x) {
    return message_of("@<>+@atom+@str+@strong_actor_ptr+@str", caf::atom("ok"), std::string{"info"}, x.first,
                      x.second, std::string{});
  };
  CAF_CHECK_EQUAL(send(spawner(handle(1))), "");
  CAF_CHECK_NOT_EQUAL(send(spawner(handle(2))), "");
  for (const auto* names : {"@<>+fq::cluster_changed", "@<>+fq::dial_node", "@<>+fq::node_dialed",
                            "@<>+fq::list_nodes+fq::event_handle"})
    CAF_CHECK_NOT_EQUAL(send(message_of(names)), "");
}

CAF_TEST(messages that end actors or nest or claim any length are refused) {
  shake_hands();
  for (const auto* names : {"@<>+@exit", "@<>+@down", "@<>+@charbuf", "@<>+@message", "@<>+@strvec",
                            "@<>+@atom+@strong_actor_ptr", "@<>+fq::greet+@charbuf",
                            "@<>+std::vector<fq::list_nodes>", "@<>+fq", "@<>+", "fq::greet", ""})
    CAF_CHECK_NOT_EQUAL(send(message_of(names)), "");
  CAF_CHECK_NOT_EQUAL(send(wire_bytes(std::vector<std::uint32_t>{1}, std::uint16_t{0}, std::string{"@<>"})),
                      "");
  CAF_CHECK_NOT_EQUAL(send(wire_bytes(std::uint8_t{0}, std::uint16_t{5})), ""); // a type by its number
}

CAF_TEST(an error carries at most a text or one of our messages) {
  shake_hands();
  const auto error = [](const std::string& names) {
    return message_of("@<>+@error", std::uint8_t{1}, caf::atom("fq"), std::uint16_t{0}, names);
  };
  for (const auto* names : {"@<>", "@<>+@str", "@<>+fq::join"}) CAF_CHECK_EQUAL(send(error(names)), "");
  for (const auto* names : {"@<>+@charbuf", "@<>+@error", "@<>+@message", "@<>+fq::greet"})
    CAF_CHECK_NOT_EQUAL(send(error(names)), "");
  const auto down = [](const std::string& names) {
    return wire_bytes(process(1), process(9), std::uint8_t{1}, caf::atom("exit"), std::uint16_t{0}, names);
  };
  CAF_CHECK_EQUAL(send(message_type::down_message, down("@<>")), "");
  CAF_CHECK_NOT_EQUAL(send(message_type::down_message, down("@<>+@charbuf")), "");
}

CAF_TEST_FIXTURE_SCOPE_END()
