// SPDX-License-Identifier: Apache-2.0
// Which connection a crowded server closes next.
#define CAF_SUITE net_crowd
#include "caf/test/unit_test.hpp"

#include "net/http/crowd.hpp"
#include "net/http/limits.hpp"

#include <deque>
#include <string>

namespace crowd_test {

using namespace fq;
using namespace fq::net;

namespace {

struct visitor final : guest {
  visitor(std::string n, crowd& c, std::string& names) : name(std::move(n)), all(c), gone(names) {}
  bool give_way() override {
    if (stays) return false;
    gone += name;
    all.leave(*this);
    return true;
  }
  std::string name;
  crowd& all;
  std::string& gone;
  bool stays = false; ///< it has unread input
};

struct hall {
  explicit hall(std::size_t of_address = 100, std::size_t of_all = 250) :
      all(trusted, of_address, of_all, [this] { ++times_over; }) {}
  ~hall() {
    for (auto& g : guests) all.leave(g);
  }
  visitor& add(std::string name, const char* address, standing how, int at = 0) {
    auto& g = guests.emplace_back(std::move(name), all, gone);
    all.enter(g, boost::asio::ip::make_address(address));
    all.stand(g, how, milliseconds{at});
    return g;
  }
  /// Names of the guests that are closed, in order.
  std::string closed(std::size_t more_than = 0, int before = 1000) {
    gone.clear();
    while (all.close_one(more_than, milliseconds{before}, milliseconds{before})) {}
    return gone;
  }

  const config::address_block trusted[1] = {*config::parse_address_block("10.0.0.0/8")};
  int times_over = 0;
  std::string gone;
  crowd all;
  std::deque<visitor> guests;
};

std::string name_of(guest* g) { return g ? static_cast<visitor*>(g)->name : std::string{}; }

} // namespace

CAF_TEST(from eighty percent on and for sockets from ninety) {
  CAF_CHECK(!is_crowded(15'000, 19'000)); // a stadium behind one address
  CAF_CHECK(!is_crowded(15'199, 19'000));
  CAF_CHECK(is_crowded(15'200, 19'000));
  CAF_CHECK(is_crowded(1'000'000, 1'000'000));
  CAF_CHECK(has_room_for_socket(17'099, 19'000));
  CAF_CHECK(!has_room_for_socket(17'100, 19'000));
}

CAF_TEST(of the address that holds most the least needed and oldest goes first) {
  hall h;
  h.add("x", "192.0.2.2", standing::owing);
  h.add("f", "192.0.2.1", standing::idle, 5);
  h.add("e", "192.0.2.1", standing::extra, 7);
  h.add("d", "192.0.2.1", standing::owing, 9);
  h.add("c", "192.0.2.1", standing::owing, 8);
  h.add("b", "192.0.2.1", standing::unread, 20);
  h.add("a", "192.0.2.1", standing::needed, 1);
  // "d" stands before "c" in its list: times do not go back in a server
  CAF_CHECK_EQUAL(h.closed(1), "bdcef"); // then one is left at each address
  CAF_CHECK_EQUAL(h.closed(0), "x"); // a place's only socket stays
}

CAF_TEST(a connection whose standing has just begun is not closed) {
  hall h;
  h.add("a", "192.0.2.1", standing::owing, 10);
  h.add("b", "192.0.2.1", standing::owing, 20);
  CAF_CHECK_EQUAL(h.closed(0, 9), "");
  CAF_CHECK_EQUAL(h.closed(0, 10), "a");
}

CAF_TEST(who has unread input is asked last and does not save those of another standing) {
  hall h;
  for (std::size_t i = 0; i < standing_looks_max + 2; ++i)
    h.add("r", "192.0.2.1", standing::owing).stays = true;
  h.add("i", "192.0.2.1", standing::idle);
  CAF_CHECK_EQUAL(h.closed(), "i");
  h.add("o", "192.0.2.1", standing::owing, 999);
  CAF_CHECK_EQUAL(h.closed(), ""); // too many stand before it
  CAF_CHECK_EQUAL(h.closed(), "o"); // they have been asked
}

CAF_TEST(the next address is asked if the largest needs all and equal ones one after the other) {
  hall h;
  for (int i = 0; i < 5; ++i) h.add("n", "192.0.2.1", standing::needed);
  for (int i = 0; i < 3; ++i) h.add("a", "192.0.2.2", standing::idle, i);
  for (int i = 0; i < 3; ++i) h.add("b", "192.0.2.3", standing::idle, i);
  const auto names = h.closed(1);
  CAF_CHECK(names == "abab" || names == "baba");
  CAF_CHECK_EQUAL(h.all.size_of(boost::asio::ip::make_address("192.0.2.1")), 5u);
}

CAF_TEST(an address is a whole IPv4 address or a 64 of IPv6 and a trusted proxy is none) {
  hall h;
  h.add("a", "2001:db8::1", standing::idle);
  h.add("b", "2001:db8::2", standing::idle);
  h.add("c", "2001:db8:0:1::1", standing::idle);
  for (int i = 0; i < 9; ++i) h.add("p", "10.0.0.1", standing::owing);
  h.add("d", "::ffff:10.0.0.1", standing::owing);
  CAF_CHECK_EQUAL(h.all.size_of(boost::asio::ip::make_address("2001:db8::9")), 2u);
  CAF_CHECK_EQUAL(h.closed(1), "a");
  CAF_CHECK_EQUAL(h.closed(0).size(), 2u); // never the proxy's
}

CAF_TEST(a connection moves to the client that its proxy names) {
  hall h;
  auto& g = h.add("g", "10.0.0.1", standing::idle);
  h.all.enter(g, boost::asio::ip::make_address("192.0.2.1"));
  CAF_CHECK_EQUAL(h.all.size_of(boost::asio::ip::make_address("192.0.2.1")), 1u);
  h.all.enter(g, boost::asio::ip::make_address("10.0.0.1"));
  CAF_CHECK_EQUAL(h.all.size_of(boost::asio::ip::make_address("192.0.2.1")), 0u);
}

CAF_TEST(an extra socket is found among the largest addresses) {
  hall h;
  CAF_CHECK_EQUAL(name_of(h.all.extra_socket()), "");
  h.add("a", "192.0.2.2", standing::extra);
  for (int i = 0; i < 2; ++i) h.add("n", "192.0.2.1", standing::needed);
  CAF_CHECK_EQUAL(name_of(h.all.extra_socket()), "a");
  h.add("b", "192.0.2.1", standing::extra);
  CAF_CHECK_EQUAL(name_of(h.all.extra_socket()), "b");
}

CAF_TEST(output beyond the budget of an address or of all closes clients that do not read) {
  hall h{100, 250};
  const auto owes = [&](const char* name, const char* address, std::size_t bytes, int at) -> visitor& {
    auto& g = h.add(name, address, standing::unread, at);
    h.all.owe(g, bytes);
    return g;
  };
  auto& a = owes("a", "192.0.2.1", 60, 1);
  CAF_CHECK_EQUAL(name_of(h.all.over_budget()), "");
  owes("b", "192.0.2.1", 60, 2);
  CAF_CHECK_EQUAL(h.times_over, 1);
  CAF_CHECK_EQUAL(name_of(h.all.over_budget()), "a"); // the oldest
  h.all.leave(a);
  CAF_CHECK_EQUAL(name_of(h.all.over_budget()), "");
  owes("c", "192.0.2.2", 90, 3);
  owes("d", "192.0.2.3", 70, 4);
  CAF_CHECK_EQUAL(h.times_over, 1);
  auto& e = owes("e", "192.0.2.4", 40, 5);
  CAF_CHECK_EQUAL(h.times_over, 2);
  CAF_CHECK_EQUAL(h.all.pending(), 260u);
  CAF_CHECK_EQUAL(name_of(h.all.over_budget()), "c"); // of the address with the most
  h.all.owe(e, 10);
  CAF_CHECK_EQUAL(name_of(h.all.over_budget()), "");
  auto& p = owes("p", "10.0.0.1", 500, 6);
  CAF_CHECK_EQUAL(name_of(h.all.over_budget()), "p"); // a proxy's clients count together
  h.all.leave(p);
  CAF_CHECK_EQUAL(h.all.pending(), 230u);
}

CAF_TEST(relief ends when the output is within its limits) {
  hall h{100, 250};
  for (int i = 0; i < 5; ++i) h.all.owe(h.add("x", "192.0.2.1", standing::unread, i), 40);
  h.all.relieve();
  CAF_CHECK_EQUAL(h.all.pending(), 80u);
  CAF_CHECK_EQUAL(h.all.size_of(boost::asio::ip::make_address("192.0.2.1")), 2u);
}

} // namespace crowd_test
