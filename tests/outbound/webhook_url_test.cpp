// SPDX-License-Identifier: Apache-2.0
// Which urls an endpoint may have: every way of writing an address that a resolver somewhere understands.
#define CAF_SUITE webhook_url
#include "caf/test/unit_test.hpp"

#include "outbound/webhook_url.hpp"

#include <initializer_list>
#include <string>

namespace webhook_url_test {

using namespace fq;

namespace {

void check(std::string_view reason, std::initializer_list<std::string> urls,
           const webhook_url_rules& rules = {}) {
  for (const auto& url : urls) {
    const auto said = wrong_with_url(url, rules);
    if (said != reason)
      CAF_MESSAGE("'" << url.substr(0, 100) << "' is '" << said << "' and should be '" << reason << "'");
    CAF_CHECK_EQUAL(std::string{said}, std::string{reason});
  }
}

} // namespace

CAF_TEST(ordinary urls are taken) {
  check("", {"https://hooks.example.com", "https://hooks.example.com/",
             "https://Hooks.Example.COM/a/b?c=d&e=%20", "https://hooks.example.com:443/",
             "https://hooks.example.com:8443/x", "https://93.184.216.34/x", "https://[2606:4700:4700::1111]/",
             "https://[2606:4700:4700::1111]:8443/", "https://xn--mnchen-3ya.example/",
             "https://a.b-c.d1.example/", "https://1.2.3.example/", "https://localhost.example.com/",
             "https://local.example.com/", "https://mylocal.example/", "HTTPS://hooks.example.com/"});
}

CAF_TEST(only https leaves the house) {
  check("not_https", {"http://hooks.example.com/", "http://127.0.0.1", "gopher://hooks.example.com:70/_x",
                      "ftp://hooks.example.com/", "ldap://hooks.example.com/", "ws://hooks.example.com/",
                      "httpsx://hooks.example.com/", "file://hooks.example.com/etc/passwd",
                      "dict://127.0.0.1:11211/stat"});
  check("malformed", {"file:/etc/passwd", "javascript:alert(1)", "data:text/html,x",
                      "https:hooks.example.com", "https:/hooks.example.com"});
  check("not_https", {"file:///etc/passwd", "gopher://127.0.0.1:6379/_x"});
}

CAF_TEST(addresses of our own side are refused however they are written) {
  check("private_address", {"https://127.0.0.1",
                            "https://127.0.0.1:8443/",
                            "https://0.0.0.0/",
                            "https://10.0.0.1/",
                            "https://100.64.0.1/",
                            "https://169.254.169.254/latest/meta-data/",
                            "https://172.16.0.1/",
                            "https://192.168.1.1/",
                            "https://198.18.0.1/",
                            "https://224.0.0.1/",
                            "https://255.255.255.255/",
                            "https://168.63.129.16/",
                            "https://[::1]/",
                            "https://[::]/",
                            "https://[fd00::1]/",
                            "https://[fe80::1]/",
                            "https://[ff02::1]/",
                            "https://[::ffff:7f00:1]/",
                            "https://[::7f00:1]/",
                            "https://[64:ff9b::7f00:1]/",
                            "https://[2002:7f00:1::]/",
                            "https://[2001:db8::1]/",
                            "https://[0:0:0:0:0:0:0:1]/",
                            "https://[FD00::1]/"});
  check("malformed", {"https://2130706433",
                      "https://2130706433/",
                      "https://0x7f.1",
                      "https://0x7f000001/",
                      "https://0X7F.0.0.1/",
                      "https://127.1",
                      "https://127.0.1/",
                      "https://0177.0.0.1/",
                      "https://017700000001/",
                      "https://127.0.0.01/",
                      "https://127.0.0.1./",
                      "https://127.0.0.256/",
                      "https://1.2.3.4.5/",
                      "https://[::ffff:127.0.0.1]",
                      "https://[::127.0.0.1]/",
                      "https://[::ffff:8.8.8.8]/",
                      "https://[fe80::1%25eth0]/",
                      "https://[fe80::1%eth0]/",
                      "https://[v1.x]/",
                      "https://[127.0.0.1]/",
                      "https://[::1",
                      "https://::1/",
                      "https://%31%32%37.0.0.1/",
                      "https://%6c%6f%63%61%6c%68%6f%73%74/",
                      "https://127%2e0%2e0%2e1/"});
}

CAF_TEST(names that stay inside are refused) {
  check("private_name",
        {"https://localhost", "https://LocalHost:8443/", "https://a.localhost/", "https://printer.local/",
         "https://metadata.google.internal/computeMetadata/v1/", "https://vault.INTERNAL/", "https://redis/",
         "https://intranet/", "https://fq.lan/", "https://nas.home.arpa/", "https://localhost.localdomain/"});
  check("malformed", {"https://localhost./", "https://localhost.", "https://hooks.example.com./",
                      "https://a..example/", "https://.example/", "https://-a.example/",
                      "https://a-.example/", "https://a_b.example/", "https://a.example\xe3\x80\x82/",
                      "https://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1/", "https://a!b.example/",
                      "https://*.example/", "https://" + std::string(64, 'a') + ".example/", "https://" + [] {
                        std::string s;
                        for (int i = 0; i < 64; ++i) s += "abc.";
                        return s;
                      }() + "example/"});
}

CAF_TEST(nothing is hidden in a url) {
  check("userinfo", {"https://user@hooks.example.com/", "https://user:secret@hooks.example.com/",
                     "https://@hooks.example.com/", "https://hooks.example.com@127.0.0.1/",
                     "https://:@hooks.example.com/", "https://hooks.example.com:443@127.0.0.1/"});
  check("fragment", {"https://hooks.example.com/#x", "https://hooks.example.com#",
                     "https://hooks.example.com#@127.0.0.1/"});
  check("malformed", {"",
                      "hooks.example.com",
                      "//hooks.example.com/",
                      "/x",
                      "https://",
                      "https:///x",
                      "https://hooks.example.com/a b",
                      "https://hooks.example.com/\r\nX: y",
                      "https://hooks.example.com/\n",
                      "https://hooks.example.com/\t",
                      "https://hooks.example.com/%0",
                      "https://hooks.example.com\\@127.0.0.1/",
                      "https://127.0.0.1\\.example.com/",
                      " https://hooks.example.com/",
                      "https://hooks.example.com/ ",
                      "https://hooks.example.com/\x7f",
                      "https://hooks.example.com/\xc3\xa4",
                      "https://a@b@hooks.example.com/",
                      "https://hooks.example.com/<x>",
                      std::string{"https://hooks.example.com/\0x", 28}});
  const std::string stem = "https://hooks.example.com/";
  check("", {stem + std::string(webhook_url_bytes_max - stem.size(), 'a')});
  check("too_long",
        {stem + std::string(webhook_url_bytes_max - stem.size() + 1, 'a'), std::string(1'000'000, 'h')});
}

CAF_TEST(ports are those of the rules) {
  check("port",
        {"https://hooks.example.com:22/", "https://hooks.example.com:6379/", "https://hooks.example.com:80/",
         "https://hooks.example.com:0/", "https://hooks.example.com:08443/", "https://hooks.example.com:/",
         "https://hooks.example.com:65979/" /* 443 + 65536 */});
  check("malformed", {"https://hooks.example.com:-1/", "https://hooks.example.com:443x/",
                      "https://hooks.example.com:443:80/", "https://93.184.216.34x.example/"});
  webhook_url_rules rules;
  rules.ports = {9000};
  check("", {"https://hooks.example.com:9000/", "https://hooks.example.com/"}, rules);
  check("port", {"https://hooks.example.com:8443/"}, rules);
}

CAF_TEST(the test switches open the inside and plain http and nothing else) {
  webhook_url_rules inside;
  inside.allow_private = true;
  check("", {"https://127.0.0.1/", "https://localhost:8443/", "https://[::1]/", "https://receiver/"}, inside);
  check("not_https", {"http://127.0.0.1/"}, inside);
  check("malformed", {"https://127.1/", "https://2130706433/", "https://localhost./"}, inside);
  check("port", {"https://127.0.0.1:22/"}, inside);
  inside.allow_http = true;
  check("", {"http://127.0.0.1/", "http://127.0.0.1:8443/"}, inside);
  check("not_https", {"gopher://127.0.0.1/", "file:///etc/passwd"}, inside);
  check("userinfo", {"http://u@127.0.0.1/"}, inside);
}

} // namespace webhook_url_test
