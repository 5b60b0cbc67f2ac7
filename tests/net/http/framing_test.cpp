// SPDX-License-Identifier: Apache-2.0
// All known framing attacks as raw bytes: the combined result of parser and guard.
#define CAF_SUITE net_framing
#include "caf/test/unit_test.hpp"

#include "net/http/parser.hpp"

#include <optional>
#include <string>

namespace framing_test {

using namespace fq::net;

namespace {

/// The status that the session answers to these bytes. 200: a framed request; 0: it waits for more.
struct outcome {
  unsigned status = 0;
  framing frame;
  std::string target; ///< a copy: the frame's view is dangling
  std::string body;
};

outcome read(std::string bytes) {
  request_parser parser;
  outcome result;
  switch (parser.parse_head(bytes.data(), bytes.size())) {
    case request_parser::step::need_more: return result;
    case request_parser::step::failed: result.status = status_of(parser.why()); return result;
    case request_parser::step::complete: break;
  }
  result.frame = check_framing(parser.head());
  if (result.frame.no) {
    result.status = status_of(*result.frame.no);
    return result;
  }
  result.target = result.frame.target;
  if (result.frame.kind == body_kind::chunked) {
    std::size_t consumed = 0;
    const auto* rest = bytes.data() + parser.head_size();
    const auto step =
      parser.parse_chunks(rest, bytes.size() - parser.head_size(), 16 * 1024, result.body, consumed);
    if (step == request_parser::step::need_more) return result;
    if (step == request_parser::step::failed) {
      result.status = status_of(parser.why());
      return result;
    }
  }
  result.status = 200;
  return result;
}

unsigned status(std::string bytes) { return read(std::move(bytes)).status; }

std::string post(const std::string& fields, const std::string& body = {}) {
  return "POST /x HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body;
}

} // namespace

CAF_TEST(a plain request is framed) {
  const auto r = read("GET /events/1?x=2 HTTP/1.1\r\nHost: a\r\n\r\n");
  CAF_CHECK_EQUAL(r.status, 200u);
  CAF_CHECK(r.frame.kind == body_kind::none);
  CAF_CHECK(r.frame.keep_alive);
  CAF_CHECK_EQUAL(r.target, "/events/1?x=2");
}

CAF_TEST(a length is a body) {
  const auto r = read(post("Content-Length: 5\r\n", "hello"));
  CAF_CHECK_EQUAL(r.status, 200u);
  CAF_CHECK(r.frame.kind == body_kind::length);
  CAF_CHECK_EQUAL(r.frame.length, 5u);
}

CAF_TEST(length and chunked together in either order are refused) {
  CAF_CHECK_EQUAL(status(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")), 400u);
  CAF_CHECK_EQUAL(status(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")), 400u);
}

CAF_TEST(an unknown transfer coding with a length is refused in either order) {
  CAF_CHECK_EQUAL(status(post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n", "hello")), 400u);
  CAF_CHECK_EQUAL(status(post("Content-Length: 5\r\nTransfer-Encoding: gzip\r\n", "hello")), 400u);
}

CAF_TEST(only exactly chunked is a transfer coding) {
  for (const char* value : {"xchunked", "chunked, identity", "chunked, chunked", "chunked,", "\"chunked\"",
                            "gzip", "identity", "chunked;q=1", "", ",chunked"}) {
    const auto got = status(post("Transfer-Encoding: " + std::string{value} + "\r\n"));
    CAF_MESSAGE(value);
    CAF_CHECK(got == 400u || got == 501u);
  }
  CAF_CHECK_EQUAL(status(post("Transfer-Encoding: gzip, chunked\r\n")), 501u);
  CAF_CHECK_EQUAL(status(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")),
                  400u);
  CAF_CHECK_EQUAL(status(post("Transfer-Encoding: \x0b"
                              "chunked\r\n",
                              "0\r\n\r\n")),
                  400u);
  CAF_CHECK_EQUAL(status(post("Transfer-Encoding: CHUNKED\r\n", "0\r\n\r\n")), 200u);
}

CAF_TEST(http 1 0 has no transfer coding) {
  CAF_CHECK_EQUAL(status("POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400u);
}

CAF_TEST(http 1 0 needs no host and closes unless told otherwise) {
  auto r = read("GET / HTTP/1.0\r\n\r\n");
  CAF_CHECK_EQUAL(r.status, 200u);
  CAF_CHECK(!r.frame.keep_alive);
  r = read("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CAF_CHECK(r.frame.keep_alive);
}

CAF_TEST(only one plain decimal content length is a length) {
  for (const char* value : {"+5", "-5", "0x5", "5 5", "5, 5", "5,", "", "99999999999999999999",
                            "18446744073709551621", "5a", "\"5\""}) {
    CAF_MESSAGE(value);
    CAF_CHECK_EQUAL(status(post("Content-Length: " + std::string{value} + "\r\n", "hello")), 400u);
  }
  CAF_CHECK_EQUAL(status(post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello")), 400u);
  CAF_CHECK_EQUAL(status(post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")), 400u);
  CAF_CHECK_EQUAL(status(post("Content-Length: 5\r\ncontent-length: 5\r\n", "hello")), 400u);
}

CAF_TEST(exactly one valid host is required) {
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"), 200u);
}

CAF_TEST(a host has the characters of names and addresses and no others) {
  constexpr std::string_view allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "-._~!$&'()*+;=:[]%";
  for (int code = 0; code < 256; ++code) {
    CAF_MESSAGE(code);
    const auto c = static_cast<char>(code);
    const auto wanted = allowed.find(c) == std::string_view::npos ? 400u : 200u;
    for (const auto& host : {std::string{'a', c, 'b'}, std::string{c, 'b'}, std::string{'a', c}})
      if ((c != ' ' && c != '\t') || host.size() == 3) // a blank at an end is no part of it
        CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost:" + host + "\r\n\r\n"), wanted);
  }
}

CAF_TEST(malformed lines are refused) {
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost : a\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status(std::string{"GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 35}), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\nHost: a\n\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), 400u);
}

CAF_TEST(folded lines are refused) {
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n\t2\r\n\r\n"), 400u);
  CAF_CHECK_EQUAL(status(post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n")), 400u);
}

CAF_TEST(other versions are refused) {
  CAF_CHECK_EQUAL(status("GET / HTTP/1.2\r\nHost: a\r\n\r\n"), 505u);
  CAF_CHECK_EQUAL(status("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505u);
  CAF_CHECK_EQUAL(status("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505u);
  CAF_CHECK_EQUAL(status("GET / HTTX/1.1\r\nHost: a\r\n\r\n"), 505u);
  CAF_CHECK_EQUAL(status("GET /\r\n\r\n"), 400u);
}

CAF_TEST(chunks are decoded strictly) {
  const auto chunked = [](const std::string& body) {
    return read(post("Transfer-Encoding: chunked\r\n", body));
  };
  CAF_CHECK_EQUAL(chunked("5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n").body, "helloabc");
  CAF_CHECK_EQUAL(chunked("5;a=b\r\nhello\r\n0\r\n\r\n").body, "hello");
  CAF_CHECK_EQUAL(chunked("5;" + std::string(400, 'a') + "\r\nhello\r\n0\r\n\r\n").status, 400u);
  CAF_CHECK_EQUAL(chunked("FFFFFFFFFFFFFFFFF\r\nhello").status, 400u);
  CAF_CHECK_EQUAL(chunked("-5\r\nhello\r\n0\r\n\r\n").status, 400u);
  CAF_CHECK_EQUAL(chunked("0x5\r\nhello\r\n0\r\n\r\n").status, 400u);
  CAF_CHECK_EQUAL(chunked(" 5\r\nhello\r\n0\r\n\r\n").status, 400u);
  CAF_CHECK_EQUAL(chunked("5\r\nhelloX\r\n0\r\n\r\n").status, 400u);
  CAF_CHECK_EQUAL(chunked("5\nhello\n0\n\n").status, 400u);
  CAF_CHECK_EQUAL(chunked("8000\r\n" + std::string(0x8000, 'x') + "\r\n0\r\n\r\n").status, 413u);
  CAF_CHECK_EQUAL(chunked("5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n").status, 200u);
  CAF_CHECK_EQUAL(chunked("5\r\nhel").status, 0u);
  CAF_CHECK_EQUAL(chunked("5" + std::string(2000, ' ')).status, 400u);
}

CAF_TEST(a trailer cannot add a header field) {
  auto r = read(post("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\nAuthorization: Bearer x\r\n\r\n"));
  CAF_CHECK_EQUAL(r.status, 200u);
}

CAF_TEST(targets are in origin form or our own absolute form) {
  const auto get = [](const std::string& target) {
    return read("GET " + target + " HTTP/1.1\r\nHost: shop.test\r\n\r\n");
  };
  CAF_CHECK_EQUAL(get("http://other.test/x").status, 400u);
  CAF_CHECK_EQUAL(get("http://shop.test/x").status, 200u);
  CAF_CHECK_EQUAL(get("http://SHOP.test/x?y").target, "/x?y");
  CAF_CHECK_EQUAL(get("http://shop.test").status, 400u);
  CAF_CHECK_EQUAL(get("ftp://shop.test/x").status, 400u);
  CAF_CHECK_EQUAL(get("x").status, 400u);
  CAF_CHECK_EQUAL(get("*").status, 400u);
  CAF_CHECK_EQUAL(get("/x#y").status, 400u);
  CAF_CHECK_EQUAL(get("/\x80").status, 400u);
}

CAF_TEST(unknown and lower case methods are refused) {
  CAF_CHECK_EQUAL(status("get / HTTP/1.1\r\nHost: a\r\n\r\n"), 405u);
  CAF_CHECK_EQUAL(status("BREW / HTTP/1.1\r\nHost: a\r\n\r\n"), 405u);
  CAF_CHECK_EQUAL(status("CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n"), 405u);
}

CAF_TEST(single fields must be single) {
  for (const char* name :
       {"Authorization", "Content-Type", "Idempotency-Key", "Origin", "Sec-WebSocket-Key", "Expect"}) {
    const auto line = std::string{name} + ": 100-continue\r\n";
    CAF_CHECK_EQUAL(status(post(line)), 200u);
    CAF_CHECK_EQUAL(status(post(line + line)), 400u);
  }
}

CAF_TEST(headers are bounded in bytes and fields) {
  CAF_CHECK_EQUAL(status(post("X: " + std::string(9000, 'a') + "\r\n")), 431u);
  CAF_CHECK_EQUAL(status("GET /" + std::string(9000, 'a')), 431u);
  std::string many;
  for (int i = 0; i < 120; ++i) many += "X: y\r\n";
  CAF_CHECK_EQUAL(status(post(many)), 431u);
}

CAF_TEST(only 100 continue can be expected) {
  CAF_CHECK(read(post("Expect: 100-continue\r\nContent-Length: 3\r\n", "abc")).frame.expects_continue);
  CAF_CHECK_EQUAL(status(post("Expect: 200-ok\r\n")), 417u);
}

CAF_TEST(connection options decide about keeping) {
  CAF_CHECK(!read(post("Connection: close\r\n")).frame.keep_alive);
  CAF_CHECK(!read(post("Connection: foo, CLOSE\r\n")).frame.keep_alive);
  CAF_CHECK(!read(post("Connection: keep-alive\r\nConnection: close\r\n")).frame.keep_alive);
  CAF_CHECK(read(post("Connection: upgrade\r\n")).frame.keep_alive);
}

CAF_TEST(a header split anywhere is the same header) {
  const std::string whole = post("Content-Length: 0\r\nX-A: b\r\n");
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    request_parser parser;
    CAF_REQUIRE(parser.parse_head(whole.data(), cut) == request_parser::step::need_more);
    CAF_REQUIRE(parser.parse_head(whole.data(), whole.size()) == request_parser::step::complete);
    CAF_REQUIRE_EQUAL(parser.head_size(), whole.size());
    CAF_REQUIRE_EQUAL(parser.head().fields.size(), 3u);
    CAF_REQUIRE(!parser.head().has_folded_line);
  }
  const std::string with_fold = post("X-A: b\r\n c\r\n");
  for (std::size_t cut = 1; cut < with_fold.size(); ++cut) {
    request_parser parser;
    CAF_REQUIRE(parser.parse_head(with_fold.data(), cut) == request_parser::step::need_more);
    CAF_REQUIRE(parser.parse_head(with_fold.data(), with_fold.size()) == request_parser::step::complete);
    CAF_REQUIRE(parser.head().has_folded_line);
  }
}

CAF_TEST(chunks split anywhere are the same body) {
  const std::string head = post("Transfer-Encoding: chunked\r\n");
  const std::string rest = "5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\n";
  for (std::size_t cut = 0; cut <= rest.size(); ++cut) {
    request_parser parser;
    CAF_REQUIRE(parser.parse_head(head.data(), head.size()) == request_parser::step::complete);
    std::string body;
    std::size_t consumed = 0;
    auto step = parser.parse_chunks(rest.data(), cut, 100, body, consumed);
    if (step == request_parser::step::need_more) {
      const auto used = consumed;
      step = parser.parse_chunks(rest.data() + used, rest.size() - used, 100, body, consumed);
    }
    CAF_REQUIRE(step == request_parser::step::complete);
    CAF_REQUIRE_EQUAL(body, "helloabc");
  }
}

} // namespace framing_test
