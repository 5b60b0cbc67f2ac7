// SPDX-License-Identifier: Apache-2.0
// WebSockets over real sockets: updates of a place, and hostile peers.
#define CAF_SUITE net_socket
#include "caf/test/unit_test.hpp"

#include "net/websocket/hub.hpp"
#include "tests/net/server/client.hpp"
#include "tests/net/server/site.hpp"

#include <thread>

namespace socket_test {

using namespace fq;
using namespace fq::net;
using fake::client;
using fake::eventually;
using fake::world;

namespace {

bool is_type(const fake::ws_frame& f, std::string_view type) {
  return f.opcode == 1 && f.payload.find("\"type\":\"" + std::string{type} + "\"") != std::string::npos;
}

/// Opens a socket for the place and reads its `state` message.
void follow(client& c, std::uint64_t customer) {
  CAF_REQUIRE_EQUAL(c.open_socket(customer).status, 101u);
  CAF_REQUIRE(is_type(c.read_frame(), "state"));
}

} // namespace

CAF_TEST(a socket gets its state first) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  const auto r = c.open_socket(1004, "Sec-WebSocket-Protocol: fairqueue.v1, secret\r\n");
  CAF_CHECK_EQUAL(r.status, 101u);
  CAF_CHECK(r.has("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
  CAF_CHECK(r.has("Sec-WebSocket-Protocol: fairqueue.v1\r\n"));
  const auto f = c.read_frame();
  CAF_CHECK(is_type(f, "state"));
  CAF_CHECK(f.payload.find("\"queue_number\":5") != std::string::npos);
  CAF_CHECK(f.payload.find("\"event_status\":\"ACTIVE\"") != std::string::npos);
  CAF_CHECK_EQUAL(w.state.websockets.load(), 1);
}

CAF_TEST(without a place or a handshake there is no socket) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  CAF_CHECK_EQUAL(c.open_socket(1).status, 404u);
  const auto r = c.get("/ws/1004");
  CAF_CHECK_EQUAL(r.status, 426u);
  CAF_CHECK(r.has("Sec-WebSocket-Version: 13"));
  CAF_CHECK_EQUAL(c.open_socket(1004).status, 101u);
}

CAF_TEST(followers see positions and their admission) {
  world w{fake::test_site()};
  client first{w.server.public_port()}, third{w.server.public_port()}, tab{w.server.public_port()};
  follow(first, 1000);
  follow(third, 1002);
  follow(tab, 1002); // a second socket for the same place
  w.order(timer_kind::admission, 1);
  const auto admitted = first.read_frame();
  CAF_CHECK(is_type(admitted, "admitted"));
  CAF_CHECK(admitted.payload.find("admission_token") != std::string::npos);
  for (auto* c : {&third, &tab}) {
    const auto moved = c->read_frame();
    CAF_CHECK(is_type(moved, "position_changed"));
    CAF_CHECK(moved.payload.find("\"position\":2") != std::string::npos);
  }
}

CAF_TEST(those far behind hear of one percent at once and of less a second later) {
  world w{fake::test_site()};
  client far{w.server.public_port()}, near{w.server.public_port()};
  follow(far, 1000 + 9999);
  follow(near, 1000 + 199);
  w.order(timer_kind::admission, 5);
  CAF_CHECK(near.read_frame().payload.find("\"position\":195") != std::string::npos);
  // two sockets: the delay is at most one second
  CAF_CHECK(far.read_frame().payload.find("\"position\":9995") != std::string::npos);
  w.order(timer_kind::admission, 150);
  CAF_CHECK(near.read_frame().payload.find("\"position\":50") != std::string::npos);
  CAF_CHECK(far.read_frame().payload.find("\"position\":9850") != std::string::npos);
}

CAF_TEST(who asked for the seat map hears of its changes) {
  world w{fake::test_site()};
  client shopper{w.server.public_port()}, late{w.server.public_port()}, other{w.server.public_port()};
  CAF_REQUIRE_EQUAL(shopper.open_socket(1000, "X-Seats: 7\r\n").status, 101u);
  CAF_REQUIRE(is_type(shopper.read_frame(), "state"));
  CAF_REQUIRE_EQUAL(late.open_socket(1001, "X-Seats: 3\r\n").status, 101u);
  CAF_REQUIRE(is_type(late.read_frame(), "state"));
  follow(other, 1002);
  const auto again = late.read_frame(); // what changed since 3 is known to no socket
  CAF_CHECK(is_type(again, "seats")
            && again.payload.find("\"version\":7,\"reload\":true") != std::string::npos);
  w.order(timer_kind::sweep, 8);
  for (auto* c : {&shopper, &late}) {
    const auto news = c->read_frame();
    CAF_CHECK(is_type(news, "seats") && news.payload.find("\"from\":7") != std::string::npos);
  }
  w.order(timer_kind::journal);
  CAF_CHECK(is_type(other.read_frame(), "paused")); // and nothing about seats
}

CAF_TEST(the end of the sale closes who waits) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  follow(c, 1000);
  w.order(timer_kind::journal);
  CAF_CHECK(is_type(c.read_frame(), "paused"));
  w.order(timer_kind::flush);
  CAF_CHECK(is_type(c.read_frame(), "ended"));
  const auto f = c.read_frame();
  CAF_CHECK_EQUAL(f.opcode, 8u);
  CAF_CHECK_EQUAL(f.close_code(), 1000u);
  c.send_frame(0x88, f.payload);
  CAF_CHECK(c.ended());
  CAF_CHECK(eventually([&] { return w.state.connections == 0 && w.state.websockets == 0; }));
}

CAF_TEST(a peer that does not answer a close is cut) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  follow(c, 1000);
  w.order(timer_kind::flush);
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
}

CAF_TEST(sockets survive their owner and get a new state) {
  world w{fake::test_site()};
  client c{w.server.public_port()}, d{w.server.public_port()};
  follow(c, 1004);
  follow(d, 1005);
  w.order(timer_kind::idle);
  CAF_CHECK(is_type(c.read_frame(), "state"));
  CAF_CHECK(is_type(d.read_frame(), "state"));
  w.order(timer_kind::admission, 5);
  CAF_CHECK(is_type(c.read_frame(), "admitted"));
}

CAF_TEST(who follows an event that another node took is told to come back) {
  world w{fake::test_site()};
  client c{w.server.public_port()}, d{w.server.public_port()};
  follow(c, 1004);
  follow(d, 1005);
  w.order(timer_kind::renew);
  for (auto* follower : {&c, &d}) {
    const auto f = follower->read_frame();
    CAF_CHECK(is_type(f, "draining"));
    CAF_CHECK(f.payload.find("reconnect_after_ms") != std::string::npos);
    const auto close = follower->read_frame();
    CAF_CHECK_EQUAL(close.close_code(), 1012u);
    follower->send_frame(0x88, close.payload);
  }
  CAF_CHECK(eventually([&] { return w.state.websockets == 0; }));
}

CAF_TEST(pings are answered and closes returned) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  follow(c, 1004);
  c.send_frame(0x89, "hello");
  const auto pong = c.read_frame();
  CAF_CHECK_EQUAL(pong.opcode, 10u);
  CAF_CHECK_EQUAL(pong.payload, "hello");
  c.send_frame(0x81, "what clients say is ignored");
  c.send_frame(0x88, std::string{"\x03\xe9", 2});
  CAF_CHECK_EQUAL(c.read_frame().close_code(), 1001u);
  CAF_CHECK(c.ended());
}

CAF_TEST(a socket ends with the authority it was opened with) {
  world w{fake::test_site()};
  client brief{w.server.public_port()}, lasting{w.server.public_port()};
  CAF_REQUIRE_EQUAL(brief.open_socket(1004, "X-Seconds: 40\r\n").status, 101u);
  CAF_CHECK(is_type(brief.read_frame(), "state"));
  follow(lasting, 1005);
  w.clock.advance(milliseconds{26'000});
  CAF_CHECK_EQUAL(brief.read_frame().opcode, 9u); // fourteen seconds left
  CAF_CHECK_EQUAL(lasting.read_frame().opcode, 9u);
  w.clock.advance(milliseconds{15'000});
  const auto f = brief.read_frame();
  CAF_CHECK_EQUAL(f.opcode, 8u);
  CAF_CHECK_EQUAL(f.close_code(), 4401u);
  brief.send_frame(0x88, f.payload);
  CAF_CHECK(brief.ended());
  CAF_CHECK(eventually([&] { return w.state.websockets == 1; }));
  w.order(timer_kind::admission, 6);
  CAF_CHECK(is_type(lasting.read_frame(), "admitted"));
}

CAF_TEST(every 25 seconds a ping and who is silent for 60 is gone) {
  CAF_CHECK_EQUAL(ws_times{}.ping_interval, milliseconds{25'000});
  CAF_CHECK_EQUAL(ws_times{}.silence_max, milliseconds{60'000});
  world w{fake::test_site()};
  client lively{w.server.public_port()}, mute{w.server.public_port()};
  follow(lively, 1004);
  follow(mute, 1005);
  for (int i = 0; i < 3; ++i) {
    w.clock.advance(milliseconds{26'000});
    CAF_CHECK_EQUAL(lively.read_frame().opcode, 9u);
    lively.send_frame(0x8a, {});
    lively.send_frame(0x89, "heard"); // its pong proves that the earlier one arrived
    CAF_CHECK_EQUAL(lively.read_frame().payload, "heard");
  }
  CAF_CHECK_EQUAL(mute.read_frame().opcode, 9u);
  CAF_CHECK_EQUAL(mute.read_frame().opcode, 9u);
  CAF_CHECK_EQUAL(mute.read_frame().opcode, 0u); // cut: the peer does not read close frames
  CAF_CHECK(eventually([&] { return w.state.websockets == 1; }));
}

CAF_TEST(violations are closed with their code) {
  world w{fake::test_site()};
  const auto code_after = [&](unsigned first, std::string_view payload, bool masked) {
    client c{w.server.public_port()};
    follow(c, 1004);
    c.send_frame(first, payload, masked);
    return c.read_frame().close_code();
  };
  CAF_CHECK_EQUAL(code_after(0x81, "x", false), 1002u);
  CAF_CHECK_EQUAL(code_after(0x83, "x", true), 1002u);
  CAF_CHECK_EQUAL(code_after(0x81, "\xff", true), 1007u);
  client flood{w.server.public_port()};
  follow(flood, 1004);
  for (int i = 0; i < 100; ++i) flood.send_frame(0x81, "x");
  CAF_CHECK_EQUAL(flood.read_frame().close_code(), 1008u);
  client big{w.server.public_port()};
  follow(big, 1004);
  big.send(std::string{"\x81\xfe\x20\x01\0\0\0\0", 8} + std::string(8193, 'x'));
  CAF_CHECK_EQUAL(big.read_frame().close_code(), 1009u);
}

CAF_TEST(frames that end no message are limited too) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  follow(c, 1004);
  c.send_frame(0x01, "x");
  std::string parts;
  for (int i = 0; i < 20'000; ++i) parts.append("\x00\x80\0\0\0\0", 6);
  c.send(parts);
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
}

CAF_TEST(a peer that does not read is closed and never buffered without bound) {
  world w{fake::test_site()};
  client c{w.server.public_port(), 2048};
  follow(c, 1004);
  for (int i = 0; i < 300'000 && w.state.slow_sockets_closed == 0; ++i) {
    w.order(timer_kind::journal);
    if (i % 5000 == 0) std::this_thread::sleep_for(milliseconds{20});
  }
  CAF_CHECK(eventually([&] { return w.state.slow_sockets_closed == 1; }, 20'000));
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
}

CAF_TEST(a drain tells everybody when to come back) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  follow(c, 1004);
  std::thread drain{[&] { w.server.drain(milliseconds{5000}); }};
  const auto f = c.read_frame();
  CAF_CHECK(is_type(f, "draining"));
  CAF_CHECK(f.payload.find("reconnect_after_ms") != std::string::npos);
  const auto close = c.read_frame();
  CAF_CHECK_EQUAL(close.close_code(), 1012u);
  c.send_frame(0x88, close.payload);
  drain.join();
  CAF_CHECK_EQUAL(w.state.websockets.load(), 0);
}

CAF_TEST(small moves are told as often whatever the number of io threads) {
  for (const std::int64_t threads : {1, 2, 4}) {
    const auto on_each = [threads](std::size_t sockets) {
      return sockets / static_cast<std::size_t>(threads);
    };
    CAF_CHECK_EQUAL(refresh_of(on_each(10'000), threads).count(), 1'000);
    CAF_CHECK_EQUAL(refresh_of(on_each(100'000), threads).count(), 10'000);
    CAF_CHECK_EQUAL(refresh_of(on_each(1'000'000), threads).count(), 15'000);
  }
}

CAF_TEST(a place is asked about only if it may have moved enough) {
  struct row {
    std::uint64_t last, moves;
    int age_ms;
    bool is_due;
  };
  for (const auto& r : {row{10'000, 0, 5000, false}, row{10'000, 99, 900, false}, row{10'000, 100, 0, true},
                        row{10'000, 1, 1000, true}, row{150, 1, 0, false}, row{150, 2, 0, true},
                        row{101, 1, 0, true}, row{100, 1, 0, true}, row{5, 9, 0, true}})
    CAF_CHECK_EQUAL(may_be_due(r.last, r.moves, milliseconds{r.age_ms}, milliseconds{1000}), r.is_due);
}

CAF_TEST(a server with sockets starts and stops) {
  for (int run = 0; run < 100; ++run) {
    world w{fake::test_site()};
    client a{w.server.public_port()}, b{w.server.public_port()}, c{w.server.public_port()};
    CAF_REQUIRE_EQUAL(a.open_socket(1000).status, 101u);
    CAF_REQUIRE_EQUAL(b.open_socket(1001).status, 101u);
    if (run % 2) w.order(timer_kind::admission, 1);
    if (run % 3 == 0) w.order(timer_kind::idle);
    c.send("GET /ws/1003 HTTP/1.1\r\n");
    std::this_thread::sleep_for(std::chrono::microseconds{run * 37 % 3000});
    w.server.stop();
    CAF_REQUIRE_EQUAL(w.state.connections.load(), 0);
  }
}

} // namespace socket_test
