// SPDX-License-Identifier: Apache-2.0
// Webhooks over TLS to receivers of every temper: what they are sent, what their answers mean, and what is
// never reached.
#define CAF_SUITE webhook_channel
#include "caf/test/unit_test.hpp"

#include "crypto/webhook_signature.hpp"
#include "outbound/webhook_channel.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/outbound/helpers.hpp"
#include "tests/outbound/real_environment.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace webhook_channel_test {

using namespace fq;
using fq::test::answer;
using fq::test::hang;
using fq::test::reset;
using fq::test::scripted_answer;
using fq::test::scripted_request;
using fq::test::scripted_server;

namespace {

constexpr auto patience = std::chrono::seconds{20};

std::uint16_t port_of(const scripted_server& server) {
  const auto url = server.url();
  std::uint16_t port = 0;
  std::from_chars(url.data() + url.rfind(':') + 1, url.data() + url.size(), port);
  return port;
}

secret_key key_of(std::uint8_t byte) {
  std::array<std::uint8_t, secret_key::size> bytes{};
  bytes.fill(byte);
  return secret_key{bytes};
}

/// Answers as they come, to be waited for.
class answers {
public:
  std::function<void(delivery_answer)> next() {
    return [this](delivery_answer a) {
      const std::lock_guard lock{mutex_};
      all_.push_back(std::move(a));
      changed_.notify_all();
    };
  }
  std::vector<delivery_answer> wait(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, patience, [&] { return all_.size() >= count; });
    return all_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<delivery_answer> all_;
};

/// As receivers' libraries want it: they refuse what is signed at another time than theirs.
struct todays_environment final : environment {
  timestamp wall_now() override {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  }
  milliseconds steady_now() override { return steady.steady_now(); }
  void random_bytes(std::span<std::byte> out) override { steady.random_bytes(out); }
  fq::test::real_environment steady;
};

/// A silent listener on ::1.
class ipv6_listener {
public:
  ipv6_listener() : socket_{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)} {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    socklen_t size = sizeof address;
    CAF_REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0
                && ::listen(socket_, 8) == 0);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin6_port);
  }
  ipv6_listener(const ipv6_listener&) = delete;
  ipv6_listener& operator=(const ipv6_listener&) = delete;
  ~ipv6_listener() { ::close(socket_); }

  /// Whether a client connected since; closes its connection.
  bool was_reached() {
    const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (peer >= 0) ::close(peer);
    return peer >= 0;
  }
  std::uint16_t port = 0;

private:
  int socket_;
};

struct fixture {
  fq::test::real_environment env;
  fq::test::temp_folder folder;
  const std::string secret = webhook_secret(key_of(1), uuid{1, 1}, 1);
  const std::string older_secret = webhook_secret(key_of(1), uuid{1, 1}, 0);

  static notice admission() {
    return {.id = uuid{0x0193'0000'0000'7000, 0x8000'0000'0000'0001},
            .topic = "queue.turn_granted",
            .payload = R"({"event_id":"e","entry_id":"n"})",
            .created_at = from_unix_ms(1'799'999'999'123)};
  }

  /// To a server on this machine, which must be allowed.
  webhook_settings local(const scripted_server& server) {
    webhook_settings s;
    s.timeout = milliseconds{30'000};
    s.connect_timeout = milliseconds{10'000};
    s.urls.allow_private = true;
    s.urls.ports = {port_of(server)};
    if (!server.certificate().empty()) {
      s.ca_file = (folder / ("ca-" + std::to_string(port_of(server)) + ".pem").c_str()).string();
      std::ofstream{s.ca_file} << server.certificate();
    }
    return s;
  }

  delivery_target target(const std::string& url) const {
    return {.id = uuid{1, 1}, .address = url, .secrets = {secret}};
  }

  static delivery_answer deliver(webhook_channel& channel, const delivery_target& to,
                                 const notice& what = admission()) {
    answers got;
    channel.deliver(what, to, got.next());
    const auto all = got.wait(1);
    CAF_REQUIRE_EQUAL(all.size(), 1u);
    return all.front();
  }
  delivery_answer deliver(const webhook_settings& s, const std::string& url) {
    webhook_channel channel{s, env};
    return deliver(channel, target(url));
  }
  /// One answer of a fresh server over TLS.
  delivery_answer deliver_to(scripted_server::script script) {
    scripted_server server{std::move(script), scripted_server::tls_type::for_loopback};
    auto answered = deliver(local(server), server.url() + "/hook");
    CAF_CHECK_EQUAL(server.requests().size(), 1u);
    return answered;
  }
};

void check(const delivery_answer& got, delivery_outcome outcome, int status, const std::string& reason) {
  CAF_CHECK(got.outcome == outcome);
  CAF_CHECK_EQUAL(got.status, status);
  CAF_CHECK_EQUAL(got.reason, reason);
  CAF_CHECK(!got.is_channel_down);
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(webhook_channel_tests, fixture)

CAF_TEST(a webhook has the headers and the body of standard webhooks) {
  scripted_server server{[](const scripted_request&) { return answer(204, ""); },
                         scripted_server::tls_type::for_loopback};
  webhook_channel channel{local(server), env};
  check(deliver(channel, target(server.url() + "/hook?a=b")), delivery_outcome::delivered, 204, "ok");
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 1u);
  CAF_CHECK_EQUAL(seen[0].method, "POST");
  CAF_CHECK_EQUAL(seen[0].target, "/hook?a=b");
  CAF_CHECK_EQUAL(seen[0].field("content-type"), "application/json");
  CAF_CHECK_EQUAL(seen[0].field("webhook-id"), "01930000-0000-7000-8000-000000000001");
  CAF_CHECK_EQUAL(seen[0].field("webhook-timestamp"), "1800000000");
  const auto signature =
    sign_webhook({secret}, "01930000-0000-7000-8000-000000000001", 1'800'000'000, seen[0].body);
  CAF_CHECK_EQUAL(seen[0].field("webhook-signature"), signature.value_or("none"));
  CAF_CHECK_EQUAL(seen[0].body, R"({"id":"01930000-0000-7000-8000-000000000001","type":"queue.turn_granted",)"
                                R"("time":"2027-01-15T07:59:59.123Z",)"
                                R"("data":{"event_id":"e","entry_id":"n"}})");
  CAF_CHECK_EQUAL(seen[0].text().find(secret), std::string::npos);
}

CAF_TEST(a body is JSON whatever the notice holds) {
  auto what = admission();
  what.topic = "odd\"\\\n\x01topic";
  what.payload = R"({"a":{"b":["}",1]}})";
  const auto body = boost::json::parse(webhook_body(what));
  CAF_CHECK_EQUAL(fq::test::text_at(body, "type"), what.topic);
  CAF_CHECK_EQUAL(boost::json::serialize(body.at("data")), what.payload);
  CAF_CHECK_EQUAL(body.as_object().size(), 4u);
  for (const auto* payload : {"", "null", "[]", "1", "{", "{}{}", "{\"a\":1},\"data\":{}", "{'a':1}"}) {
    what.payload = payload;
    CAF_CHECK_EQUAL(webhook_body(what), "");
  }
}

CAF_TEST(receivers verify it with the library of standard webhooks and also while a secret is replaced) {
  todays_environment today;
  scripted_server server{[](const scripted_request&) { return answer(200, ""); },
                         scripted_server::tls_type::for_loopback};
  webhook_channel channel{local(server), today};
  auto to = target(server.url());
  CAF_CHECK(deliver(channel, to).outcome == delivery_outcome::delivered);
  to.secrets = {secret, older_secret}; // being replaced
  CAF_CHECK(deliver(channel, to).outcome == delivery_outcome::delivered);
  const auto seen = server.requests();
  CAF_REQUIRE_EQUAL(seen.size(), 2u);

  boost::json::array cases;
  const auto add = [&](const scripted_request& r, const std::string& with, const std::string& body,
                       const std::string& id) {
    cases.push_back({{"secret", with},
                     {"headers",
                      {{"webhook-id", id},
                       {"webhook-timestamp", r.field("webhook-timestamp")},
                       {"webhook-signature", r.field("webhook-signature")}}},
                     {"body", body}});
  };
  const auto id = seen[0].field("webhook-id");
  add(seen[0], secret, seen[0].body, id);
  add(seen[1], secret, seen[1].body, id);
  add(seen[1], older_secret, seen[1].body, id);
  add(seen[0], older_secret, seen[0].body, id);
  add(seen[1], webhook_secret(key_of(2), uuid{1, 1}, 1), seen[1].body, id);
  add(seen[1], secret, seen[1].body + " ", id);
  add(seen[1], secret, seen[1].body, id + "0");
  const auto file = (folder / "cases.json").string();
  std::ofstream{file} << boost::json::serialize(cases);
  const std::string yes = "verified\n", no = "No matching signature found\n";
  CAF_CHECK_EQUAL(fq::test::output_of("node '" FQ_TEST_SUPPORT "/verify_webhooks.mjs' '" + file + "'"),
                  yes + yes + yes + no + no + no + no);
}

CAF_TEST(each status means what the table says) {
  const auto now = env.wall_now();
  for (int status = 200; status < 300; ++status)
    check(webhook_answer(status, "9", now), delivery_outcome::delivered, status, "ok");
  for (const int status : {301, 302, 303, 304, 307, 308})
    check(webhook_answer(status, "", now), delivery_outcome::again, status, "redirect");
  for (const int status : {400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 451})
    check(webhook_answer(status, "", now), delivery_outcome::again, status, "rejected");
  for (const int status : {500, 501, 502, 503, 504, 520, 599, 999})
    check(webhook_answer(status, "", now), delivery_outcome::again, status, "server_error");
  check(webhook_answer(429, "", now), delivery_outcome::again, 429, "rate_limited");
  check(webhook_answer(410, "60", now), delivery_outcome::gone, 410, "gone");
  CAF_CHECK(!webhook_answer(410, "60", now).retry_after);
  CAF_CHECK(!webhook_answer(200, "60", now).retry_after);
  CAF_CHECK(!webhook_answer(503, "", now).retry_after);
  CAF_CHECK(!webhook_answer(503, "soon", now).retry_after);
  for (const int status : {429, 502, 503, 504}) {
    CAF_CHECK(webhook_answer(status, "60", now).retry_after == milliseconds{60'000});
    CAF_CHECK(webhook_answer(status, "Fri, 15 Jan 2027 08:02:00 GMT", now).retry_after
              == milliseconds{120'000});
    CAF_CHECK(webhook_answer(status, "Fri, 15 Jan 2027 07:00:00 GMT", now).retry_after == milliseconds{0});
    CAF_CHECK(webhook_answer(status, "99999999999999999999999", now).retry_after == std::chrono::hours{24});
  }
}

CAF_TEST(answers of every kind end a try) {
  const std::string mark = "MARK-OF-THE-ANSWER";
  const auto saying = [&](int status, const std::string& fields = {}) {
    return [=](const scripted_request&) { return answer(status, mark, fields + "X-Mark: " + mark + "\r\n"); };
  };
  check(deliver_to(saying(200)), delivery_outcome::delivered, 200, "ok");
  check(deliver_to(saying(410)), delivery_outcome::gone, 410, "gone");
  check(deliver_to(saying(404)), delivery_outcome::again, 404, "rejected");
  check(deliver_to(saying(500)), delivery_outcome::again, 500, "server_error");
  const auto later = deliver_to(saying(503, "Retry-After: 30\r\n"));
  check(later, delivery_outcome::again, 503, "server_error");
  CAF_CHECK(later.retry_after == milliseconds{30'000});
  check(deliver_to([](const scripted_request&) { return reset(); }), delivery_outcome::again, 0, "network");
  check(deliver_to([](const scripted_request&) -> scripted_answer {
          return {"", scripted_answer::then_type::close, {}};
        }),
        delivery_outcome::again, 0, "network");
  check(deliver_to([](const scripted_request&) -> scripted_answer {
          return {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", scripted_answer::then_type::close, {}};
        }),
        delivery_outcome::again, 0, "network");
  check(deliver_to([](const scripted_request&) -> scripted_answer {
          return {"SSH-2.0-OpenSSH_9.2\r\n", scripted_answer::then_type::close, {}};
        }),
        delivery_outcome::again, 0, "network");
}

CAF_TEST(slow receivers end at the timeout) {
  const auto slowly = [](const scripted_request& r) -> scripted_answer {
    if (r.target == "/silent") return hang();
    // Something comes all the time, of the answer or of its head, and would for minutes.
    const std::string begin_of_it = r.target == "/slow" ? "Content-Length: 10000\r\n\r\n" : "X: ";
    return {"HTTP/1.1 200 OK\r\n" + begin_of_it,
            scripted_answer::then_type::close,
            {},
            "x",
            std::chrono::milliseconds{50}};
  };
  scripted_server server{slowly, scripted_server::tls_type::for_loopback};
  auto s = local(server);
  s.timeout = milliseconds{3'000};
  answers got; // before the channel, which answers in its end
  webhook_channel channel{s, env};
  const auto begin = env.steady_now();
  for (const auto* path : {"/silent", "/slow", "/slow-head"})
    channel.deliver(admission(), target(server.url() + path), got.next());
  const auto all = got.wait(3);
  CAF_REQUIRE_EQUAL(all.size(), 3u);
  for (const auto& a : all) check(a, delivery_outcome::again, 0, "timeout");
  CAF_CHECK(env.steady_now() - begin >= milliseconds{2'950});
  CAF_CHECK_EQUAL(server.requests().size(), 3u);
}

CAF_TEST(an endless answer is cut and its status stands) {
  scripted_server server{
    [](const scripted_request& r) -> scripted_answer {
      const std::string size =
        r.target == "/declared" ? "Content-Length: 10737418240\r\n\r\n" : "Connection: close\r\n\r\n";
      return {
        "HTTP/1.1 200 OK\r\n" + size, scripted_answer::then_type::close, {}, std::string(16384, 'x'), {}};
    },
    scripted_server::tls_type::for_loopback};
  webhook_channel channel{local(server), env};
  check(deliver(channel, target(server.url() + "/declared")), delivery_outcome::delivered, 200, "ok");
  check(deliver(channel, target(server.url() + "/undeclared")), delivery_outcome::delivered, 200, "ok");
  CAF_CHECK(server.bytes_sent() < 64u * 1024 * 1024); // of 10 GiB: 64 KiB twice, and what the sockets hold
}

CAF_TEST(a redirect is not followed) {
  scripted_server inside{[](const scripted_request&) { return answer(200, ""); },
                         scripted_server::tls_type::for_loopback};
  for (const int status : {301, 302, 303, 307, 308}) {
    const auto redirected = deliver_to([&](const scripted_request&) {
      return answer(status, "", "Location: " + inside.url() + "/admin\r\n");
    });
    check(redirected, delivery_outcome::again, status, "redirect");
  }
  CAF_CHECK_EQUAL(inside.connections(), 0);
}

CAF_TEST(a receiver must prove its name) {
  scripted_server stranger{[](const scripted_request&) { return answer(200, ""); },
                           scripted_server::tls_type::for_another_host};
  check(deliver(local(stranger), stranger.url()), delivery_outcome::again, 0,
        "tls"); // known authority, other name
  auto unknown = local(stranger);
  unknown.ca_file.clear();
  unknown.resolve = {"example.test:" + std::to_string(port_of(stranger)) + ":127.0.0.1"};
  const auto url = "https://example.test:" + std::to_string(port_of(stranger)) + "/";
  check(deliver(unknown, url), delivery_outcome::again, 0, "tls"); // right name, unknown authority
  CAF_CHECK_EQUAL(stranger.requests().size(), 0u);
  unknown.ca_file = local(stranger).ca_file;
  check(deliver(unknown, url), delivery_outcome::delivered, 200, "ok");
}

CAF_TEST(a name that was public and now leads inside is not connected to) {
  scripted_server server{[](const scripted_request&) { return answer(200, ""); },
                         scripted_server::tls_type::for_another_host};
  const auto port = std::to_string(port_of(server));
  const auto url = "https://example.test:" + port + "/hook";
  for (const std::string address : {"127.0.0.1", "[::ffff:127.0.0.1]"}) {
    CAF_MESSAGE(address);
    auto s = local(server);
    s.resolve = {"example.test:" + port + ":" + address};
    check(deliver(s, url), delivery_outcome::delivered, 200, "ok"); // with the test switch: all else is right
    const auto before = server.connections();
    s.urls.allow_private = false;
    CAF_CHECK_EQUAL(wrong_with_url(url, s.urls), ""); // nothing to be seen when it is created
    check(deliver(s, url), delivery_outcome::refused, 0, "ssrf_blocked");
    CAF_CHECK_EQUAL(server.connections(), before);
  }
  ipv6_listener six;
  auto s = local(server);
  s.timeout = milliseconds{1000};
  s.urls.ports = {six.port};
  s.resolve = {"example.test:" + std::to_string(six.port) + ":[::1]"};
  const auto url6 = "https://example.test:" + std::to_string(six.port) + "/hook";
  CAF_CHECK(deliver(s, url6).outcome == delivery_outcome::again); // it does not speak TLS
  CAF_CHECK(six.was_reached());
  s.urls.allow_private = false;
  check(deliver(s, url6), delivery_outcome::refused, 0, "ssrf_blocked");
  CAF_CHECK(!six.was_reached());
}

CAF_TEST(no form of an address of ours is reached) {
  scripted_server server{[](const scripted_request&) { return answer(200, ""); },
                         scripted_server::tls_type::for_loopback};
  auto s = local(server);
  s.urls.allow_private = false;
  webhook_channel channel{s, env};
  const auto port = ":" + std::to_string(port_of(server)) + "/";
  for (const std::string host :
       {"127.0.0.1", "2130706433", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.1.", "0.0.0.0", "localhost",
        "localhost.", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::7f00:1]",
        "user@127.0.0.1", "169.254.169.254", "[fd00::1]", "10.0.0.1", "x.localhost"}) {
    CAF_MESSAGE(host);
    check(deliver(channel, target("https://" + host + port)), delivery_outcome::refused, 0, "ssrf_blocked");
  }
  for (const auto& url : std::initializer_list<std::string>{
         "http://example.test" + port, "gopher://127.0.0.1" + port, "file:///etc/passwd",
         "https://example.test:22/", "https://example.test:6379/", "https://example.test" + port + "\r\nX: y",
         "https://example.test" + port + "#x"})
    check(deliver(channel, target(url)), delivery_outcome::refused, 0, "ssrf_blocked");
  CAF_CHECK_EQUAL(server.connections(), 0);
}

CAF_TEST(plain http is for tests and only where it is switched on) {
  scripted_server server{[](const scripted_request&) { return answer(200, ""); }};
  auto s = local(server);
  check(deliver(s, server.url()), delivery_outcome::refused, 0, "ssrf_blocked");
  CAF_CHECK_EQUAL(server.connections(), 0);
  s.urls.allow_http = true;
  check(deliver(s, server.url()), delivery_outcome::delivered, 200, "ok");
}

CAF_TEST(what we cannot sign or wrap is our fault and says nothing of secrets) {
  webhook_channel channel{{}, env};
  auto to = target("https://hooks.example.com/");
  for (const auto& secrets :
       std::initializer_list<std::vector<std::string>>{{}, {"whsec_short"}, {secret, "no secret at all"}}) {
    to.secrets = secrets;
    const auto refused = deliver(channel, to);
    check(refused, delivery_outcome::refused, 0, "malformed_secret");
    CAF_CHECK(refused.is_our_fault);
  }
  auto what = admission();
  what.payload = "not JSON";
  const auto refused = deliver(channel, target("https://hooks.example.com/"), what);
  check(refused, delivery_outcome::refused, 0, "malformed_payload");
  CAF_CHECK(refused.is_our_fault);
}

CAF_TEST(so many at a time and no more and every one is answered once) {
  std::atomic<int> served{0};
  scripted_server server{[&](const scripted_request&) {
                           ++served;
                           auto reply = answer(200, "");
                           reply.delay = std::chrono::milliseconds{2};
                           return reply;
                         },
                         scripted_server::tls_type::for_loopback};
  auto s = local(server);
  s.concurrency = 3;
  webhook_channel channel{s, env};
  answers got;
  constexpr int count = 200;
  for (int i = 0; i < count; ++i) channel.deliver(admission(), target(server.url()), got.next());
  const auto all = got.wait(count);
  CAF_CHECK_EQUAL(all.size(), static_cast<std::size_t>(count));
  for (const auto& a : all) CAF_CHECK(a.outcome == delivery_outcome::delivered);
  CAF_CHECK_EQUAL(served.load(), count);
  CAF_CHECK(server.connections() <= 3);
}

CAF_TEST(the end of the channel answers what is under way) {
  scripted_server server{[](const scripted_request&) { return hang(); },
                         scripted_server::tls_type::for_loopback};
  answers got;
  {
    webhook_channel channel{local(server), env};
    for (int i = 0; i < 5; ++i) channel.deliver(admission(), target(server.url()), got.next());
    CAF_CHECK(server.wait_for_requests(1));
  }
  const auto all = got.wait(5);
  CAF_REQUIRE_EQUAL(all.size(), 5u);
  for (const auto& a : all) check(a, delivery_outcome::again, 0, "cancelled");
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace webhook_channel_test
