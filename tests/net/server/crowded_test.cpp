// SPDX-License-Identifier: Apache-2.0
// A server at its limits of connections, sockets and waiting output: who must leave, and who is served.
#define CAF_SUITE net_crowded
#include "caf/test/unit_test.hpp"

#include "tests/net/server/client.hpp"
#include "tests/net/server/site.hpp"

#include <algorithm>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <thread>

namespace crowded_test {

using namespace fq;
using namespace fq::net;
using fake::client;
using fake::eventually;
using fake::held_clock;
using fake::with;
using fake::world;

CAF_TEST(at the connection limit idle ones make room and busy ones do not) {
  world w{fake::test_site(), with([](auto& o) { o.http.max_connections = 4; })};
  held_clock held{w}; // has one of the four connections
  std::vector<std::unique_ptr<client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<client>(w.server.public_port()));
    CAF_CHECK_EQUAL(clients.back()->get("/constant").status, 200u);
  }
  client refused{w.server.public_port()};
  CAF_CHECK_EQUAL(refused.read().status, 503u);
  CAF_CHECK(held.pass(milliseconds{1600}));
  client welcome{w.server.public_port()};
  CAF_CHECK_EQUAL(welcome.get("/constant").status, 200u);
  CAF_CHECK(clients.front()->ended());
}

CAF_TEST(at the connection limit who owes a request goes before who is idle and the oldest first) {
  world w{fake::test_site(), with([](auto& o) { o.http.max_connections = 3; })};
  const auto port = w.server.public_port();
  client idle{port};
  CAF_CHECK_EQUAL(idle.get("/constant").status, 200u);
  client silent{port};
  w.clock.advance(milliseconds{500}); // before any of their deadlines
  client dawdling{port};
  dawdling.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
  CAF_CHECK(eventually([&] { return w.state.connections == 3; }));
  const auto enters = [&](std::unique_ptr<client>& newcomer) {
    w.clock.advance(milliseconds{1500});
    return eventually([&] {
      newcomer = std::make_unique<client>(port);
      return newcomer->get("/constant").status == 200;
    });
  };
  std::unique_ptr<client> first, second, third;
  CAF_CHECK(enters(first));
  CAF_CHECK(silent.ended());
  CAF_CHECK(enters(second));
  CAF_CHECK(dawdling.ended());
  CAF_CHECK_EQUAL(idle.get("/constant").status, 200u);
  CAF_CHECK(enters(third));
  CAF_CHECK(first->ended()); // without open requests, the connection idle for longest is closed
  CAF_CHECK_EQUAL(w.state.connections_evicted.load(), 3u);
}

namespace {

/// Opens connections that stay silent.
std::vector<std::unique_ptr<client>> silent(std::uint16_t port, std::size_t count, const char* from) {
  std::vector<std::unique_ptr<client>> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::make_unique<client>(port, 0, from));
  return all;
}

std::size_t open_of(const std::vector<std::unique_ptr<client>>& all) {
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& c) { return !c->was_closed(); }));
}

} // namespace

CAF_TEST(below eighty percent an address may hold silent connections and above it loses them) {
  world w{fake::test_site(), with([](auto& o) { o.http.max_connections = 100; })};
  held_clock held{w};
  const auto port = w.server.public_port();
  auto crowd = silent(port, 78, "127.0.0.2");
  CAF_CHECK(eventually([&] { return w.state.connections == 79; })); // with the clock's
  CAF_CHECK(held.pass(milliseconds{4000}));
  CAF_CHECK_EQUAL(open_of(crowd), 78u);
  auto others = silent(port, 11, "127.0.0.3");
  CAF_CHECK(eventually([&] { return w.state.connections_evicted == 11; }));
  CAF_CHECK(held.pass(milliseconds{1500})); // now the others, too, are silent for long enough
  others.push_back(std::make_unique<client>(port, 0, "127.0.0.3"));
  CAF_CHECK(eventually([&] { return w.state.connections_evicted == 12 && w.state.connections == 79; }));
  CAF_CHECK_EQUAL(open_of(crowd), 66u); // of the address that holds most,
  CAF_CHECK(crowd.front()->ended()); // the oldest first
  CAF_CHECK_EQUAL(open_of(others), 12u);
}

CAF_TEST(a full server takes a newcomer in place of the address that holds most) {
  world w{fake::test_site(), with([](auto& o) { o.http.max_connections = 40; })};
  const auto port = w.server.public_port();
  auto crowd = silent(port, 40, "127.0.0.2");
  CAF_CHECK(eventually([&] { return w.state.connections_accepted == 40; }));
  for (int i = 0; i < 10; ++i) { // none was silent for a second
    client newcomer{port, 0, "127.0.0.3"};
    CAF_CHECK_EQUAL(newcomer.get("/constant").status, 200u);
  }
  CAF_CHECK_EQUAL(w.state.connections_refused.load(), 0u);
}

CAF_TEST(sockets leave a share to requests and of a place the newest stays) {
  world w{fake::test_site(), with([](auto& o) { o.http.max_connections = 40; })};
  const auto port = w.server.public_port();
  const auto who = [](int i) { return static_cast<std::uint64_t>(fake::behaves::well) + 500u + i; };
  std::vector<std::unique_ptr<client>> sockets;
  const auto open = [&](int place) {
    sockets.push_back(std::make_unique<client>(port, 0, "127.0.0.2"));
    return sockets.back()->open_socket(who(place)).status;
  };
  for (int i = 0; i < 30; ++i) CAF_CHECK_EQUAL(open(i), 101u); // places' first sockets,
  for (int i = 0; i < 6; ++i) CAF_CHECK_EQUAL(open(0), 101u); // and six more of one place: 90 %
  CAF_CHECK_EQUAL(open(30), 101u); // instead of the oldest extra one
  CAF_CHECK(eventually([&] { return w.state.connections_evicted > 0; }));
  for (int i = 31; i < 36; ++i) CAF_CHECK_EQUAL(open(i), 101u);
  const auto refused = open(36); // all are first sockets
  CAF_CHECK_EQUAL(refused, 503u);
  for (int i = 0; i < 5; ++i) {
    client fan{port, 0, "127.0.0.3"};
    CAF_CHECK_EQUAL(fan.get("/constant").status, 200u);
  }
}

CAF_TEST(clients that do not read are closed beyond the budget of their address) {
  world w{fake::test_site(), fake::fast_options()};
  const auto port = w.server.public_port();
  std::vector<std::unique_ptr<client>> crowd;
  constexpr std::size_t size = 8 * 1024 * 1024; // more than the kernel takes
  for (int i = 0; i < 6; ++i) {
    crowd.push_back(std::make_unique<client>(port, 4096, "127.0.0.2"));
    crowd.back()->send("GET /large/" + std::to_string(size) + " HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  CAF_CHECK(eventually([&] { return w.state.connections_evicted >= 4; }));
  client fan{port, 0, "127.0.0.3"};
  CAF_CHECK_EQUAL(fan.get("/large/" + std::to_string(size)).body.size(), size);
}

namespace {

/// Resident memory of this process in bytes.
std::size_t resident() {
  std::ifstream in{"/proc/self/statm"};
  std::size_t all = 0, here = 0;
  in >> all >> here;
  return here * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace

CAF_TEST(two thousand clients that read nothing cost little and the memory comes back) {
  world w{fake::test_site(), fake::fast_options()};
  const auto port = w.server.public_port();
  const auto attack = [&](std::size_t count) {
    const auto accepted = w.state.connections_accepted.load();
    std::vector<std::unique_ptr<client>> crowd;
    for (std::size_t i = 0; i < count; ++i) {
      crowd.push_back(std::make_unique<client>(port, 4096, "127.0.0.2"));
      crowd.back()->send("GET /large/200000 HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    CAF_CHECK(eventually([&] { return w.state.connections_accepted == accepted + count; }));
    std::this_thread::sleep_for(milliseconds{500}); // all requests are read
    return crowd;
  };
  attack(100).clear(); // pools and buffers that stay
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
  const auto before = resident();
  std::size_t during = 0, after[2] = {};
  for (auto& kept : after) {
    auto crowd = attack(2000);
    during = std::max(during, resident());
    crowd.clear();
    CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
    ::malloc_trim(0); // as app/serve does after evictions
    kept = resident();
  }
  CAF_CHECK(w.state.connections_evicted > 0u);
  CAF_CHECK_LESS(during - std::min(during, before), 2000u * 64 * 1024);
  for (const auto kept : after) // pools, and what lies between them
    CAF_CHECK_LESS(kept - std::min(kept, before), 32u * 1024 * 1024);
}

CAF_TEST(a trusted proxy may hold as many silent connections as it likes) {
  world w{fake::test_site(), with([](auto& o) {
            o.http.max_connections = 50;
            o.http.trusted_proxies = {*config::parse_address_block("127.0.0.0/8")};
          })};
  held_clock held{w};
  auto crowd = silent(w.server.public_port(), 45, "");
  CAF_CHECK(eventually([&] { return w.state.connections == 46; })); // with the clock's
  CAF_CHECK(held.pass(milliseconds{4000}));
  for (auto& c : crowd) CAF_CHECK_EQUAL(c->get("/constant").status, 200u);
}

} // namespace crowded_test
