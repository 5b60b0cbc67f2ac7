// SPDX-License-Identifier: Apache-2.0
// HTTP over real sockets, a real server on fake actors: order, limits, deadlines, hostile clients, draining,
// stopping.
#define CAF_SUITE net_session
#include "caf/test/unit_test.hpp"

#include "net/server/limits.hpp"
#include "tests/net/server/client.hpp"
#include "tests/net/server/site.hpp"

#include <atomic>
#include <memory>
#include <thread>

namespace connection_test {

using namespace fq;
using namespace fq::net;
using fake::client;
using fake::eventually;
using fake::held_clock;
using fake::with;
using fake::world;

namespace {

/// In one write, so that with the first answer the second request, to a silent actor, is in hand.
constexpr const char* constant_and_silent = "GET /constant HTTP/1.1\r\nHost: a\r\n\r\n"
                                            "GET /events/16/entries/3 HTTP/1.1\r\nHost: a\r\n\r\n";

} // namespace

CAF_TEST(a request is answered with the promised fields and the connection kept) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  for (int i = 0; i < 3; ++i) {
    const auto r = c.get("/constant");
    CAF_CHECK_EQUAL(r.status, 200u);
    CAF_CHECK(r.has("Content-Type: application/json\r\n"));
    CAF_CHECK(r.has("Cache-Control: no-store\r\n"));
    CAF_CHECK(r.has("X-Content-Type-Options: nosniff\r\n"));
    CAF_CHECK(r.has("X-Request-Id: "));
    CAF_CHECK(r.has(" GMT\r\n"));
    CAF_CHECK(!r.has("Connection:"));
  }
}

CAF_TEST(a sane request id comes back and another does not) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  CAF_CHECK(
    c.ask("GET /constant HTTP/1.1\r\nHost: a\r\nX-Request-Id: abc-1\r\n\r\n").has("X-Request-Id: abc-1\r\n"));
  CAF_CHECK(!c.ask("GET /constant HTTP/1.1\r\nHost: a\r\nX-Request-Id: a b\r\n\r\n").has("a b"));
}

CAF_TEST(pipelined requests are answered in order whoever answers them) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  std::string requests;
  for (int i = 0; i < 300; ++i) {
    requests += "GET /events/16/entries/" + std::to_string(1000 + i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
    requests += "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: "
                + std::to_string(std::to_string(i).size()) + "\r\n\r\n" + std::to_string(i);
  }
  std::thread sender{[&] { c.send(requests); }};
  for (int i = 0; i < 300; ++i) {
    CAF_REQUIRE(c.read().body.find("\"queue_number\":" + std::to_string(i + 1) + ",") != std::string::npos);
    CAF_REQUIRE_EQUAL(c.read().body, std::to_string(i));
  }
  sender.join();
}

CAF_TEST(ten thousand pipelined requests in one write are bounded and answered) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  std::string requests;
  for (int i = 0; i < 10'000; ++i) requests += "GET /constant HTTP/1.1\r\nHost: a\r\n\r\n";
  std::thread sender{[&] { c.send(requests); }};
  int answered = 0;
  while (answered < 10'000 && c.read().status == 200) ++answered;
  sender.join();
  CAF_CHECK_EQUAL(answered, 10'000);
}

CAF_TEST(a request in single bytes is the same request) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  const std::string text = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  for (const char byte : text) CAF_REQUIRE(c.send({&byte, 1}));
  CAF_CHECK_EQUAL(c.read().body, "abc");
}

CAF_TEST(head has no body and says how long it would be) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  const auto r = c.ask("HEAD /constant HTTP/1.1\r\nHost: a\r\n\r\n", true);
  CAF_CHECK_EQUAL(r.status, 200u);
  CAF_CHECK(r.has("Content-Length: 110"));
  CAF_CHECK_EQUAL(c.get("/constant").body.size(), 110u);
}

CAF_TEST(chunked bodies and large bodies arrive whole) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  CAF_CHECK_EQUAL(
    c.ask(
       "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
      .body,
    "abcde");
  std::string large(200'000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>('a' + i % 26);
  CAF_CHECK(
    c.ask("POST /big HTTP/1.1\r\nHost: a\r\nX-Request-Id: q\r\nContent-Length: 200000\r\n\r\n" + large).body
    == large);
  std::string chunks;
  for (std::size_t at = 0; at < large.size(); at += 20'000)
    chunks += "4e20\r\n" + large.substr(at, 20'000) + "\r\n";
  CAF_CHECK(
    c.ask("POST /big HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n").body
    == large);
  CAF_CHECK_EQUAL(c.get("/constant").status, 200u);
}

CAF_TEST(bodies over the limit of their route are 413) {
  world w{fake::test_site()};
  CAF_CHECK_EQUAL(client{w.server.public_port()}
                    .ask("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 16\r\n\r\n0123456789abcdef")
                    .status,
                  200u);
  client c{w.server.public_port()};
  const auto r = c.ask("POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 17\r\n\r\n0123456789abcdefg");
  CAF_CHECK_EQUAL(r.status, 413u);
  CAF_CHECK(r.has("Connection: close"));
  CAF_CHECK(c.ended());
  client d{w.server.public_port()};
  CAF_CHECK_EQUAL(
    d.ask("POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n11\r\n0123456789abcdefg\r\n")
      .status,
    413u);
  client e{w.server.public_port()};
  CAF_CHECK_EQUAL(e.ask("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n").status,
                  413u);
}

CAF_TEST(a stranger sends no more than the usual limit to a route that takes more) {
  auto site = fake::test_site();
  site.may_send = [](context&, const request& rq, const route&) { return rq.has_field("X-Known"); };
  world w{site};
  const auto send = [&](std::string fields, const std::string& body) {
    client c{w.server.public_port()};
    return c.ask("POST /big HTTP/1.1\r\nHost: a\r\n" + std::move(fields) + "\r\n" + body);
  };
  const std::string large(200'000, 'x'), usual(16 * 1024, 'x');
  CAF_CHECK_EQUAL(send("X-Known: 1\r\nContent-Length: 200000\r\n", large).status, 200u);
  CAF_CHECK_EQUAL(send("Content-Length: 16384\r\n", usual).status, 200u);
  const auto refused = send("Content-Length: 200000\r\n", ""); // before the body
  CAF_CHECK_EQUAL(refused.status, 401u);
  CAF_CHECK(refused.has("Connection: close"));
  const std::string chunks = "4000\r\n" + usual + "\r\n1\r\nx\r\n";
  CAF_CHECK_EQUAL(send("Transfer-Encoding: chunked\r\n", chunks).status, 413u);
  CAF_CHECK_EQUAL(send("X-Known: 1\r\nTransfer-Encoding: chunked\r\n", chunks + "0\r\n\r\n").status, 200u);
}

CAF_TEST(expect continue is answered before the body comes) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  auto r = c.ask("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  CAF_CHECK_EQUAL(r.status, 100u);
  CAF_CHECK_EQUAL(c.ask("abc").body, "abc");
  CAF_CHECK_EQUAL(
    c.ask("POST /small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 300\r\n\r\n").status,
    413u);
}

CAF_TEST(framing tricks are refused and the connection closed) {
  world w{fake::test_site()};
  for (const char* bytes :
       {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: "
        "chunked\r\n\r\n0\r\n\r\nGET /constant HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\nGET /constant "
        "HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /constant HTTP/1.1\r\n\r\nGET /constant HTTP/1.1\r\nHost: a\r\n\r\n", "GARBAGE\r\n\r\n"}) {
    client c{w.server.public_port()};
    const auto r = c.ask(bytes);
    CAF_CHECK(r.status == 400u || r.status == 505u);
    CAF_CHECK(r.has("Connection: close"));
    CAF_CHECK(r.has("Content-Type: application/problem+json"));
    CAF_CHECK(c.ended()); // the second request was not read
  }
}

CAF_TEST(unknown paths and wrong methods are told apart and keep the connection) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  CAF_CHECK_EQUAL(c.get("/nothing").status, 404u);
  const auto r = c.ask("DELETE /echo HTTP/1.1\r\nHost: a\r\n\r\n");
  CAF_CHECK_EQUAL(r.status, 405u);
  CAF_CHECK(r.has("Allow: POST\r\n"));
  CAF_CHECK_EQUAL(c.get("/constant").status, 200u);
}

CAF_TEST(a handler that throws is a 500 without details) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  for (const char* path : {"/exception", "/late-exception"}) {
    const auto r = c.get(path);
    CAF_CHECK_EQUAL(r.status, 500u);
    CAF_CHECK(r.body.find("mistake") == std::string::npos);
  }
  CAF_CHECK_EQUAL(w.state.handler_exceptions.load(), 2u);
  CAF_CHECK_EQUAL(c.get("/constant").status, 200u);
}

CAF_TEST(a silent actor is a 503 at the deadline) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  CAF_CHECK_EQUAL(c.ask(constant_and_silent).status, 200u);
  w.clock.advance(w.options.http.request_timeout);
  CAF_CHECK_EQUAL(c.read().status, 503u);
  CAF_CHECK_EQUAL(c.get("/events/99/entries/1000").status, 404u);
  CAF_CHECK_EQUAL(c.get("/events/98/entries/1000").status, 503u);
}

CAF_TEST(http 1 0 closes unless asked to keep) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  CAF_CHECK(c.ask("GET /constant HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").has("Connection: keep-alive"));
  CAF_CHECK(c.ask("GET /constant HTTP/1.0\r\n\r\n").has("Connection: close"));
  CAF_CHECK(c.ended());
}

CAF_TEST(the base path is taken off and required) {
  world w{fake::test_site(), with([](auto& o) { o.http.base_path = "/shop"; })};
  client c{w.server.public_port()};
  CAF_CHECK_EQUAL(c.get("/shop/constant").status, 200u);
  CAF_CHECK_EQUAL(c.get("/constant").status, 404u);
  CAF_CHECK_EQUAL(c.get("/shopping/constant").status, 404u);
}

CAF_TEST(slow headers and slow bodies end at absolute deadlines) {
  world w{fake::test_site()};
  held_clock held{w};
  client header{w.server.public_port()}, body{w.server.public_port()}, nothing{w.server.public_port()};
  header.send("GET /constant HTTP/1.1\r\nX: ");
  body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
  CAF_CHECK(eventually([&] { return w.state.connections == 4; })); // with the clock's
  CAF_CHECK(held.settle()); // both have begun
  for (const int ms : {5'000, 4'000}) {
    CAF_CHECK(held.pass(milliseconds{ms}));
    CAF_CHECK(header.send("a") && body.send("b")); // moves no deadline
    CAF_CHECK(held.settle());
  }
  CAF_CHECK(held.pass(milliseconds{1'000}));
  CAF_CHECK_EQUAL(header.read().status, 408u);
  CAF_CHECK_EQUAL(body.read().status, 408u);
  CAF_CHECK(nothing.ended());
  CAF_CHECK(held.pass(linger_timeout));
  CAF_CHECK_EQUAL(w.state.connections.load(), 1); // the clock's
}

CAF_TEST(idle connections end and busy ones do not) {
  world w{fake::test_site()};
  held_clock held{w};
  client idle{w.server.public_port()}, busy{w.server.public_port()};
  CAF_CHECK_EQUAL(idle.get("/constant").status, 200u);
  for (int i = 0; i < 2; ++i) {
    CAF_CHECK_EQUAL(busy.get("/constant").status, 200u);
    CAF_CHECK(held.pass(milliseconds{40'000})); // of 75'000
  }
  CAF_CHECK(idle.ended());
  CAF_CHECK_EQUAL(busy.get("/constant").status, 200u);
  CAF_CHECK_EQUAL(w.state.connections.load(), 2); // with the clock's
}

CAF_TEST(a client that does not read is cut at the write deadline) {
  world w{fake::test_site(), with([](auto& o) { o.http.write_timeout = milliseconds{500}; })};
  client c{w.server.public_port(), 4096};
  c.send("GET /large/30000000 HTTP/1.1\r\nHost: a\r\n\r\n");
  CAF_CHECK(eventually([&] { return w.state.connections_accepted == 1; }));
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
}

CAF_TEST(a large answer to a client that reads arrives whole) {
  world w{fake::test_site()};
  client c{w.server.public_port(), 4096};
  CAF_CHECK_EQUAL(c.get("/large/3000000").body.size(), 3'000'000u);
  CAF_CHECK_EQUAL(c.get("/constant").status, 200u);
}

// -- streamed bodies

CAF_TEST(the send buffer has room for two segments so that no acknowledgement is delayed) {
  world w{fake::test_site()};
  const client c{w.server.public_port()};
  CAF_CHECK_GREATER(c.segment_size(), 0);
  CAF_CHECK_LESS_OR_EQUAL(c.segment_size(), send_buffer_size / 2);
}

CAF_TEST(a body that is made while it is sent arrives whole and the connection stays) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  // the pipelined request waits
  c.send("GET /parts/3/0 HTTP/1.1\r\nHost: a\r\n\r\nGET /constant HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto streamed = c.read();
  CAF_CHECK_EQUAL(streamed.status, 200u);
  CAF_CHECK(!streamed.has("Content-Length:"));
  CAF_CHECK(streamed.has("Content-Type: text/plain\r\n"));
  CAF_CHECK_EQUAL(streamed.body, "part 1\npart 2\npart 3\n");
  CAF_CHECK_EQUAL(c.read().status, 200u);
  CAF_CHECK_EQUAL(c.get("/parts/0/0").body, "");
  CAF_CHECK_EQUAL(c.get("/parts/12/300000").body.size(),
                  12 * 300'000u + 9 * 7 + 3 * 8); // more than a socket buffer
  CAF_CHECK_EQUAL(c.get("/constant").status, 200u);
}

CAF_TEST(a streamed body has no body for head and is plain until the end for http 1 0) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  const auto head = c.ask("HEAD /parts/3/0 HTTP/1.1\r\nHost: a\r\n\r\n", true);
  CAF_CHECK(head.has("Transfer-Encoding: chunked\r\n"));
  CAF_CHECK_EQUAL(c.get("/constant").status, 200u);
  client old{w.server.public_port()};
  const auto plain = old.ask("GET /parts/2/0 HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
  CAF_CHECK(plain.has("Connection: close\r\n"));
  CAF_CHECK(!plain.has("Transfer-Encoding") && !plain.has("Content-Length"));
  CAF_CHECK_EQUAL(old.rest(), "part 1\npart 2\n");
}

CAF_TEST(a streamed body that cannot go on breaks off and never looks whole) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  const auto broken = c.get("/parts/20/0");
  CAF_CHECK_EQUAL(broken.status, 0u);
  CAF_CHECK(broken.body.ends_with("part 12\n"));
  CAF_CHECK(c.ended());
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
}

CAF_TEST(who does not read a streamed body is cut and who leaves is forgotten) {
  world w{fake::test_site(), with([](auto& o) { o.http.write_timeout = milliseconds{500}; })};
  client stuck{w.server.public_port(), 4096};
  stuck.send("GET /parts/12/3000000 HTTP/1.1\r\nHost: a\r\n\r\n");
  CAF_CHECK(eventually([&] { return w.state.connections_accepted == 1; }));
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
  {
    client gone{w.server.public_port()};
    gone.send("GET /parts/12/300000 HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  CAF_CHECK(eventually([&] { return w.state.connections == 0; }));
}

CAF_TEST(an unknown method gets the methods of its path) {
  world w{fake::test_site()};
  client c{w.server.public_port()};
  const auto r = c.ask("TRACE /constant HTTP/1.1\r\nHost: a\r\n\r\n");
  CAF_CHECK_EQUAL(r.status, 405u);
  CAF_CHECK(r.has("Allow: GET, HEAD\r\n"));
  client other{w.server.public_port()};
  CAF_CHECK_EQUAL(other.ask("TRACE /nowhere HTTP/1.1\r\nHost: a\r\n\r\n").status, 404u);
}

CAF_TEST(two io threads share a listener) {
  world w{fake::test_site(), with([](auto& o) { o.io.threads = 2; })};
  std::vector<std::unique_ptr<client>> clients;
  for (int i = 0; i < 50; ++i) {
    clients.push_back(std::make_unique<client>(w.server.public_port()));
    CAF_CHECK_EQUAL(clients.back()->get("/events/16/entries/1000").status, 200u);
  }
}

CAF_TEST(the admin site is on its own port) {
  world w{fake::test_site(), fake::fast_options(), fake::test_site()};
  CAF_CHECK_NOT_EQUAL(w.server.admin_port(), w.server.public_port());
  CAF_CHECK_EQUAL(client{w.server.admin_port()}.get("/constant").status, 200u);
}

CAF_TEST(draining finishes what is in hand and closes the rest) {
  world w{fake::test_site(), with([](auto& o) {
            o.http.request_timeout = std::chrono::hours{1};
            o.shutdown.delay = milliseconds{50};
          })};
  w.clock.hold(); // no delay or deadline passes by itself
  client idle{w.server.public_port()}, busy{w.server.public_port()}, polite{w.server.public_port()};
  CAF_CHECK_EQUAL(idle.get("/constant").status, 200u);
  CAF_CHECK_EQUAL(polite.get("/constant").status, 200u);
  CAF_CHECK_EQUAL(busy.ask(constant_and_silent).status, 200u);
  std::thread drain{[&] { w.server.drain(std::chrono::hours{10}); }};
  CAF_CHECK(eventually([&] { return w.state.draining.load(); }));
  CAF_CHECK(polite.get("/constant").has("Connection: close")); // within shutdown.delay
  CAF_CHECK(polite.ended());
  CAF_CHECK(eventually([&] { // in small steps, since the drain may read the clock after the first
    w.clock.advance(milliseconds{50});
    return idle.was_closed();
  }));
  CAF_CHECK(idle.ended());
  w.clock.advance(std::chrono::hours{1}); // the deadline of what is in hand
  const auto last = busy.read();
  CAF_CHECK_EQUAL(last.status, 503u);
  CAF_CHECK(last.has("Connection: close"));
  drain.join();
  CAF_CHECK(!client{w.server.public_port()}.connected());
  CAF_CHECK_EQUAL(w.state.connections.load(), 0);
}

CAF_TEST(a drain does not wait longer than its patience) {
  world w{fake::test_site(), with([](auto& o) { o.http.request_timeout = std::chrono::hours{1}; })};
  client busy{w.server.public_port()};
  CAF_CHECK_EQUAL(busy.ask(constant_and_silent).status, 200u);
  w.server.drain(milliseconds{300}); // that it returns is the proof: the request would take an hour
  CAF_CHECK(busy.ended());
}

CAF_TEST(a whole server starts and stops under traffic) {
  for (int run = 0; run < 100; ++run) {
    auto o = fake::fast_options();
    o.io.threads = 1 + run % 2;
    world w{fake::test_site(), o};
    std::atomic<bool> stop{false};
    std::vector<std::thread> crowd;
    for (int i = 0; i < 3; ++i)
      crowd.emplace_back([&, i] {
        while (!stop) {
          client c{w.server.public_port()};
          if (!c.connected()) break;
          for (int n = 0; n < 5 && !stop; ++n)
            if (c.get(i == 0   ? "/constant"
                      : i == 1 ? "/events/16/entries/1000"
                               : "/events/17/entries/1003")
                  .status
                == 0)
              break;
        }
      });
    std::this_thread::sleep_for(milliseconds{run % 7});
    if (run % 3 == 0)
      w.server.drain(milliseconds{20});
    else
      w.server.stop();
    stop = true;
    for (auto& t : crowd) t.join();
    CAF_REQUIRE_EQUAL(w.state.connections.load(), 0);
  }
}

} // namespace connection_test
