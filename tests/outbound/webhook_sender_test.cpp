// SPDX-License-Identifier: Apache-2.0
// Webhook delivery against a scripted server on the loopback interface.
#define CAF_SUITE webhook_sender
#include "caf/test/unit_test.hpp"

#include "outbound/webhook_sender.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

using namespace fq;

namespace {

/// Answers each request of each connection with what `script` makes of it; an empty answer means silence.
class scripted_server {
public:
  using script = std::function<std::string(const std::string& request)>;

  explicit scripted_server(script answer)
    : answer_{std::move(answer)},
      socket_{::socket(AF_INET, SOCK_STREAM, 0)} {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CAF_REQUIRE_EQUAL(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    CAF_REQUIRE_EQUAL(::listen(socket_, 8), 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread{[this] { serve(); }};
  }
  ~scripted_server() { stop(); }

  void stop() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    ::shutdown(socket_, SHUT_RDWR);
    if (const int c = connection_; c >= 0) ::shutdown(c, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/hook"; }
  [[nodiscard]] int connections() const { return connections_; }

private:
  void serve() {
    while (!stopping_) {
      const int c = ::accept(socket_, nullptr, nullptr);
      if (c < 0) return;
      connection_ = c;
      ++connections_;
      while (!stopping_ && serve_one(c)) {
      }
      connection_ = -1;
      ::close(c);
    }
  }

  bool serve_one(int c) {
    std::string request;
    std::size_t expected = std::string::npos;
    while (request.size() < expected) {
      char buffer[4096];
      const auto n = ::recv(c, buffer, sizeof buffer, 0);
      if (n <= 0) return false;
      request.append(buffer, static_cast<std::size_t>(n));
      const auto header_end = request.find("\r\n\r\n");
      const auto length = request.find("Content-Length: ");
      if (expected == std::string::npos && header_end != std::string::npos)
        expected = header_end + 4
                   + (length < header_end ? std::strtoul(request.c_str() + length + 16, nullptr, 10) : 0);
    }
    const auto answer = answer_(request);
    return ::send(c, answer.data(), answer.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(answer.size());
  }

  script answer_;
  int socket_;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> connection_{-1};
  std::atomic<int> connections_{0};
  std::thread thread_;
};

const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

} // namespace

CAF_TEST(a webhook arrives whole with its headers and the connection is kept) {
  std::string seen;
  scripted_server server{[&](const std::string& request) {
    seen = request;
    return ok;
  }};
  webhook_sender sender{milliseconds{2000}};
  for (int i = 0; i < 3; ++i)
    CAF_CHECK(
        sender.post(server.url(), R"({"a":1})", {{"x-fairqueue-sandbox-signature", "abc"}}).acknowledged());
  CAF_CHECK(sender.post(server.url(), "", {}).acknowledged());
  CAF_CHECK(
      sender.post(server.url(), R"({"a":1})", {{"x-fairqueue-sandbox-signature", "abc"}}).acknowledged());
  CAF_CHECK_EQUAL(server.connections(), 1);
  server.stop();
  CAF_CHECK(seen.starts_with("POST /hook HTTP/1.1\r\n"));
  CAF_CHECK(seen.ends_with("\r\n\r\n{\"a\":1}"));
  CAF_CHECK(seen.find("x-fairqueue-sandbox-signature: abc\r\n") != std::string::npos);
  CAF_CHECK(seen.find("Content-Type: application/json\r\n") != std::string::npos);
  CAF_CHECK(seen.find("Expect") == std::string::npos);
}

CAF_TEST(a refusal is an answer and not an acknowledgement) {
  scripted_server server{[](const std::string&) { return "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"; }};
  webhook_sender sender{milliseconds{2000}};
  const auto result = sender.post(server.url(), "{}", {});
  CAF_CHECK_EQUAL(result.status, 503);
  CAF_CHECK(!result.acknowledged());
}

CAF_TEST(redirects are not followed) {
  scripted_server server{[](const std::string&) {
    return "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
  }};
  webhook_sender sender{milliseconds{2000}};
  CAF_CHECK_EQUAL(sender.post(server.url(), "{}", {}).status, 302);
}

CAF_TEST(silence ends at the timeout and the next delivery works) {
  std::atomic<bool> silent{true};
  scripted_server server{[&](const std::string&) { return silent ? std::string{} : ok; }};
  webhook_sender sender{milliseconds{200}};
  const auto begin = std::chrono::steady_clock::now();
  const auto result = sender.post(server.url(), "{}", {});
  CAF_CHECK_EQUAL(result.status, 0);
  CAF_CHECK(!result.error.empty());
  CAF_CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
  silent = false;
  webhook_sender patient{milliseconds{5000}};
  CAF_CHECK(patient.post(server.url(), "{}", {}).acknowledged());
}

CAF_TEST(nobody listening and other protocols are errors) {
  std::string url;
  {
    scripted_server gone{[](const std::string&) { return ok; }};
    url = gone.url();
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
  scripted_server server{[](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + std::string(200'000, 'x');
  }};
  webhook_sender sender{milliseconds{2000}};
  CAF_CHECK_EQUAL(sender.post(server.url(), "{}", {}).status, 200);
}
