// SPDX-License-Identifier: Apache-2.0
// The set of an io thread's sockets: no wait is missed although each edge comes once, and none spins.
#define CAF_SUITE ready_set
#include "caf/test/unit_test.hpp"

#include "net/http/ready_set.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

using namespace fq::net;

namespace {

struct party {
  explicit party(ready_set& set) {
    std::array<int, 2> ends{};
    CAF_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    ours = std::make_unique<ready_socket>(set, ends[0]);
    theirs = ends[1];
  }
  ~party() {
    if (theirs >= 0) ::close(theirs);
  }

  void say(std::size_t bytes) {
    const std::string text(bytes, 'x');
    CAF_CHECK_EQUAL(::send(theirs, text.data(), bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
  }
  void hang_up() { ::close(std::exchange(theirs, -1)); }
  ssize_t read(std::size_t room) {
    std::string into(room, ' ');
    return ours->receive(into.data(), room);
  }
  void wait_to_read() { ours->wait_readable<&party::on_readable>(this); }
  void wait_to_write() { ours->wait_writable<&party::on_writable>(this); }
  void wait_to_read_by_writing() { ours->wait_readable<&party::on_readable>(this, true); }
  void on_readable() {
    ++reads;
    if (then) then();
  }
  void on_writable() { ++writes; }
  friend void intrusive_ptr_add_ref(party* p) { ++p->references; }
  friend void intrusive_ptr_release(party* p) { --p->references; }

  std::unique_ptr<ready_socket> ours;
  int theirs = -1, reads = 0, writes = 0, references = 0;
  std::function<void()> then;
};

struct fixture {
  boost::asio::io_context io{1};
  ready_set set{io};
  party one{set}, other{set};

  /// All that is ready now.
  void run() {
    for (int i = 0; i < 20; ++i) io.poll();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(ready_set_tests, fixture)

CAF_TEST(a wait ends once when bytes come and the next one waits for more) {
  one.wait_to_read();
  run();
  CAF_CHECK_EQUAL(one.reads, 0);
  one.say(10);
  run();
  CAF_CHECK_EQUAL(one.reads, 1);
  CAF_CHECK_EQUAL(one.read(100), 10);
  one.wait_to_read();
  run();
  CAF_CHECK_EQUAL(one.reads, 1);
  one.say(1);
  run();
  CAF_CHECK_EQUAL(one.reads, 2);
}

CAF_TEST(bytes that came before the wait or that a read has left end it) {
  one.say(10);
  run();
  one.wait_to_read();
  CAF_CHECK_EQUAL(one.reads, 0); // never within the call
  run();
  CAF_CHECK_EQUAL(one.reads, 1);
  CAF_CHECK_EQUAL(one.read(4), 4);
  one.wait_to_read();
  run();
  CAF_CHECK_EQUAL(one.reads, 2);
  CAF_CHECK_EQUAL(one.read(100), 6);
}

CAF_TEST(after the end of the peer no wait lasts) {
  one.say(10);
  one.hang_up();
  run();
  for (int i = 1; i <= 3; ++i) {
    one.wait_to_read();
    run();
    CAF_CHECK_EQUAL(one.reads, i);
    CAF_CHECK_EQUAL(one.read(100), i == 1 ? 10 : 0);
  }
}

CAF_TEST(a peer that says no more but reads on can be written to without spinning) {
  ::shutdown(one.theirs, SHUT_WR);
  run();
  const std::string much(1 << 16, 'x');
  while (one.ours->send(much.data(), much.size()) > 0) {}
  one.wait_to_write();
  run();
  CAF_CHECK_EQUAL(one.writes, 0);
  std::string into(1 << 16, ' ');
  while (::recv(one.theirs, into.data(), into.size(), 0) > 0) {}
  run();
  CAF_CHECK_EQUAL(one.writes, 1);
}

CAF_TEST(who closes a socket that is ready too hears nothing of it and frees who waited) {
  one.wait_to_read();
  other.wait_to_read();
  one.then = [&] { other.ours->close(); };
  other.then = [&] { one.ours->close(); };
  one.say(1);
  other.say(1);
  run();
  CAF_CHECK_EQUAL(one.reads + other.reads, 1);
  CAF_CHECK_EQUAL(one.references + other.references, 0);
}

CAF_TEST(a wait to read that ends by writing and a wait to write are both heard) {
  const std::string much(1 << 16, 'x');
  while (one.ours->send(much.data(), much.size()) > 0) {}
  one.wait_to_read_by_writing();
  one.wait_to_write();
  run();
  CAF_CHECK_EQUAL(one.reads + one.writes, 0);
  std::string into(1 << 16, ' ');
  while (::recv(one.theirs, into.data(), into.size(), 0) > 0) {}
  run();
  CAF_CHECK_EQUAL(one.reads, 1);
  CAF_CHECK_EQUAL(one.writes, 1);
}

CAF_TEST_FIXTURE_SCOPE_END()
