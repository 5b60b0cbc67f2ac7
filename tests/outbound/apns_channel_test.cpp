// SPDX-License-Identifier: Apache-2.0
// APNs: every row of the table of answers, by itself and over the wire, the provider token's life, and when a
// new connection is made.
#define CAF_SUITE apns_channel
#include "caf/test/unit_test.hpp"

#include "outbound/retry_after.hpp"
#include "tests/outbound/apns_fixture.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <set>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace apns_channel_test {

using namespace fq;
using namespace fq::test;
namespace json = boost::json;
using enum fq::delivery_outcome;

namespace {

constexpr timestamp since = from_unix_ms(1'799'999'000'000);

// Apple's "Handling notification responses from APNs"; reference/faults-security-conventions.md section 5.2.
const std::vector<answer_row> rows{
  {"Taken", 200, "", delivered, ""},
  {"Unregistered",
   410,
   R"({"reason":"Unregistered","timestamp":1799999000000})",
   gone,
   "Unregistered",
   false,
   false,
   {},
   {},
   since},
  {"ExpiredToken",
   410,
   R"({"reason":"ExpiredToken","timestamp":1799999000000})",
   gone,
   "ExpiredToken",
   false,
   false,
   {},
   {},
   since},
  {"Unregistered at no time", 410, REASON("Unregistered"), gone, "Unregistered"},
  {"BadDeviceToken", 400, REASON("BadDeviceToken"), gone, "BadDeviceToken"},
  {"DeviceTokenNotForTopic", 400, REASON("DeviceTokenNotForTopic"), gone, "DeviceTokenNotForTopic", false,
   true},
  {"BadTopic", 400, REASON("BadTopic"), again, "BadTopic", true, true},
  {"MissingTopic", 400, REASON("MissingTopic"), again, "MissingTopic", true, true},
  {"BadCollapseId", 400, REASON("BadCollapseId"), refused, "BadCollapseId", false, true},
  {"BadExpirationDate", 400, REASON("BadExpirationDate"), refused, "BadExpirationDate", false, true},
  {"BadMessageId", 400, REASON("BadMessageId"), refused, "BadMessageId", false, true},
  {"BadPriority", 400, REASON("BadPriority"), refused, "BadPriority", false, true},
  {"DuplicateHeaders", 400, REASON("DuplicateHeaders"), refused, "DuplicateHeaders", false, true},
  {"IdleTimeout", 400, REASON("IdleTimeout"), again, "IdleTimeout"},
  {"InvalidPushType", 400, REASON("InvalidPushType"), refused, "InvalidPushType", false, true},
  {"MissingDeviceToken", 400, REASON("MissingDeviceToken"), refused, "MissingDeviceToken", false, true},
  {"PayloadEmpty", 400, REASON("PayloadEmpty"), refused, "PayloadEmpty", false, true},
  {"PayloadTooLarge", 413, REASON("PayloadTooLarge"), refused, "PayloadTooLarge", false, true},
  {"InvalidProviderToken", 403, REASON("InvalidProviderToken"), again, "InvalidProviderToken", true, true},
  {"MissingProviderToken", 403, REASON("MissingProviderToken"), again, "MissingProviderToken", true, true},
  {"TopicDisallowed", 403, REASON("TopicDisallowed"), again, "TopicDisallowed", true, true},
  {"BadCertificate", 403, REASON("BadCertificate"), again, "BadCertificate", true, true},
  {"Forbidden", 403, REASON("Forbidden"), again, "Forbidden", true, true},
  {"ExpiredProviderToken", 403, REASON("ExpiredProviderToken"), again, "ExpiredProviderToken", true, true},
  {"BadPath", 404, REASON("BadPath"), refused, "BadPath", false, true},
  {"MethodNotAllowed", 405, REASON("MethodNotAllowed"), refused, "MethodNotAllowed", false, true},
  {"TooManyProviderTokenUpdates",
   429,
   REASON("TooManyProviderTokenUpdates"),
   again,
   "TooManyProviderTokenUpdates",
   true,
   true,
   {},
   milliseconds{1'200'000}},
  {"TooManyRequests", 429, REASON("TooManyRequests"), again, "TooManyRequests", false, false, "90",
   milliseconds{90'000}},
  {"InternalServerError", 500, REASON("InternalServerError"), again, "InternalServerError"},
  {"ServiceUnavailable", 503, REASON("ServiceUnavailable"), again, "ServiceUnavailable", false, false,
   "Fri, 15 Jan 2027 08:02:00 GMT", milliseconds{120'000}},
  {"Shutdown", 503, REASON("Shutdown"), again, "Shutdown"},
  {"Another server", 302, "<html>", again, "HTTP 302", true, true},
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(apns_channel_tests, apns_fixture)

CAF_TEST(each answer of APNs means what the table says) {
  for (const auto& r : rows) {
    const auto got =
      apns_answer(r.status, r.body, read_retry_after(std::string{r.retry_after}, env.wall_now()));
    CAF_CHECK_EQUAL(difference(got, r), "");
    CAF_CHECK(got.retry_after == r.pause);
  }
}

CAF_TEST(answers that are not what Apple documents are no reason to forget a device) {
  for (const auto* body :
       {"", "{", "[]", R"({"reason":7})", R"({"reason":"Unknown"})", R"({"reason":["BadDeviceToken"]})"})
    for (const auto status : {100, 201, 302, 400, 401, 403, 404, 413, 429, 500, 503}) {
      const auto got = apns_answer(status, body, {});
      CAF_CHECK(got.outcome == again || got.outcome == refused);
      CAF_CHECK(!got.reason.empty());
    }
  for (const auto* body :
       {R"({"reason":"Unregistered","timestamp":"soon"})", R"({"reason":"Unregistered","timestamp":-1})",
        R"({"reason":"Unregistered","timestamp":1e300})"})
    CAF_CHECK(!apns_answer(410, body, {}).gone_since);
}

CAF_TEST(every row comes over the wire as it is) {
  push_standins services;
  json::object devices;
  for (const auto& r : rows) {
    auto answer = gets(r.status, r.body);
    if (!r.retry_after.empty()) answer["headers"] = json::object{{"retry-after", r.retry_after}};
    devices[r.name] = answer;
  }
  services.script(devices);
  apns_channel channel{services.apns(), env};
  for (const auto& r : rows) {
    const auto got = deliver(channel, granted(), std::string{r.name});
    CAF_CHECK_EQUAL(difference(got, r), "");
    const bool is_date = r.retry_after.ends_with("GMT"); // by now it is past
    CAF_CHECK(got.retry_after == (is_date ? milliseconds{0} : r.pause));
    pass(milliseconds{1'200'000}); // whatever pauses the channel is over
  }
  const auto state = services.state();
  CAF_CHECK_EQUAL(json::serialize(state.at("wrong")), "[]");
  for (const auto& r : requests(state)) CAF_CHECK_EQUAL(r.at("version"), "2");
  // The two tokens that production does not take were looked for in the sandbox, and the expired provider
  // token was replaced once.
  CAF_CHECK_EQUAL(requests(state).size(), rows.size() + 3);
}

CAF_TEST(a device is shown what the notice says) {
  push_standins services;
  apns_channel channel{services.apns(), env};
  CAF_CHECK(deliver(channel, granted(), "ab12").outcome == delivered);
  CAF_CHECK(deliver(channel, granted(), "../x?y", true).outcome == delivered);
  const auto all = requests(services.state());
  CAF_REQUIRE_EQUAL(all.size(), 2u);
  CAF_CHECK_EQUAL(all[0].at("host"), "api.push.apple.com");
  CAF_CHECK_EQUAL(all[0].at("path"), "/3/device/ab12");
  CAF_CHECK_EQUAL(all[1].at("host"), "api.sandbox.push.apple.com");
  CAF_CHECK_EQUAL(all[1].at("path"), "/3/device/..%2Fx%3Fy");
  CAF_CHECK_EQUAL(header(all[0], "apns-topic"), "com.example.tickets");
  CAF_CHECK_EQUAL(header(all[0], "apns-push-type"), "alert");
  CAF_CHECK_EQUAL(header(all[0], "apns-priority"), "10");
  CAF_CHECK_EQUAL(header(all[0], "apns-expiration"), "1800000600");
  CAF_CHECK_EQUAL(header(all[0], "apns-collapse-id"), "entry_id.q-1");
  CAF_CHECK_EQUAL(header(all[0], "apns-id"), to_string(granted().id));
  CAF_CHECK_EQUAL(all[0].at("claims").at("iat").as_int64(), 1'800'000'000);
  const auto body = json::parse(all[0].at("body").as_string());
  CAF_CHECK_EQUAL(body.at("aps").at("alert").at("title"), "It is your turn");
  CAF_CHECK_EQUAL(body.at("data").at("entry_id"), "q-1");
  auto unknown = granted();
  unknown.topic = "mail.send";
  CAF_CHECK_EQUAL(deliver(channel, unknown, "ab12").reason, "nothing_to_show");
}

CAF_TEST(many sends share one provider token and one connection) {
  push_standins services;
  apns_channel channel{services.apns(), env};
  fq::test::delivery_answers got;
  for (int i = 0; i < 60; ++i)
    channel.deliver(granted(), {.id = {}, .address = "device-" + std::to_string(i)}, got.next());
  for (const auto& a : got.wait(60)) CAF_CHECK(a.outcome == delivered);
  const auto state = services.state();
  CAF_CHECK_EQUAL(state.at("sessions").as_int64(), 1);
  std::set<std::string> tokens, devices;
  for (const auto& r : requests(state)) {
    tokens.insert(header(r, "authorization"));
    devices.emplace(r.at("device").as_string());
  }
  CAF_CHECK_EQUAL(tokens.size(), 1u);
  CAF_CHECK_EQUAL(devices.size(), 60u);
}

CAF_TEST(the provider token is made anew after 50 minutes and not before) {
  push_standins services;
  apns_channel channel{services.apns(), env};
  std::vector<std::string> tokens;
  for (const auto minutes : {0, 49, 1, 49}) { // 0, 49, 50, 99
    pass(milliseconds{minutes * 60'000});
    CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
    tokens.push_back(header(requests(services.state()).back(), "authorization"));
  }
  CAF_CHECK_EQUAL(tokens[0], tokens[1]);
  CAF_CHECK(tokens[1] != tokens[2]);
  CAF_CHECK_EQUAL(tokens[2], tokens[3]);
  const auto all = requests(services.state());
  CAF_CHECK_EQUAL(all[2].at("claims").at("iat").as_int64(), 1'800'003'000);
}

CAF_TEST(a provider token that Apple calls expired is replaced once unless it is younger than 20 minutes) {
  push_standins services;
  const auto expired = [](bool once) {
    return json::object{{"status", 403}, {"body", REASON("ExpiredProviderToken")}, {"once_per_token", once}};
  };
  services.script({{"once", expired(true)}, {"always", expired(false)}});
  apns_channel channel{services.apns(), env};
  CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
  pass(milliseconds{5 * 60'000});
  const auto young = deliver(channel, granted(), "once");
  CAF_CHECK(young.outcome == again && young.is_channel_down && young.is_our_fault);
  CAF_CHECK(young.retry_after == milliseconds{15 * 60'000});
  CAF_CHECK_EQUAL(requests(services.state()).size(), 2u);
  pass(milliseconds{15 * 60'000});
  CAF_CHECK(deliver(channel, granted(), "once").outcome == delivered);
  const auto all = requests(services.state());
  CAF_REQUIRE_EQUAL(all.size(), 4u);
  CAF_CHECK(header(all[2], "authorization") != header(all[3], "authorization"));
  pass(milliseconds{20 * 60'000});
  const auto always = deliver(channel, granted(), "always");
  CAF_CHECK(always.outcome == again && always.is_channel_down && always.is_our_fault);
  CAF_CHECK_EQUAL(requests(services.state()).size(), 6u); // two tries, no third
}

CAF_TEST(after too many provider tokens nobody is asked for 20 minutes) {
  push_standins services;
  services.script({{"d", {{"status", 429}, {"body", REASON("TooManyProviderTokenUpdates")}, {"times", 1}}}});
  apns_channel channel{services.apns(), env};
  const auto first = deliver(channel, granted(), "d");
  CAF_CHECK(first.outcome == again && first.is_channel_down
            && first.retry_after == milliseconds{20 * 60'000});
  pass(milliseconds{19 * 60'000});
  const auto second = deliver(channel, granted(), "another");
  CAF_CHECK(second.outcome == again && second.is_channel_down && second.retry_after == milliseconds{60'000});
  CAF_CHECK_EQUAL(second.reason, "TooManyProviderTokenUpdates");
  CAF_CHECK_EQUAL(requests(services.state()).size(), 1u);
  pass(milliseconds{60'000});
  CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
}

CAF_TEST(after a fault of the server the next send makes a connection of its own) {
  push_standins services;
  services.script({{"500", gets(500, REASON("InternalServerError"))},
                   {"503", gets(503, REASON("ServiceUnavailable"))},
                   {"429", gets(429, REASON("TooManyRequests"))},
                   {"reset", {{"action", "reset"}}}});
  apns_channel channel{services.apns(), env};
  std::int64_t sessions = 1;
  for (const auto* device : {"500", "503", "reset"}) {
    CAF_CHECK(deliver(channel, granted(), device).outcome == again);
    CAF_CHECK_EQUAL(services.count("sessions"), sessions);
    pass(milliseconds{1'000});
    CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
    CAF_CHECK_EQUAL(services.count("sessions"), ++sessions);
  }
  CAF_CHECK(deliver(channel, granted(), "429").outcome == again); // one device's own matter
  pass(milliseconds{1'000});
  CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
  CAF_CHECK_EQUAL(services.count("sessions"), sessions);
  for (int i = 0; i < 10; ++i)
    CAF_CHECK(deliver(channel, granted(), "503").outcome == again); // within a second: at most one more
  CAF_CHECK(services.count("sessions") <= sessions + 1);
}

CAF_TEST(a connection that Apple ends costs at most a try) {
  push_standins services;
  services.script({{"goaway", {{"action", "goaway"}, {"times", 1}}},
                   {"cut", {{"action", "cut"}, {"times", 1}}},
                   {"refuse", {{"action", "refuse"}, {"times", 1}}},
                   {"reset", {{"action", "reset"}, {"times", 1}}}});
  apns_channel channel{services.apns(), env};
  for (const auto* device : {"goaway", "cut", "refuse", "reset"}) {
    CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
    pass(milliseconds{1'000});
    const auto first = deliver(channel, granted(), device);
    CAF_CHECK(first.outcome == delivered
              || (first.outcome == again && first.reason == "network" && !first.is_our_fault));
    pass(milliseconds{1'000});
    CAF_CHECK(deliver(channel, granted(), device).outcome == delivered);
  }
}

CAF_TEST(a server without HTTP2 is no APNs) {
  push_standins services{"1.1"};
  apns_channel channel{services.apns(), env};
  const auto got = deliver(channel, granted(), "d");
  CAF_CHECK(got.outcome == again);
  CAF_CHECK_EQUAL(got.reason, "network");
}

CAF_TEST(sends that wait for a connection that never comes about end too) {
  // The kernel accepts the connection, but no server speaks TLS: libcurl lets one send try and the others
  // wait for it.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CAF_REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0
              && ::listen(listener, 64) == 0);
  CAF_REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  push_standins services;
  auto s = services.apns();
  s.http.connect_to = {"api.push.apple.com:443:127.0.0.1:" + std::to_string(ntohs(address.sin_port))};
  s.http.connect_timeout = milliseconds{1'000};
  s.http.timeout = milliseconds{2'000};
  real_environment real;
  fq::test::delivery_answers got;
  apns_channel channel{s, real};
  const auto begin = real.steady_now();
  for (int i = 0; i < 40; ++i) channel.deliver(granted(), {.id = {}, .address = "d"}, got.next());
  for (const auto& a : got.wait(40))
    CAF_CHECK(a.outcome == again && (a.reason == "timeout" || a.reason == "no_connection"));
  CAF_CHECK(real.steady_now() - begin < milliseconds{20'000}); // one after the other would be 40 s
  CAF_CHECK_EQUAL(got.count(), 40u);
  ::close(listener);
}

CAF_TEST(a silent server ends at the timeout) {
  push_standins services;
  services.script({{"hang", {{"action", "hang"}}}});
  auto s = services.apns();
  s.http.timeout = milliseconds{3'000};
  apns_channel channel{s, env};
  const auto got = deliver(channel, granted(), "hang");
  CAF_CHECK(got.outcome == again);
  CAF_CHECK_EQUAL(got.reason, "timeout");
}

CAF_TEST(a key that is none for APNs is refused without being shown) {
  const auto complaint = [&](const std::string& key) -> std::string {
    apns_channel::settings s;
    s.key = key;
    try {
      const apns_channel channel{s, env};
    } catch (const std::runtime_error& e) { return e.what(); }
    return "none";
  };
  CAF_CHECK_EQUAL(complaint(private_key("apple")), "none");
  CAF_CHECK_EQUAL(complaint("secret"), "is no private key in PEM (without a passphrase)");
  CAF_CHECK_EQUAL(complaint(private_key("google")), "is no EC key on P-256");
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace apns_channel_test
