// SPDX-License-Identifier: Apache-2.0
// The mirror for development against a scripted server, and the effect of the options on all push channels.
#define CAF_SUITE ntfy_channel
#include "caf/test/unit_test.hpp"

#include "app/push_channels.hpp"
#include "outbound/ntfy_channel.hpp"
#include "tests/crypto/temp_folder.hpp"
#include "tests/outbound/fixed_environment.hpp"
#include "tests/outbound/push_standins.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <fstream>

namespace ntfy_channel_test {

using namespace fq;
using namespace fq::test;
using enum fq::delivery_outcome;

namespace {

struct fixture {
  fixed_environment env;
  temp_folder folder;

  notice granted() { return turn_granted(env.wall_now()); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream{folder / name} << text;
    return (folder / name).string();
  }
};

} // namespace

CAF_TEST_FIXTURE_SCOPE(ntfy_channel_tests, fixture)

CAF_TEST(a push is mirrored to its topic) {
  const scripted_server server{[](const scripted_request& r) {
    if (r.target.ends_with("/busy")) return answer(429, "", "Retry-After: 3\r\n");
    return answer(r.target.ends_with("/forbidden") ? 403 : r.target.ends_with("/broken") ? 500 : 200, "{}");
  }};
  ntfy_channel channel{{.url = server.url(), .http = {}}, env};
  CAF_CHECK(deliver(channel, granted(), "fans/of you").outcome == delivered);
  const auto sent = server.requests().front();
  CAF_CHECK_EQUAL(sent.target, "/fans%2Fof%20you");
  CAF_CHECK_EQUAL(sent.field("title"), "It is your turn");
  CAF_CHECK_EQUAL(sent.field("priority"), "high");
  CAF_CHECK_EQUAL(sent.body, "You have been let in. Open the app before your time runs out.");
  const auto busy = deliver(channel, granted(), "busy");
  CAF_CHECK(busy.outcome == again && busy.retry_after == milliseconds{3'000});
  CAF_CHECK(deliver(channel, granted(), "broken").outcome == again);
  const auto forbidden = deliver(channel, granted(), "forbidden");
  CAF_CHECK(forbidden.outcome == refused && forbidden.is_our_fault);
  CAF_CHECK_EQUAL(forbidden.reason, "HTTP 403");
}

CAF_TEST(only channels that are set up are there and they work as the options say) {
  config::options o;
  const auto none = open_push_channels(o, env);
  CAF_CHECK(!none.fcm && !none.apns && !none.ntfy);

  const push_standins services;
  const auto http = services.http();
  o.push.fcm_service_account = write("account.json", service_account_json());
  o.push.fcm_url = "https://fcm.googleapis.com";
  o.push.apns_team_id = "APPLETEAM1";
  o.push.apns_key_id = "APPLEKEY01";
  o.push.apns_key = write("key.p8", private_key("apple"));
  o.push.apns_topic = "com.example.tickets";
  o.push.apns_url = "https://api.push.apple.com";
  o.push.apns_sandbox_url = "https://api.sandbox.push.apple.com";
  o.push.ntfy_url = "http://127.0.0.1:1";
  o.push.ca_file = http.ca_file;
  for (const auto& way : http.connect_to) o.push.connect_to += way + ", ";
  const auto all = open_push_channels(o, env);
  CAF_REQUIRE(all.fcm && all.apns && all.ntfy);
  CAF_CHECK(deliver(*all.fcm, granted(), "d").outcome == delivered);
  CAF_CHECK(deliver(*all.apns, granted(), "d").outcome == delivered);
  CAF_CHECK(deliver(*all.apns, granted(), "d", true).outcome == delivered);
  const auto unreached = deliver(*all.ntfy, granted(), "d");
  CAF_CHECK(unreached.outcome == again && unreached.is_channel_down);
}

CAF_TEST(all files that are no keys are named at once and nothing in them) {
  config::options o;
  o.push.fcm_service_account = write("account.json", "hunter2");
  o.push.apns_key = folder / "missing.p8";
  try {
    static_cast<void>(open_push_channels(o, env));
    CAF_FAIL("opened");
  } catch (const std::runtime_error& e) {
    const std::string text = e.what();
    CAF_CHECK(
      text.find("push.fcm_service_account: " + o.push.fcm_service_account.string() + " is no JSON object")
      != std::string::npos);
    CAF_CHECK(text.find("push.apns_key: " + o.push.apns_key.string() + " cannot be read")
              != std::string::npos);
    CAF_CHECK(text.find("hunter2") == std::string::npos);
  }
  o.push.apns_key = folder.path();
  CAF_CHECK_EQUAL(std::filesystem::is_directory(o.push.apns_key), true);
  try {
    static_cast<void>(open_push_channels(o, env));
    CAF_FAIL("opened");
  } catch (const std::runtime_error& e) {
    CAF_CHECK(std::string{e.what()}.find("cannot be read") != std::string::npos);
  }
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace ntfy_channel_test
