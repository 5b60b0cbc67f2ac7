// SPDX-License-Identifier: Apache-2.0
// The response parser: complete, split, chunked and invalid replies.
#define CAF_SUITE load.http_reply
#include "caf/test/unit_test.hpp"

#include "load/wire/http_reply.hpp"

using namespace fq::load;

namespace {

constexpr std::string_view simple = "HTTP/1.1 201 Created\r\nContent-Length: 5\r\nRetry-After: 3\r\n"
                                    "Idempotency-Replayed: true\r\n\r\nhello";

parse_result parse(std::string text, http_reply& reply, bool at_end = false) {
  return take_reply(text, at_end, reply);
}

} // namespace

CAF_TEST(a reply with a length is taken and the rest stays) {
  std::string inbox(simple);
  inbox += "HTTP/1.1";
  http_reply reply;
  CAF_REQUIRE(take_reply(inbox, false, reply) == parse_result::done);
  CAF_CHECK_EQUAL(reply.status, 201);
  CAF_CHECK_EQUAL(reply.body, "hello");
  CAF_CHECK_EQUAL(reply.retry_after_s, 3);
  CAF_CHECK(reply.replayed);
  CAF_CHECK(reply.keep_alive);
  CAF_CHECK_EQUAL(inbox, "HTTP/1.1");
}

CAF_TEST(every shorter piece asks for more) {
  for (std::size_t size = 0; size < simple.size(); ++size) {
    http_reply reply;
    CAF_CHECK(parse(std::string(simple.substr(0, size)), reply) == parse_result::need_more);
  }
}

CAF_TEST(chunks are joined) {
  http_reply reply;
  CAF_REQUIRE(parse("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                    "3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
                    reply)
              == parse_result::done);
  CAF_CHECK_EQUAL(reply.body, "abc0123456789");
}

CAF_TEST(a body without a length ends with the connection) {
  http_reply reply;
  const std::string text = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc";
  CAF_CHECK(parse(text, reply) == parse_result::need_more);
  CAF_REQUIRE(parse(text, reply, true) == parse_result::done);
  CAF_CHECK_EQUAL(reply.body, "abc");
  CAF_CHECK(!reply.keep_alive);
}

CAF_TEST(204 has no body and 100 is skipped) {
  http_reply reply;
  CAF_REQUIRE(parse("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", reply)
              == parse_result::done);
  CAF_CHECK_EQUAL(reply.status, 204);
}

CAF_TEST(nonsense is bad) {
  http_reply reply;
  CAF_CHECK(parse("ICY 200 OK whatever\r\n\r\n", reply) == parse_result::bad);
  CAF_CHECK(parse("HTTP/1.1 2x0 OK\r\n\r\n", reply) == parse_result::bad);
  CAF_CHECK(parse("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", reply) == parse_result::bad);
  CAF_CHECK(parse("HTTP/1.1 200 OK\r\nContent-Length: 12x\r\n\r\n", reply) == parse_result::bad);
  CAF_CHECK(parse("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", reply) == parse_result::bad);
  CAF_CHECK(parse(std::string(reply_head_max_bytes + 1, 'x'), reply) == parse_result::bad);
}
