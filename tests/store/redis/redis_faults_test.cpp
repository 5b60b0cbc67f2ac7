// SPDX-License-Identifier: Apache-2.0
// A server that refuses, hangs, ends or has lost recent writes: the cache reports it quickly and recovers
// with the server.
#define CAF_SUITE cache_redis_faults
#include "tests/store/redis/engines.hpp"

#include <algorithm>
#include <chrono>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace fq;
using namespace fq::test;

namespace {

/// A private server, and an owner with a mirror of 1 to 3 on it.
struct world {
  world() { FQ_APPLIED(o.begin(delta{}.join(numbers(1, 3)))); }

  /// The reason why the next join was not applied; empty if it was applied.
  std::string refusal() {
    return unavailable([&] { FQ_APPLIED(o.put(delta{}.join(numbers(o.steps + 3, o.steps + 3)))); });
  }

  /// Waits until the cache accepts writes, at most 20 s.
  bool recovers() {
    const auto end = std::chrono::steady_clock::now() + seconds{20};
    while (!unavailable([&] { store.ping(); }).empty()) {
      if (std::chrono::steady_clock::now() > end) return false;
      env.skip(seconds{5});
    }
    return true;
  }

  private_redis server;
  skipping_environment env;
  redis_cache store{{.address = parse_redis_url(server.url())}, env, "test"};
  redis_operator eye{server.url()};
  owner o{store};
};

/// The duration of `call`.
milliseconds duration_of(const std::function<void()>& call) {
  const auto began = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began);
}

/// Less than two attempts at a stalled server take: each waits a second.
constexpr milliseconds two_attempts{1'900};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

} // namespace

CAF_TEST(a replica refuses and a primary takes over where it was) {
  world w;
  w.eye.run({"REPLICAOF", "127.0.0.1", "1"});
  CAF_CHECK(contains(w.refusal(), "READONLY"));
  CAF_CHECK(contains(unavailable([&] { w.store.ping(); }), "READONLY"));
  w.eye.run({"CONFIG", "SET", "replica-serve-stale-data", "no"});
  CAF_CHECK(contains(unavailable([&] { static_cast<void>(w.o.read()); }), "MASTERDOWN"));
  w.eye.run({"REPLICAOF", "NO", "ONE"});
  CAF_CHECK_EQUAL(w.refusal(), "");
  CAF_CHECK(w.o.image().waiting == numbers(1, 4));
}

CAF_TEST(a server without memory refuses but lets go of a former generation) {
  world w;
  w.eye.run({"CONFIG", "SET", "maxmemory", "1"});
  CAF_CHECK(contains(w.refusal(), "OOM"));
  CAF_CHECK(contains(unavailable([&] { w.store.ping(); }), "OOM"));
  CAF_CHECK(contains(unavailable([&] { w.o.begin(delta{}.join(numbers(1, 3))); }), "OOM"));
  CAF_CHECK(w.eye.keys_of(w.o.queue()).empty());
  w.eye.run({"CONFIG", "SET", "maxmemory", "0"});
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(1, 3))));
  CAF_CHECK_EQUAL(w.refusal(), "");
}

CAF_TEST(a server that is busy with a script of somebody refuses) {
  world w;
  w.eye.run({"CONFIG", "SET", "busy-reply-threshold", "50"});
  redis_operator somebody{w.server.url(), seconds{1}};
  CAF_CHECK(!unavailable([&] { somebody.run({"EVAL", "while true do end", "0"}); }).empty());
  CAF_CHECK(contains(w.refusal(), "BUSY"));
  w.eye.run({"SCRIPT", "KILL"});
  CAF_CHECK(w.recovers());
  CAF_CHECK_EQUAL(w.refusal(), "");
}

CAF_TEST(a stalled server costs a second and then nothing until it may be asked again) {
  world w;
  w.server.pause();
  std::string why;
  const auto failure = duration_of([&] { why = w.refusal(); });
  const auto failed_at = w.env.steady_now();
  CAF_CHECK(failure < two_attempts);
  CAF_CHECK(contains(why, "no answer within 1000 ms"));
  CAF_CHECK(contains(w.refusal(), "not asked again yet"));
  // Two seconds after the failure: less than three times its duration.
  w.env.skip(std::max(milliseconds{0}, failed_at + milliseconds{2'000} - w.env.steady_now()));
  CAF_CHECK(contains(w.refusal(), "not asked again yet"));
  w.env.skip(3 * failure - milliseconds{1'900});
  CAF_CHECK(duration_of([&] { why = w.refusal(); }) < two_attempts); // it connects, but gets no answer
  CAF_CHECK(contains(why, "no answer within 1000 ms"));
  w.server.resume();
  CAF_CHECK(w.recovers());
  // The step arrived late: the next step with its number is refused, a new generation is not.
  FQ_LOST(w.o.put(delta{}.join(numbers(4, 4))));
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(1, 4))));
  CAF_CHECK(w.o.image().waiting == numbers(1, 4));
}

CAF_TEST(a server that is gone is soon noticed and found again) {
  world w;
  w.server.kill();
  CAF_CHECK(duration_of([&] { CAF_CHECK(!w.refusal().empty()); }) < milliseconds{950}); // a timeout: 1 s
  w.env.skip(milliseconds{200});
  CAF_CHECK(contains(w.refusal(), "refused"));
  w.server.start();
  CAF_CHECK(w.recovers());
  FQ_LOST(w.o.put({})); // it saved nothing
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(1, 1))));
}

CAF_TEST(a server that restarts from an old dump has lost the mirror) {
  world w;
  w.eye.run({"SAVE"});
  CAF_CHECK_EQUAL(w.refusal(), "");
  w.server.kill();
  w.server.start();
  CAF_CHECK(w.recovers());
  CAF_CHECK(!w.o.read().found);
  CAF_CHECK(w.store.read(w.o.queue(), w.o.generation, 1).found); // as saved
  FQ_LOST(w.o.put(delta{}.join(numbers(5, 5))));
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(1, 5))));
  CAF_CHECK(w.o.image().waiting == numbers(1, 5));
}

CAF_TEST(a flushed server has lost the mirror) {
  world w;
  w.eye.run({"FLUSHALL"});
  FQ_LOST(w.o.put(delta{}.join(numbers(4, 4))));
  FQ_APPLIED(w.o.begin(delta{}.join(numbers(1, 4))));
}

CAF_TEST(a connection that the server closed while idle is replaced silently) {
  world w;
  w.eye.run({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  CAF_CHECK_EQUAL(w.refusal(), "");
}

CAF_TEST(a host that does not answer costs half a second) {
  // A listener with a full queue drops connections, like a lost host.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CAF_REQUIRE_EQUAL(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  CAF_REQUIRE_EQUAL(::listen(listener, 0), 0);
  CAF_REQUIRE_EQUAL(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const int filler = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CAF_REQUIRE_EQUAL(::connect(filler, reinterpret_cast<sockaddr*>(&address), size), 0);

  skipping_environment env;
  redis_cache store{
    {.address = parse_redis_url("redis://127.0.0.1:" + std::to_string(ntohs(address.sin_port)))},
    env,
    "test"};
  const auto took = duration_of([&] { CAF_CHECK(!unavailable([&] { store.ping(); }).empty()); });
  CAF_CHECK(took >= milliseconds{450});
  CAF_CHECK(took < milliseconds{3'000});
  CAF_CHECK(contains(unavailable([&] { store.ping(); }), "not asked again yet"));
  ::close(filler);
  ::close(listener);
}
