// SPDX-License-Identifier: Apache-2.0
// Connections between nodes: how many there may be, when they end, and for which node a process speaks.
#define CAF_SUITE mesh_links
#include "caf/test/unit_test.hpp"

#include "app/limits.hpp"
#include "app/mesh_links.hpp"
#include "tests/app/mesh_bytes.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>

using namespace fq;
using test::process;

namespace {

/// A connection; `is_open` says whether this end may still be used.
class connection {
public:
  connection() { CAF_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~connection() {
    for (const int end : ends_) ::close(end);
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  [[nodiscard]] int descriptor() const { return ends_[0]; }
  [[nodiscard]] bool is_open() const {
    char byte = 0;
    return ::recv(ends_[1], &byte, 1, MSG_DONTWAIT) < 0; // 0: the other end was shut down
  }

private:
  std::array<int, 2> ends_{};
};

struct fixture {
  mesh_links links;
  connection a, b;
  bool enter(const connection& c, const std::string& node, int deadline_ms = 1000) {
    return links.enter(c.descriptor(), {node, nullptr}, milliseconds{deadline_ms});
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(mesh_links_tests, fixture)

CAF_TEST(a connection without a handshake ends at its deadline and one with it stays) {
  CAF_REQUIRE(enter(a, "a"));
  CAF_REQUIRE(enter(b, "b"));
  CAF_CHECK(links.introduce(b.descriptor(), process(2)));
  links.end_late(milliseconds{999});
  CAF_CHECK(a.is_open());
  links.end_late(milliseconds{1000});
  CAF_CHECK(!a.is_open());
  CAF_CHECK(b.is_open());
  links.end_by(b.descriptor(), milliseconds{2000});
  links.end_late(milliseconds{2000});
  CAF_CHECK(!b.is_open());
}

CAF_TEST(a process speaks for the node of its certificate only) {
  CAF_REQUIRE(enter(a, "a"));
  CAF_REQUIRE(enter(b, "b"));
  CAF_CHECK_EQUAL(links.node_of(process(1)), "");
  CAF_CHECK(links.introduce(a.descriptor(), process(1)));
  CAF_CHECK_EQUAL(links.node_of(process(1)), "a");
  CAF_CHECK(!links.introduce(b.descriptor(), process(1)));
  CAF_CHECK(!links.introduce(a.descriptor(), process(2)));
  CAF_CHECK_EQUAL(links.node_of({}), "");
  links.end_of(process(1));
  CAF_CHECK(!a.is_open());
  CAF_CHECK(b.is_open());
  links.leave(a.descriptor());
  CAF_CHECK_EQUAL(links.node_of(process(1)), "");
  CAF_CHECK(links.introduce(b.descriptor(), process(1)));
}

CAF_TEST(the processes of a node are counted together) {
  const connection c;
  CAF_REQUIRE(enter(a, "a") && enter(b, "a") && enter(c, "c"));
  CAF_CHECK(links.introduce(a.descriptor(), process(1)));
  CAF_CHECK_EQUAL(links.processes_beside(a.descriptor()).size(), 1u);
  CAF_CHECK(links.introduce(b.descriptor(), process(2)));
  CAF_CHECK(links.introduce(c.descriptor(), process(3)));
  CAF_CHECK_EQUAL(links.processes_beside(a.descriptor()), (std::set{process(1), process(2)}));
  CAF_CHECK_EQUAL(links.processes_beside(c.descriptor()), std::set{process(3)});
  CAF_CHECK_EQUAL(links.node_at(c.descriptor()), "c");
}

CAF_TEST(one node cannot have all connections) {
  for (int i = 0; i < static_cast<int>(streams_per_node_max); ++i)
    CAF_REQUIRE(links.enter(1000 + i, {"a", nullptr}, milliseconds{1}));
  CAF_CHECK(!enter(a, "a"));
  CAF_CHECK(enter(a, "b"));
  links.leave(1000);
  CAF_CHECK(enter(b, "a"));
}

CAF_TEST(without TLS connections name no node and only their total is limited) {
  for (int i = 0; i < static_cast<int>(streams_max); ++i)
    CAF_REQUIRE(links.enter(1000 + i, {}, milliseconds{1}));
  CAF_CHECK(!enter(a, ""));
}

CAF_TEST(all connections together are limited) {
  for (int i = 0; i < static_cast<int>(streams_max); ++i)
    CAF_REQUIRE(links.enter(1000 + i, {"node-" + std::to_string(i), nullptr}, milliseconds{1}));
  CAF_CHECK(!enter(a, "another"));
}

CAF_TEST(connections end by their certificate) {
  CAF_REQUIRE(enter(a, "a"));
  CAF_REQUIRE(enter(b, "b"));
  links.end_if([](const peer_certificate& peer) { return peer.node == "b"; });
  CAF_CHECK(a.is_open());
  CAF_CHECK(!b.is_open());
}

CAF_TEST_FIXTURE_SCOPE_END()
