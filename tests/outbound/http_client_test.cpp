// SPDX-License-Identifier: Apache-2.0
// The HTTP client against a scripted server: every request has one answer, whatever the other side does.
#define CAF_SUITE http_client
#include "caf/test/unit_test.hpp"

#include "outbound/http_client.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/outbound/real_environment.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

namespace http_client_test {

using namespace fq;
using fq::test::answer;
using fq::test::hang;
using fq::test::reset;
using fq::test::scripted_answer;
using fq::test::scripted_request;
using fq::test::scripted_server;

namespace {

constexpr auto patience = std::chrono::seconds{20};

/// Answers as they come, to be waited for.
class answers {
public:
  http_callback next() {
    return [this](http_result r) {
      const std::lock_guard lock{mutex_};
      results_.push_back(std::move(r));
      changed_.notify_all();
    };
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock{mutex_};
    return results_.size();
  }
  std::vector<http_result> wait(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, patience, [&] { return results_.size() >= count; });
    return results_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<http_result> results_;
};

struct fixture {
  fq::test::real_environment env;

  static http_client::settings quick() {
    http_client::settings s;
    s.timeout = milliseconds{30'000};
    s.connect_timeout = milliseconds{10'000};
    return s;
  }
  static http_request get(const std::string& url) {
    http_request r;
    r.url = url;
    return r;
  }
  static http_request post(const std::string& url, const std::string& body) {
    http_request r;
    r.method = http_request::method_type::post;
    r.url = url;
    r.body = body;
    return r;
  }
  static http_result ask(http_client& client, http_request request) {
    answers got;
    client.submit(std::move(request), got.next());
    const auto results = got.wait(1);
    CAF_REQUIRE_EQUAL(results.size(), 1u);
    return results.front();
  }
  http_result ask(http_request request, http_client::settings s = quick()) {
    http_client client{std::move(s), env};
    return ask(client, std::move(request));
  }
};

bool failed(const http_result& r, http_error kind) {
  const auto* failure = std::get_if<http_failure>(&r);
  if (failure == nullptr) return false;
  if (failure->kind != kind) CAF_MESSAGE("it is another failure: " << failure->what);
  return failure->kind == kind && !failure->what.empty();
}
int status(const http_result& r) {
  const auto* response = std::get_if<http_response>(&r);
  return response == nullptr ? 0 : response->status;
}
std::string body(const http_result& r) {
  const auto* response = std::get_if<http_response>(&r);
  return response == nullptr ? std::string{} : response->body;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(http_client_tests, fixture)

CAF_TEST(requests arrive whole and the connection is kept) {
  scripted_server server{[](const scripted_request& r) {
    return answer(r.method == "GET" ? 200 : 429, R"({"a":1})",
                  "Content-Type: application/json; charset=utf-8\r\nretry-after: 7\r\n");
  }};
  http_client client{quick(), env};
  const auto first = ask(client, get(server.url() + "/v1/things?a=b"));
  auto request = post(server.url() + "/v1/things", "a=1&b=%20");
  request.headers = {{"Authorization", "Bearer key"}, {"Content-Type", "application/x-www-form-urlencoded"}};
  const auto second = ask(client, request);
  const auto third = ask(client, post(server.url() + "/empty", ""));
  CAF_REQUIRE_EQUAL(status(first), 200);
  CAF_CHECK_EQUAL(std::get<http_response>(first).body, R"({"a":1})");
  CAF_CHECK_EQUAL(std::get<http_response>(first).content_type, "application/json; charset=utf-8");
  CAF_REQUIRE_EQUAL(status(second), 429);
  CAF_CHECK_EQUAL(std::get<http_response>(second).retry_after, "7");
  CAF_CHECK_EQUAL(status(third), 429);
  CAF_CHECK_EQUAL(server.connections(), 1);
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 3u);
  CAF_CHECK(seen[0].head.starts_with("GET /v1/things?a=b HTTP/1.1\r\n"));
  CAF_CHECK(seen[1].head.starts_with("POST /v1/things HTTP/1.1\r\n"));
  CAF_CHECK_EQUAL(seen[1].body, "a=1&b=%20");
  CAF_CHECK_EQUAL(seen[1].field("authorization"), "Bearer key");
  CAF_CHECK_EQUAL(seen[1].field("content-type"), "application/x-www-form-urlencoded");
  CAF_CHECK_EQUAL(seen[1].field("user-agent"), "FairQueue");
  CAF_CHECK_EQUAL(seen[1].field("expect"), "");
  CAF_CHECK_EQUAL(seen[2].field("content-length"), "0");
}

CAF_TEST(redirects are answers and proxies of the environment are not asked) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  ::setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
  scripted_server server{
    [](const scripted_request&) { return answer(302, "", "Location: http://127.0.0.1:1/\r\n"); }};
  CAF_CHECK_EQUAL(status(ask(get(server.url() + "/"))), 302);
  ::unsetenv("http_proxy");
  ::unsetenv("ALL_PROXY");
  CAF_CHECK_EQUAL(server.requests().size(), 1u);
}

CAF_TEST(dots in a path are sent as they are) {
  scripted_server server{[](const scripted_request&) { return answer(200, ""); }};
  http_client client{quick(), env};
  const std::vector<std::string> paths{"/3/device/..", "/a/./b/../c", "/.", "/../x?y=/../z"};
  for (const auto& path : paths) CAF_CHECK_EQUAL(status(ask(client, get(server.url() + path))), 200);
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) CAF_CHECK_EQUAL(seen[i].target, paths[i]);
}

CAF_TEST(what cannot be sent is malformed) {
  http_client client{quick(), env};
  CAF_CHECK(failed(ask(client, get("file:///etc/hostname")), http_error::malformed));
  CAF_CHECK(failed(ask(client, get("gopher://127.0.0.1/")), http_error::malformed));
  CAF_CHECK(failed(ask(client, get("http://")), http_error::malformed));
  CAF_CHECK(failed(ask(client, get("http://127.0.0.1:1/\r\nX: y")), http_error::malformed));
  auto split = get("http://127.0.0.1:1/");
  split.headers = {{"X", "a\r\nAuthorization: b"}};
  CAF_CHECK(failed(ask(client, split), http_error::malformed));
}

CAF_TEST(a dead end is a network failure) {
  std::string gone;
  {
    scripted_server server{[](const scripted_request&) { return answer(200, ""); }};
    gone = server.url();
  }
  CAF_CHECK(failed(ask(get(gone)), http_error::network));
  std::atomic<int> turn{0};
  scripted_server server{[&](const scripted_request&) -> scripted_answer {
    switch (turn++) {
      case 0: return reset();
      case 1: return {"", scripted_answer::then_type::close, {}};
      case 2:
        return {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", scripted_answer::then_type::close, {}};
      case 3:
        return {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                scripted_answer::then_type::close,
                {}};
      default: return {"this is no HTTP at all\r\n\r\n", scripted_answer::then_type::close, {}};
    }
  }};
  http_client client{quick(), env};
  for (int i = 0; i < 5; ++i) {
    auto request = get(server.url());
    request.fresh_connection = true;
    CAF_CHECK(failed(ask(client, request), http_error::network));
  }
}

CAF_TEST(silence ends at the deadline of the request) {
  scripted_server server{[](const scripted_request& r) -> scripted_answer {
    if (r.target == "/started")
      return {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", scripted_answer::then_type::hang, {}};
    return hang();
  }};
  http_client client{quick(), env};
  for (const auto* path : {"/silent", "/started"}) {
    auto request = get(server.url() + path);
    request.timeout = milliseconds{150};
    const auto begin = env.steady_now();
    CAF_CHECK(failed(ask(client, request), http_error::timeout));
    CAF_CHECK(env.steady_now() - begin >= milliseconds{140});
    CAF_CHECK(env.steady_now() - begin < milliseconds{15'000}); // not the client's own
  }
}

CAF_TEST(an answer beyond the bound is cut) {
  scripted_server server{[](const scripted_request& r) -> scripted_answer {
    if (r.target == "/exact") return answer(200, std::string(5000, 'x'));
    if (r.target == "/declared") return answer(200, std::string(5001, 'x'));
    std::string endless = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (int i = 0; i < 100; ++i) endless += "400\r\n" + std::string(1024, 'x') + "\r\n";
    return {endless, scripted_answer::then_type::hang, {}};
  }};
  auto s = quick();
  s.response_bytes_max = 5000;
  http_client client{s, env};
  CAF_CHECK_EQUAL(body(ask(client, get(server.url() + "/exact"))).size(), 5000u);
  CAF_CHECK(failed(ask(client, get(server.url() + "/declared")), http_error::too_large));
  CAF_CHECK(failed(ask(client, get(server.url() + "/endless")), http_error::too_large));
}

CAF_TEST(the destructor answers everything outstanding once) {
  scripted_server server{[](const scripted_request&) { return hang(); }};
  answers got;
  std::atomic<int> late{0};
  auto s = quick();
  s.in_flight_max = 2;
  {
    http_client client{s, env};
    for (int i = 0; i < 5; ++i)
      client.submit(get(server.url()), [&, next = got.next()](http_result r) {
        client.submit(get(server.url()),
                      [&](http_result again) { late += failed(again, http_error::cancelled) ? 1 : 100; });
        next(std::move(r));
      });
    CAF_CHECK(server.wait_for_requests(2));
    CAF_CHECK_EQUAL(got.count(), 0u);
  }
  const auto results = got.wait(5);
  CAF_REQUIRE_EQUAL(results.size(), 5u);
  for (const auto& r : results) CAF_CHECK(failed(r, http_error::cancelled));
  CAF_CHECK_EQUAL(late.load(), 5);
}

CAF_TEST(one request too many is refused at once) {
  scripted_server server{[](const scripted_request&) { return hang(); }};
  answers kept, refused;
  auto s = quick();
  s.in_flight_max = 1;
  s.waiting_max = 2;
  {
    http_client client{s, env};
    for (int i = 0; i < 3; ++i) client.submit(get(server.url()), kept.next());
    client.submit(get(server.url()), refused.next());
    CAF_CHECK_EQUAL(refused.count(), 1u); // before submit returned
    CAF_CHECK(failed(refused.wait(1).front(), http_error::overloaded));
  }
  CAF_CHECK_EQUAL(kept.wait(3).size(), 3u);
}

CAF_TEST(places are given in order and never too many) {
  scripted_server server{[](const scripted_request& r) {
    auto reply = answer(200, r.target);
    reply.delay = std::chrono::milliseconds{5};
    return reply;
  }};
  auto s = quick();
  s.in_flight_max = 2;
  http_client client{s, env};
  answers got;
  for (int i = 0; i < 20; ++i) client.submit(get(server.url() + "/" + std::to_string(i)), got.next());
  const auto results = got.wait(20);
  CAF_REQUIRE_EQUAL(results.size(), 20u);
  for (const auto& r : results) CAF_CHECK_EQUAL(status(r), 200);
  CAF_CHECK(server.connections() <= 2);
}

CAF_TEST(waiting for a place counts against the deadline) {
  scripted_server server{[](const scripted_request&) { return hang(); }};
  auto s = quick();
  s.in_flight_max = 1;
  answers hanging; // before the client, which answers it in its end
  http_client client{s, env};
  client.submit(get(server.url()), hanging.next());
  CAF_CHECK(server.wait_for_requests(1));
  auto request = get(server.url());
  request.timeout = milliseconds{100};
  CAF_CHECK(failed(ask(client, request), http_error::timeout));
  CAF_CHECK_EQUAL(server.requests().size(), 1u);
  CAF_CHECK_EQUAL(hanging.count(), 0u);
}

CAF_TEST(many threads submit and each request has its own answer) {
  scripted_server server{[](const scripted_request& r) { return answer(200, r.body); }};
  http_client client{quick(), env};
  constexpr int threads = 4, each = 100;
  std::atomic<int> right{0}, calls{0};
  std::promise<void> all;
  std::vector<std::thread> submitters;
  for (int t = 0; t < threads; ++t)
    submitters.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        const auto wanted = std::to_string(t) + "/" + std::to_string(i);
        client.submit(post(server.url(), wanted), [&, wanted](http_result r) {
          if (body(r) == wanted) ++right;
          if (++calls == threads * each) all.set_value();
        });
      }
    });
  for (auto& t : submitters) t.join();
  CAF_CHECK(all.get_future().wait_for(patience) == std::future_status::ready);
  CAF_CHECK_EQUAL(right.load(), threads * each);
  CAF_CHECK_EQUAL(calls.load(), threads * each);
}

CAF_TEST(a callback may submit the next request) {
  scripted_server server{[](const scripted_request& r) { return answer(200, r.target); }};
  http_client client{quick(), env};
  answers got;
  client.submit(get(server.url() + "/1"),
                [&](http_result first) { client.submit(get(server.url() + body(first) + "2"), got.next()); });
  CAF_CHECK_EQUAL(body(got.wait(1).front()), "/12");
  CAF_CHECK_EQUAL(server.connections(), 1);
}

CAF_TEST(a request on a connection of its own is sent once) {
  scripted_server server{[](const scripted_request& r) -> scripted_answer {
    if (r.method == "GET") return answer(200, "");
    return {"", scripted_answer::then_type::close, {}}; // has acted and dies before it answers
  }};
  http_client client{quick(), env};
  CAF_CHECK_EQUAL(status(ask(client, get(server.url()))), 200); // leaves a kept connection
  auto once = post(server.url(), "money");
  once.fresh_connection = true;
  CAF_CHECK(failed(ask(client, once), http_error::network));
  CAF_CHECK_EQUAL(server.requests().size(), 2u);
}

CAF_TEST(only a certificate that is trusted and names the host is spoken to) {
  fq::test::temp_folder folder;
  const auto echo = [](const scripted_request& r) { return answer(200, r.target); };
  scripted_server right{echo, scripted_server::tls_type::for_loopback};
  scripted_server other{echo, scripted_server::tls_type::for_another_host};
  const auto trusting = [&](const scripted_server& server) {
    const auto file = (folder / "ca.pem").string();
    std::ofstream{file, std::ios::trunc} << server.certificate();
    auto s = quick();
    s.ca_file = file;
    return s;
  };
  CAF_CHECK(failed(ask(get(right.url() + "/x")), http_error::network));
  CAF_CHECK(failed(ask(get(other.url() + "/x"), trusting(other)), http_error::network));
  CAF_CHECK(failed(ask(get(right.url() + "/x"), trusting(other)), http_error::network));
  CAF_CHECK_EQUAL(right.requests().size() + other.requests().size(), 0u);
  CAF_CHECK_EQUAL(body(ask(get(right.url() + "/x"), trusting(right))), "/x");
}

CAF_TEST(only https is spoken if nothing else may be) {
  scripted_server server{[](const scripted_request&) { return answer(200, ""); }};
  auto s = quick();
  s.https_only = true;
  CAF_CHECK(failed(ask(get(server.url()), s), http_error::malformed));
  CAF_CHECK_EQUAL(server.connections(), 0);
}

CAF_TEST(an answer that may be cut stands as far as it was read) {
  scripted_server server{[](const scripted_request& r) -> scripted_answer {
    if (r.target == "/exact") return answer(200, std::string(5000, 'x'));
    return {"HTTP/1.1 503 Full\r\nRetry-After: 9\r\nContent-Length: 10737418240\r\n\r\n",
            scripted_answer::then_type::close,
            {},
            std::string(16384, 'x'),
            {}};
  }};
  auto s = quick();
  s.response_bytes_max = 5000;
  s.cuts_long_answers = true;
  http_client client{s, env};
  CAF_CHECK_EQUAL(body(ask(client, get(server.url() + "/exact"))).size(), 5000u);
  const auto cut = ask(client, get(server.url() + "/endless"));
  CAF_CHECK_EQUAL(status(cut), 503);
  CAF_CHECK_EQUAL(body(cut), std::string(5000, 'x'));
  CAF_REQUIRE(std::holds_alternative<http_response>(cut));
  CAF_CHECK_EQUAL(std::get<http_response>(cut).retry_after, "9");
  CAF_CHECK_EQUAL(body(ask(client, get(server.url() + "/exact"))).size(), 5000u); // the client is as before
}

CAF_TEST(header fields without end are no answer) {
  scripted_server server{[](const scripted_request&) -> scripted_answer {
    return {"HTTP/1.1 200 OK\r\n",
            scripted_answer::then_type::close,
            {},
            "X-Field: " + std::string(1000, 'x') + "\r\n",
            {}};
  }};
  CAF_CHECK(failed(ask(get(server.url())), http_error::network));
  CAF_CHECK(server.bytes_sent() < 64u * 1024 * 1024); // libcurl's 300 KiB and what the sockets hold
}

CAF_TEST(a client for public addresses connects to no other whatever a name says) {
  scripted_server server{[](const scripted_request&) { return answer(200, "reached"); }};
  const auto port = server.url().substr(server.url().rfind(':') + 1);
  // With a control each: the same without the guard does reach the server, so a pass is not the address's
  // failure.
  for (const std::string address : {"127.0.0.1", "[::ffff:127.0.0.1]", "127.0.0.2,127.0.0.1"}) {
    CAF_MESSAGE(address);
    auto s = quick();
    s.resolve = {"rebinding.example:" + port + ":" + address};
    const auto url = "http://rebinding.example:" + port + "/";
    const bool is_reachable = address.find(',') == std::string::npos;
    if (is_reachable) CAF_CHECK_EQUAL(body(ask(get(url), s)), "reached");
    const auto before = server.connections();
    s.public_addresses_only = true;
    CAF_CHECK(failed(ask(get(url), s), http_error::forbidden));
    CAF_CHECK_EQUAL(server.connections(), before);
  }
  auto s = quick();
  s.public_addresses_only = true;
  const auto before = server.connections();
  for (const std::string host : {"127.0.0.1", "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "localhost",
                                 "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0"}) {
    CAF_MESSAGE(host);
    CAF_CHECK(failed(ask(get("http://" + host + ":" + port + "/"), s), http_error::forbidden));
  }
  CAF_CHECK_EQUAL(server.connections(), before);
}

CAF_TEST(a client in the background yields to all other threads) {
  scripted_server server{[](const scripted_request&) { return answer(200, "{}"); }};
  const auto niceness = [&](bool is_background) {
    auto s = quick();
    s.is_background = is_background;
    http_client client{s, env};
    std::promise<int> seen;
    client.submit(get(server.url()),
                  [&](const http_result&) { seen.set_value(getpriority(PRIO_PROCESS, 0)); });
    return seen.get_future().get();
  };
  const auto mine = getpriority(PRIO_PROCESS, 0);
  CAF_CHECK_EQUAL(niceness(false), mine);
  const int nicer = std::min(19, mine + 10);
  CAF_CHECK_EQUAL(niceness(true), nicer);
  auto s = quick();
  s.is_background = true;
  s.requests_per_connections = 1; // each request has its own thread, started by the previous one
  std::promise<std::vector<int>> seen;
  http_client client{s, env};
  std::vector<int> all;
  std::function<void(const http_result&)> next = [&](const http_result&) {
    all.push_back(getpriority(PRIO_PROCESS, 0));
    if (all.size() == 3) return seen.set_value(all);
    client.submit(get(server.url()), next);
  };
  client.submit(get(server.url()), next);
  CAF_CHECK_EQUAL(seen.get_future().get(), std::vector<int>(3, nicer));
  CAF_CHECK_EQUAL(getpriority(PRIO_PROCESS, 0), mine);
}

CAF_TEST(a failure says how far it came) {
  const auto step = [&](const std::string& url) {
    const auto result = ask(get(url));
    const auto* failure = std::get_if<http_failure>(&result);
    return failure == nullptr ? std::string{"no failure"} : std::string{failure->step};
  };
  scripted_server secure{[](const scripted_request&) { return answer(200, ""); },
                         scripted_server::tls_type::for_loopback};
  scripted_server silent{[](const scripted_request&) -> scripted_answer {
    return {"", scripted_answer::then_type::close, {}};
  }};
  CAF_CHECK_EQUAL(step(secure.url()), "tls");
  CAF_CHECK_EQUAL(step(silent.url()), "");
  silent.stop();
  CAF_CHECK_EQUAL(step(silent.url()), "unreachable");
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace http_client_test
