// SPDX-License-Identifier: Apache-2.0
// X-Forwarded-For: only entries of trusted hops count.
#define CAF_SUITE routes_client_address
#include "caf/test/unit_test.hpp"

#include "net/http/client_address.hpp"
#include "net/service/services.hpp"

#include <string>

namespace client_address_test {

using namespace fq;
using namespace fq::net;

namespace {

using fields = std::vector<std::pair<std::string_view, std::string_view>>;

const std::vector<config::address_block> proxies{*config::parse_address_block("10.0.0.0/8"),
                                                 *config::parse_address_block("fd00::/8")};

std::string client(const char* peer, const fields& f,
                   const std::vector<config::address_block>& trusted = proxies) {
  return client_address(boost::asio::ip::make_address(peer), f, trusted).to_string();
}

} // namespace

CAF_TEST(an untrusted peer is the client whatever it says) {
  CAF_CHECK_EQUAL(client("192.0.2.9", {{"X-Forwarded-For", "1.2.3.4"}}), "192.0.2.9");
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", "1.2.3.4"}}, {}), "10.0.0.1");
}

CAF_TEST(the last untrusted hop before a trusted peer is the client) {
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", "1.2.3.4"}}), "1.2.3.4");
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"x-forwarded-for", "6.6.6.6, 1.2.3.4"}}), "1.2.3.4");
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", "6.6.6.6, 1.2.3.4 ,\t10.9.9.9"}}), "1.2.3.4");
  CAF_CHECK_EQUAL(
    client("10.0.0.1",
           {{"X-Forwarded-For", "6.6.6.6"}, {"Host", "x"}, {"X-Forwarded-For", "1.2.3.4, 10.1.1.1"}}),
    "1.2.3.4");
  CAF_CHECK_EQUAL(client("fd00::1", {{"X-Forwarded-For", "2001:db8::7"}}), "2001:db8::7");
}

CAF_TEST(without anything readable the last trusted hop is the client) {
  CAF_CHECK_EQUAL(client("10.0.0.1", {}), "10.0.0.1");
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", ""}}), "10.0.0.1");
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", "unknown"}}), "10.0.0.1");
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", "1.2.3.4, garbage, 10.0.0.2"}}), "10.0.0.2");
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", "1.2.3.4,,"}}), "10.0.0.1");
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", "10.0.0.3, 10.0.0.2"}}), "10.0.0.3");
}

CAF_TEST(a hundred hops end the walk) {
  std::string hops = "1.2.3.4";
  for (int i = 0; i < 100; ++i) hops += ", 10.0.0." + std::to_string(i);
  CAF_CHECK_EQUAL(client("10.0.0.1", {{"X-Forwarded-For", hops}}), "10.0.0.68");
}

CAF_TEST(forms of an address) {
  const auto parsed = [](const char* text) {
    const auto a = parse_forwarded(text);
    return a ? a->to_string() : std::string{"none"};
  };
  CAF_CHECK_EQUAL(parsed("1.2.3.4"), "1.2.3.4");
  CAF_CHECK_EQUAL(parsed(" 1.2.3.4:8080 "), "1.2.3.4");
  CAF_CHECK_EQUAL(parsed("2001:db8::1"), "2001:db8::1");
  CAF_CHECK_EQUAL(parsed("[2001:db8::1]"), "2001:db8::1");
  CAF_CHECK_EQUAL(parsed("[2001:db8::1]:443"), "2001:db8::1");
  CAF_CHECK_EQUAL(parsed("::ffff:1.2.3.4"), "1.2.3.4");
  CAF_CHECK_EQUAL(parsed("[::ffff:1.2.3.4]:1"), "1.2.3.4");
  for (const auto* wrong :
       {"", "x", "1.2.3", "1.2.3.4.5", "1.2.3.4:", "1.2.3.4:x", "1.2.3.4:123456", "[2001:db8::1",
        "[2001:db8::1]x", "fe80::1%eth0", "\"1.2.3.4\"", "localhost", "0x7f.1", "2130706433", "1.2.3.4 5"})
    CAF_CHECK_EQUAL(parsed(wrong), "none");
}

CAF_TEST(limits see whole IPv4 addresses and the network half of IPv6) {
  const auto of = [](const char* text) { return limit_key(boost::asio::ip::make_address(text)); };
  CAF_CHECK(of("1.2.3.4") == of("::ffff:1.2.3.4"));
  CAF_CHECK(of("1.2.3.4") != of("1.2.3.5"));
  CAF_CHECK(of("2001:db8:1:2::1") == of("2001:db8:1:2:ffff::9"));
  CAF_CHECK(of("2001:db8:1:2::1") != of("2001:db8:1:3::1"));
}

} // namespace client_address_test
