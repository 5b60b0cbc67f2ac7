// SPDX-License-Identifier: Apache-2.0
// Addresses and blocks: what is accepted, what is refused, and who is inside.
#define CAF_SUITE network
#include "caf/test/unit_test.hpp"

#include "config/network.hpp"

using namespace fq::config;

CAF_TEST(endpoints round trip) {
  for (const auto* text : {"127.0.0.1:8080", "0.0.0.0:0", "[::1]:65535", "[fe80::1]:80"}) {
    const auto parsed = parse_endpoint(text);
    CAF_REQUIRE(parsed.has_value());
    CAF_CHECK_EQUAL(to_string(*parsed), text);
  }
}

CAF_TEST(text that is no numeric endpoint is refused) {
  for (const auto* text :
       {"", ":", ":80", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1:08", "::1:80", "[::1]", "[127.0.0.1]:80", "127.0.0.1:80 ", "1.2.3:80", "[]:80"})
    CAF_CHECK(!parse_endpoint(text).has_value());
}

CAF_TEST(loopback is all of 127 and ::1) {
  CAF_CHECK(is_loopback({"127.9.9.9", 1}));
  CAF_CHECK(is_loopback({"::1", 1}));
  CAF_CHECK(!is_loopback({"0.0.0.0", 1}));
  CAF_CHECK(!is_loopback({"10.0.0.1", 1}));
}

CAF_TEST(blocks contain exactly their addresses) {
  const auto in = [](const char* block, const char* ip) {
    return parse_address_block(block)->contains(*parse_ip(ip));
  };
  CAF_CHECK(in("10.0.0.0/8", "10.255.255.255"));
  CAF_CHECK(!in("10.0.0.0/8", "11.0.0.0"));
  CAF_CHECK(in("192.168.4.0/22", "192.168.7.255"));
  CAF_CHECK(!in("192.168.4.0/22", "192.168.8.0"));
  CAF_CHECK(in("127.0.0.1", "127.0.0.1"));
  CAF_CHECK(!in("127.0.0.1", "127.0.0.2"));
  CAF_CHECK(in("0.0.0.0/0", "8.8.8.8"));
  CAF_CHECK(!in("0.0.0.0/0", "2001:db8::1"));
  CAF_CHECK(in("2001:db8::/33", "2001:db8:7fff::1"));
  CAF_CHECK(!in("2001:db8::/33", "2001:db8:8000::1"));
  CAF_CHECK(in("::/0", "10.0.0.1"));
  CAF_CHECK(in("10.0.0.0/8", "::ffff:10.1.1.1"));
}

CAF_TEST(mistaken blocks are refused and good ones round trip) {
  for (const auto* text : {"", "/8", "10.0.0.0/33", "10.1.2.3/8", "10.0.0.0/", "10.0.0.0/08", "::/129",
                           "host/8", "10.0.0.0/8/8"})
    CAF_CHECK(!parse_address_block(text).has_value());
  for (const auto* text : {"10.0.0.0/8", "127.0.0.1/32", "2001:db8::/32", "0.0.0.0/0", "::/0"})
    CAF_CHECK_EQUAL(to_string(*parse_address_block(text)), text);
}
