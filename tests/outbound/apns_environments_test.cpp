// SPDX-License-Identifier: Apache-2.0
// The two environments of APNs: a token that one does not know is tried in the other, and the sandbox pauses
// nothing of production.
#define CAF_SUITE apns_environments
#include "caf/test/unit_test.hpp"

#include "tests/outbound/apns_fixture.hpp"

#include <chrono>

namespace apns_environments_test {

using namespace fq;
using namespace fq::test;
namespace json = boost::json;
using enum fq::delivery_outcome;

namespace {

/// The sandbox's answer for a token unknown to production.
struct second_word {
  const char* name;
  json::object sandbox;
  bool passes = false;
};

/// The sandbox's answer for its own device.
struct first_word {
  const char* name; ///< also the device's
  json::object sandbox;
  std::string_view reason;
  bool is_our_fault;
};

struct fixture : apns_fixture {
  /// The sandbox does not listen.
  static apns_channel::settings without_sandbox(apns_channel::settings s) {
    for (auto& way : s.http.connect_to)
      if (way.starts_with("api.sandbox")) way = "api.sandbox.push.apple.com:443:127.0.0.1:1";
    return s;
  }

  /// Only a device of the sandbox has to wait.
  void check_waits_alone(apns_channel& channel, const char* device, std::string_view reason,
                         bool is_our_fault) {
    const auto got = deliver(channel, granted(), device, true);
    CAF_CHECK(got.outcome == again && !got.is_channel_down);
    CAF_CHECK_EQUAL(got.reason, reason);
    CAF_CHECK_EQUAL(got.is_our_fault, is_our_fault);
    CAF_CHECK(deliver(channel, granted(), "of production").outcome == delivered);
  }

  /// A token known only in the other environment is delivered there, and an operator is notified.
  void check_moved(apns_channel& channel, bool is_sandbox) {
    const auto moved =
      deliver(channel, granted(), is_sandbox ? "of production" : "of the sandbox", is_sandbox);
    CAF_CHECK(moved.outcome == delivered && moved.is_our_fault);
    CAF_CHECK_EQUAL(moved.reason, "wrong_environment");
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(apns_environments_tests, fixture)

CAF_TEST(a token of the other environment is found there) {
  push_standins services;
  const auto unknown_at = [](const char* host) {
    return json::object{{"status", 400}, {"body", REASON("BadDeviceToken")}, {"host", host}};
  };
  services.script({{"of the sandbox", unknown_at("api.push.apple.com")},
                   {"of production", unknown_at("api.sandbox.push.apple.com")},
                   {"of none", gets(400, REASON("BadDeviceToken"))}});
  apns_channel channel{services.apns(), env};
  for (const auto is_sandbox : {false, true}) {
    check_moved(channel, is_sandbox);
    const auto none = deliver(channel, granted(), "of none", is_sandbox);
    CAF_CHECK(none.outcome == gone && !none.is_our_fault);
  }
  CAF_CHECK_EQUAL(requests(services.state()).size(), 8u);
}

CAF_TEST(the second environment has what is left of the time and without any is not asked) {
  push_standins services;
  const json::object slow{{"status", 400},
                          {"body", REASON("BadDeviceToken")},
                          {"held", true},
                          {"host", "api.push.apple.com"},
                          {"elsewhere", {{"action", "hang"}}}};
  services.script({{"late", slow}, {"too late", slow}});
  auto s = services.apns();
  s.http.timeout = milliseconds{60'000}; // one step alone would outlast a try
  fq::test::delivery_answers got;
  apns_channel channel{s, env};
  const auto deliver_after = [&](const char* device, milliseconds time) {
    const auto before = requests(services.state()).size(), answered = got.count();
    channel.deliver(granted(), {.id = {}, .address = device}, got.next());
    services.wait_for_requests(before + 1);
    pass(time);
    services.script({}); // now it is answered
    return got.wait(answered + 1).back();
  };
  const auto begin = std::chrono::steady_clock::now();
  CAF_CHECK(deliver_after("late", delivery_time_max - milliseconds{500}).outcome
            == again); // no answer, which may change at the next attempt
  CAF_CHECK(std::chrono::steady_clock::now() - begin
            < std::chrono::seconds{20}); // what was left, and a busy machine
  CAF_CHECK_EQUAL(requests(services.state()).size(), 2u);
  const auto too_late = deliver_after("too late", delivery_time_max);
  CAF_CHECK(too_late.outcome == again && !too_late.is_channel_down);
  CAF_CHECK_EQUAL(too_late.reason, "timeout");
  CAF_CHECK_EQUAL(requests(services.state()).size(), 3u);
}

CAF_TEST(a token of another topic is looked for in the other environment and a person is told) {
  push_standins services;
  const auto of_another_topic = gets(400, REASON("DeviceTokenNotForTopic"));
  auto only_in_production = of_another_topic, only_in_the_sandbox = of_another_topic;
  only_in_production["host"] = "api.push.apple.com";
  only_in_the_sandbox["host"] = "api.sandbox.push.apple.com";
  services.script({{"of the sandbox", only_in_production},
                   {"of production", only_in_the_sandbox},
                   {"of none", of_another_topic}});
  apns_channel channel{services.apns(), env};
  for (const auto is_sandbox : {false, true}) {
    check_moved(channel, is_sandbox);
    const auto none = deliver(channel, granted(), "of none", is_sandbox);
    CAF_CHECK(none.outcome == gone && none.is_our_fault && !none.is_channel_down);
    CAF_CHECK_EQUAL(none.reason, "DeviceTokenNotForTopic");
  }
  CAF_CHECK_EQUAL(requests(services.state()).size(), 8u);
}

CAF_TEST(a token that one environment does not know pauses nothing and is kept only for what passes) {
  // A client may register any text as a token, and an app may register live ones for the wrong environment.
  const std::vector<second_word> words{
    {"key of production alone", gets(403, REASON("BadEnvironmentKeyInToken")), false},
    {"key", gets(403, REASON("InvalidProviderToken")), false},
    {"old key", gets(403, REASON("ExpiredProviderToken")), true},
    {"topic", gets(400, REASON("BadTopic")), false},
    {"too many tokens", gets(429, REASON("TooManyProviderTokenUpdates")), true},
    {"busy", gets(429, REASON("TooManyRequests")), true},
    {"fault", gets(500, REASON("InternalServerError")), true},
    {"away", gets(503, REASON("ServiceUnavailable")), true},
    {"no APNs", gets(302, "<html>"), false},
    {"cut", {{"action", "reset"}}, true},
    {"refused", gets(400, REASON("BadPriority")), false},
  };
  push_standins services;
  apns_channel channel{services.apns(), env};
  for (const auto& w : words) {
    CAF_MESSAGE(w.name);
    services.script({{"d",
                      {{"status", 400},
                       {"body", REASON("BadDeviceToken")},
                       {"host", "api.push.apple.com"},
                       {"elsewhere", w.sandbox}}}});
    const auto got = deliver(channel, granted(), "d");
    CAF_CHECK(got.outcome == (w.passes ? again : gone) && !got.is_channel_down && !got.is_our_fault);
    CAF_CHECK_EQUAL(got.reason == "BadDeviceToken", !w.passes);
    const auto all = requests(services.state());
    CAF_CHECK_EQUAL(all.back().at("host"), "api.sandbox.push.apple.com");
    CAF_CHECK(deliver(channel, granted(), "another").outcome == delivered); // no other device has to wait
  }
}

CAF_TEST(a token that one environment does not know waits if the other cannot be reached) {
  push_standins services;
  services.script({{"of none", gets(400, REASON("BadDeviceToken"))}});
  apns_channel half{without_sandbox(services.apns()), env};
  const auto got = deliver(half, granted(), "of none");
  CAF_CHECK(got.outcome == again && !got.is_channel_down && !got.is_our_fault);
}

CAF_TEST(what the sandbox answers a device of its own pauses nothing and what is our fault is said) {
  // Any client can register a device of the sandbox.
  const std::vector<first_word> words{
    {"key", gets(403, REASON("InvalidProviderToken")), "InvalidProviderToken", true},
    {"key of production alone", gets(403, REASON("BadEnvironmentKeyIdInToken")), "BadEnvironmentKeyIdInToken",
     true},
    {"old key", gets(403, REASON("ExpiredProviderToken")), "ExpiredProviderToken", true},
    {"topic", gets(400, REASON("BadTopic")), "BadTopic", true},
    {"busy", gets(429, REASON("TooManyRequests")), "TooManyRequests", false},
    {"away", gets(503, REASON("ServiceUnavailable")), "ServiceUnavailable", false},
    {"no APNs", gets(302, "<html>"), "HTTP 302", true},
    {"cut", {{"action", "reset"}}, "network", false},
  };
  push_standins services;
  json::object devices;
  for (const auto& w : words) devices[w.name] = w.sandbox;
  services.script(devices);
  apns_channel channel{services.apns(), env};
  for (const auto& w : words) {
    CAF_MESSAGE(w.name);
    check_waits_alone(channel, w.name, w.reason, w.is_our_fault);
  }
}

CAF_TEST(a sandbox that cannot be reached is no matter of production) {
  push_standins services;
  apns_channel half{without_sandbox(services.apns()), env};
  check_waits_alone(half, "d", "no_connection", false);
}

CAF_TEST(too many provider tokens for one environment pause that one alone) {
  push_standins services;
  const auto too_many_at = [](const char* host) {
    return json::object{
      {"status", 429}, {"body", REASON("TooManyProviderTokenUpdates")}, {"times", 1}, {"host", host}};
  };
  services.script({{"of the sandbox", too_many_at("api.sandbox.push.apple.com")},
                   {"first", too_many_at("api.push.apple.com")},
                   {"of none", gets(400, REASON("BadDeviceToken"))}});
  apns_channel channel{services.apns(), env};
  check_waits_alone(channel, "of the sandbox", "TooManyProviderTokenUpdates", true);
  const auto asked = requests(services.state()).size();
  check_waits_alone(channel, "another", "TooManyProviderTokenUpdates", true);
  CAF_CHECK_EQUAL(requests(services.state()).size(), asked + 1); // production's
  const auto none = deliver(channel, granted(), "of none"); // the sandbox would have been asked second
  CAF_CHECK(none.outcome == again && !none.is_channel_down);
  pass(milliseconds{20 * 60'000});
  CAF_CHECK(deliver(channel, granted(), "of the sandbox", true).outcome == delivered);
  CAF_CHECK(deliver(channel, granted(), "first").is_channel_down);
  CAF_CHECK(deliver(channel, granted(), "another").is_channel_down);
  CAF_CHECK(deliver(channel, granted(), "of the sandbox", true).outcome == delivered);
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace apns_environments_test
