// SPDX-License-Identifier: Apache-2.0
// Public addresses: the edges of every block, and IPv4 addresses in all their embedded forms.
#define CAF_SUITE domain_address_guard
#include "domain/base/address_guard.hpp"

#include "caf/test/unit_test.hpp"

#include <string>

#include <arpa/inet.h>

namespace address_guard_test {

using namespace fq;

namespace {

/// The address's special purpose; "" for a public address, "?" for text that is not an address.
std::string purpose(const std::string& text) {
  ipv4_bytes four{};
  if (::inet_pton(AF_INET, text.c_str(), four.data()) == 1) return std::string{special_purpose_of(four)};
  ipv6_bytes six{};
  if (::inet_pton(AF_INET6, text.c_str(), six.data()) == 1) return std::string{special_purpose_of(six)};
  return "?";
}

} // namespace

CAF_TEST(ordinary hosts of the internet are public) {
  for (const auto* text : {"1.1.1.1", "8.8.8.8", "93.184.216.34", "52.31.139.75", "2606:4700:4700::1111",
                           "2001:4860:4860::8888", "2a00:1450:4001::1", "2400:cb00::1", "2620:4f:8000::1"}) {
    CAF_MESSAGE(text);
    CAF_CHECK_EQUAL(purpose(text), "");
  }
}

CAF_TEST(every block ends where its registry says) {
  struct edge {
    const char *before, *first, *last, *after; // null: no public neighbour
    const char* name;
  };
  const edge edges[] = {
    {nullptr, "0.0.0.0", "0.255.255.255", "1.0.0.0", "this network"},
    {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0", "private use"},
    {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0", "shared address space"},
    {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0", "loopback"},
    {"168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17", "metadata"},
    {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0", "link-local"},
    {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0", "private use"},
    {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0", "protocol assignments"},
    {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0", "documentation"},
    {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0", "6to4 relay"},
    {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0", "private use"},
    {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0", "benchmarking"},
    {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0", "documentation"},
    {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0", "documentation"},
    {"223.255.255.255", "224.0.0.0", "239.255.255.255", nullptr, "multicast"},
    {nullptr, "240.0.0.0", "255.255.255.255", nullptr, "reserved"},
    {nullptr, "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", "protocol assignments"},
    {"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
     "2001:db9::", "documentation"},
    {"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
     "3fff:1000::", "documentation"},
    {nullptr, "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr, "not global unicast"},
    {nullptr, "::1:0:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::", "not global unicast"},
  };
  for (const auto& e : edges) {
    CAF_MESSAGE(e.first);
    if (e.before != nullptr) CAF_CHECK_EQUAL(purpose(e.before), "");
    CAF_CHECK_EQUAL(purpose(e.first), e.name);
    CAF_CHECK_EQUAL(purpose(e.last), e.name);
    if (e.after != nullptr) CAF_CHECK_EQUAL(purpose(e.after), "");
  }
}

CAF_TEST(nothing but global unicast is public in IPv6) {
  for (const auto* text :
       {"fe80::1", "febf::1", "fec0::1", "fc00::1", "fd00::1", "fd00:ec2::254", "ff02::1", "ff0e::1",
        "100::1", "100:0:0:1::1", "5f00::1", "64:ff9b:1::1", "64:ff9b:1:ffff::8.8.8.8", "::ffff:0:8.8.8.8"}) {
    CAF_MESSAGE(text);
    CAF_CHECK_EQUAL(purpose(text), "not global unicast");
  }
  CAF_CHECK_EQUAL(purpose("2001::8.8.8.8"), "protocol assignments"); // Teredo
  CAF_CHECK_EQUAL(purpose("2001:2::1"), "protocol assignments"); // benchmarking
}

CAF_TEST(an address that carries another is what that one is) {
  for (const std::string prefix : {"::ffff:", "::", "64:ff9b::"}) {
    CAF_MESSAGE(prefix);
    CAF_CHECK_EQUAL(purpose(prefix + "127.0.0.1"), "loopback");
    CAF_CHECK_EQUAL(purpose(prefix + "10.1.2.3"), "private use");
    CAF_CHECK_EQUAL(purpose(prefix + "169.254.169.254"), "link-local");
    CAF_CHECK_EQUAL(purpose(prefix + "100.100.100.200"), "shared address space");
    CAF_CHECK_EQUAL(purpose(prefix + "255.255.255.255"), "reserved");
    CAF_CHECK_EQUAL(purpose(prefix + "8.8.8.8"), "");
  }
  CAF_CHECK_EQUAL(purpose("::"), "this network");
  CAF_CHECK_EQUAL(purpose("::1"), "this network");
  CAF_CHECK_EQUAL(purpose("::ffff:7f00:1"), "loopback");
  CAF_CHECK_EQUAL(purpose("2002:7f00:1::"), "loopback");
  CAF_CHECK_EQUAL(purpose("2002:a9fe:a9fe::1"), "link-local");
  CAF_CHECK_EQUAL(purpose("2002:c0a8:101:1::1"), "private use");
  CAF_CHECK_EQUAL(purpose("2002:808:808::1"), "");
  CAF_CHECK_EQUAL(purpose("2606:4700::5efe:10.0.0.1"), "ISATAP of a private address");
  CAF_CHECK_EQUAL(purpose("2606:4700::200:5efe:127.0.0.1"), "ISATAP of a private address");
  CAF_CHECK_EQUAL(purpose("2606:4700::5efe:8.8.8.8"), "");
  CAF_CHECK_EQUAL(purpose("2606:4700::5eff:10.0.0.1"), "");
}

CAF_TEST(of all IPv4 networks just those blocks are special) {
  // One address of each /16; the smaller blocks are tested above.
  int special = 0;
  for (std::uint32_t net = 0; net < 65536; ++net)
    special +=
      is_public(ipv4_bytes{static_cast<std::uint8_t>(net >> 8), static_cast<std::uint8_t>(net), 77, 77}) ? 0
                                                                                                         : 1;
  const int expected = 256 /* 0/8 */ + 256 /* 10/8 */ + 64 /* 100.64/10 */ + 256 /* 127/8 */
                       + 1 /* 169.254/16 */ + 16 /* 172.16/12 */ + 1 /* 192.168/16 */
                       + 2 /* 198.18/15 */ + 2 * 4096 /* 224/4, 240/4 */;
  CAF_CHECK_EQUAL(special, expected);
}

} // namespace address_guard_test
