// SPDX-License-Identifier: Apache-2.0
// Webhook delivery against a scripted server on the loopback interface.
#define CAF_SUITE webhook_sender
#include "caf/test/unit_test.hpp"

#include "outbound/webhook_sender.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <atomic>
#include <chrono>

namespace webhook_sender_test {

using namespace fq;

using fq::test::answer;
using fq::test::scripted_answer;
using fq::test::scripted_request;
using fq::test::scripted_server;

namespace {

std::string hook_at(const scripted_server& server) { return server.url() + "/hook"; }

} // namespace

CAF_TEST(a webhook arrives whole with its headers and the connection is kept) {
  scripted_server server{[](const scripted_request&) { return answer(200, "{}"); }};
  webhook_sender sender{milliseconds{20'000}};
  for (int i = 0; i < 3; ++i)
    CAF_CHECK(
      sender.post(hook_at(server), R"({"a":1})", {{"x-fairqueue-sandbox-signature", "abc"}}).acknowledged());
  CAF_CHECK(sender.post(hook_at(server), "", {}).acknowledged());
  CAF_CHECK(
    sender.post(hook_at(server), R"({"a":1})", {{"x-fairqueue-sandbox-signature", "abc"}}).acknowledged());
  CAF_CHECK_EQUAL(server.connections(), 1);
  const auto seen = server.requests().back().text();
  CAF_CHECK(seen.starts_with("POST /hook HTTP/1.1\r\n"));
  CAF_CHECK(seen.ends_with("\r\n\r\n{\"a\":1}"));
  CAF_CHECK(seen.find("x-fairqueue-sandbox-signature: abc\r\n") != std::string::npos);
  CAF_CHECK(seen.find("Content-Type: application/json\r\n") != std::string::npos);
  CAF_CHECK(seen.find("Expect") == std::string::npos);
}

CAF_TEST(a refusal is an answer and not an acknowledgement) {
  scripted_server server{[](const scripted_request&) { return answer(503, ""); }};
  webhook_sender sender{milliseconds{20'000}};
  const auto result = sender.post(hook_at(server), "{}", {});
  CAF_CHECK_EQUAL(result.status, 503);
  CAF_CHECK(!result.acknowledged());
}

CAF_TEST(redirects are not followed) {
  scripted_server server{
    [](const scripted_request&) { return answer(302, "", "Location: http://127.0.0.1:1/\r\n"); }};
  webhook_sender sender{milliseconds{20'000}};
  CAF_CHECK_EQUAL(sender.post(hook_at(server), "{}", {}).status, 302);
}

CAF_TEST(silence ends at the timeout and the next delivery works) {
  std::atomic<bool> silent{true};
  scripted_server server{
    [&](const scripted_request&) { return silent ? fq::test::hang() : answer(200, "{}"); }};
  webhook_sender sender{milliseconds{200}};
  const auto begin = std::chrono::steady_clock::now();
  const auto result = sender.post(hook_at(server), "{}", {});
  CAF_CHECK_EQUAL(result.status, 0);
  CAF_CHECK(!result.error.empty());
  CAF_CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
  silent = false;
  webhook_sender patient{milliseconds{20'000}};
  CAF_CHECK(patient.post(hook_at(server), "{}", {}).acknowledged());
}

CAF_TEST(nobody listening and other protocols are errors) {
  std::string url;
  {
    scripted_server gone{[](const scripted_request&) { return answer(200, "{}"); }};
    url = hook_at(gone);
  }
  webhook_sender sender{milliseconds{500}};
  CAF_CHECK_EQUAL(sender.post(url, "{}", {}).status, 0);
  CAF_CHECK_EQUAL(sender.post("file:///etc/hostname", "{}", {}).status, 0);
  CAF_CHECK_EQUAL(sender.post("not a url", "{}", {}).status, 0);
}

CAF_TEST(a header with a line break is refused) {
  webhook_sender sender{milliseconds{500}};
  CAF_CHECK_EQUAL(sender.post("http://127.0.0.1:1/", "{}", {{"x", "a\r\nb: c"}}).error,
                  "a header has a control character");
}

CAF_TEST(an endless answer is cut and its status counts) {
  scripted_server server{[](const scripted_request&) -> scripted_answer {
    return {"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + std::string(200'000, 'x'),
            scripted_answer::then_type::hang,
            {}};
  }};
  webhook_sender sender{milliseconds{20'000}};
  CAF_CHECK_EQUAL(sender.post(hook_at(server), "{}", {}).status, 200);
}

} // namespace webhook_sender_test
