// SPDX-License-Identifier: Apache-2.0
// FCM: every row of the table of answers, by itself and over the wire, and the access token that all sends
// share.
#define CAF_SUITE fcm_channel
#include "caf/test/unit_test.hpp"

#include "outbound/retry_after.hpp"
#include "tests/outbound/fixed_environment.hpp"
#include "tests/outbound/push_standins.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <set>

namespace fcm_channel_test {

using namespace fq;
using namespace fq::test;
namespace json = boost::json;
using enum fq::delivery_outcome;

namespace {

#define FCM_ERROR(code)                                                                                      \
  R"({"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":")" code R"("})"
#define BAD_FIELD(field)                                                                                     \
  R"({"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":")" field              \
  R"(","description":"Invalid value"}]})"
#define GOOGLE_ERROR(code, status, message, details)                                                         \
  R"({"error":{"code":)" code R"(,"message":")" message R"(","status":")" status R"(","details":[)" details  \
  "]}}"

// docs of FCM's error codes and of google.rpc.Status; reference/faults-security-conventions.md section 5.1.
const std::vector<answer_row> rows{
  {"taken", 200, R"({"name":"projects/p/messages/1"})", delivered, ""},
  {"unregistered", 404,
   GOOGLE_ERROR("404", "NOT_FOUND", "Requested entity was not found.", FCM_ERROR("UNREGISTERED")), gone,
   "UNREGISTERED"},
  {"no token at all", 400,
   GOOGLE_ERROR("400", "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token",
                FCM_ERROR("INVALID_ARGUMENT")),
   gone, "INVALID_ARGUMENT"},
  {"no token at all and the field", 400,
   GOOGLE_ERROR("400", "INVALID_ARGUMENT", "The registration token is not a valid FCM registration token",
                FCM_ERROR("INVALID_ARGUMENT") "," BAD_FIELD("message.token")),
   gone, "INVALID_ARGUMENT"},
  {"a bad field", 400,
   GOOGLE_ERROR("400", "INVALID_ARGUMENT", "Invalid value at 'message.android.ttl'",
                BAD_FIELD("message.android.ttl")),
   refused, "INVALID_ARGUMENT", false, true},
  {"a bad field and FCM", 400,
   GOOGLE_ERROR("400", "INVALID_ARGUMENT", "Invalid data payload key: from",
                FCM_ERROR("INVALID_ARGUMENT") "," BAD_FIELD("message.data")),
   refused, "INVALID_ARGUMENT", false, true},
  {"too big", 400,
   GOOGLE_ERROR("400", "INVALID_ARGUMENT", "Android message is too big", FCM_ERROR("INVALID_ARGUMENT")),
   refused, "INVALID_ARGUMENT", false, true},
  {"another sender", 403,
   GOOGLE_ERROR("403", "PERMISSION_DENIED", "SenderId mismatch", FCM_ERROR("SENDER_ID_MISMATCH")), gone,
   "SENDER_ID_MISMATCH", false, true},
  {"not allowed", 403,
   GOOGLE_ERROR("403", "PERMISSION_DENIED", "Firebase Cloud Messaging API has not been used", ""), again,
   "PERMISSION_DENIED", true, true},
  {"third party", 401,
   GOOGLE_ERROR("401", "UNAUTHENTICATED", "Auth error from APNS or Web Push Service",
                FCM_ERROR("THIRD_PARTY_AUTH_ERROR")),
   again, "THIRD_PARTY_AUTH_ERROR", false, true},
  {"unauthenticated", 401,
   GOOGLE_ERROR("401", "UNAUTHENTICATED", "Request had invalid authentication credentials.", ""), again,
   "UNAUTHENTICATED", true, true},
  {"quota", 429, GOOGLE_ERROR("429", "RESOURCE_EXHAUSTED", "Quota exceeded", FCM_ERROR("QUOTA_EXCEEDED")),
   again, "QUOTA_EXCEEDED", false, false, "120", milliseconds{120'000}},
  {"unavailable", 503,
   GOOGLE_ERROR("503", "UNAVAILABLE", "The service is currently unavailable.", FCM_ERROR("UNAVAILABLE")),
   again, "UNAVAILABLE", false, false, "Fri, 15 Jan 2027 08:02:00 GMT", milliseconds{120'000}},
  {"internal", 500, GOOGLE_ERROR("500", "INTERNAL", "Internal error encountered.", FCM_ERROR("INTERNAL")),
   again, "INTERNAL"},
  {"a proxy of theirs", 502, "<html>Bad gateway</html>", again, "HTTP 502"},
  {"no such project", 404, "<html>404</html>", again, "HTTP 404", true, true},
};

struct fixture {
  fixed_environment env; // 15 Jan 2027 08:00:00.123 GMT

  notice granted() { return turn_granted(env.wall_now()); }
  void pass(milliseconds time) { env.now_ms += time.count(); }
};

json::object script_of(const std::vector<answer_row>& all) {
  json::object devices;
  for (const auto& r : all) {
    json::object headers{{"content-type", "application/json"}};
    if (!r.retry_after.empty()) headers["retry-after"] = r.retry_after;
    devices[r.name] = json::object{{"status", r.status}, {"headers", headers}, {"body", r.body}};
  }
  return devices;
}

/// The requests that were sends.
std::vector<json::object> sends(const json::object& state) {
  std::vector<json::object> out;
  for (const auto& r : state.at("requests").as_array())
    if (r.at("host") == "fcm.googleapis.com") out.push_back(r.as_object());
  return out;
}

} // namespace

CAF_TEST_FIXTURE_SCOPE(fcm_channel_tests, fixture)

CAF_TEST(each answer of FCM means what the table says) {
  for (const auto& r : rows) {
    const auto got =
      fcm_answer(r.status, r.body, read_retry_after(std::string{r.retry_after}, env.wall_now()));
    CAF_CHECK_EQUAL(difference(got, r), "");
    CAF_CHECK(got.retry_after == r.pause);
  }
}

CAF_TEST(answers that are not what Google documents are no reason to forget a device) {
  for (const auto* body :
       {"", "{", "[]", "null", R"({"error":[]})", R"({"error":{"details":[null,{"@type":7}]}})",
        R"({"error":{"details":{"errorCode":"UNREGISTERED"}}})",
        R"({"error":{"details":[{"errorCode":"UNREGISTERED"}]}})"})
    for (const auto status : {100, 201, 302, 400, 401, 403, 404, 405, 413, 429, 500, 503, 599}) {
      const auto got = fcm_answer(status, body, {});
      CAF_CHECK(got.outcome == again || got.outcome == refused);
      CAF_CHECK(!got.reason.empty());
    }
  const auto got =
    fcm_answer(400, R"({"error":{"status":"<script>\n\u0007bad","message":"the registration token"}})", {});
  CAF_CHECK_EQUAL(got.reason, "scriptbad");
  CAF_CHECK(got.outcome == refused); // FCM itself has not spoken
}

CAF_TEST(every row comes over the wire as it is) {
  push_standins services;
  services.script(script_of(rows));
  fcm_channel channel{services.fcm(), env};
  for (const auto& r : rows) {
    const auto got = deliver(channel, granted(), std::string{r.name});
    CAF_CHECK_EQUAL(difference(got, r), "");
    CAF_CHECK(got.retry_after == r.pause);
  }
  const auto state = services.state();
  CAF_CHECK_EQUAL(json::serialize(state.at("wrong")), "[]");
  // The first 401 has made a new access token, and the send was repeated with it; the second came within a
  // minute.
  CAF_CHECK_EQUAL(state.at("exchanges").as_int64(), 2);
  CAF_CHECK_EQUAL(sends(state).size(), rows.size() + 1);
}

CAF_TEST(many sends share one access token and a few connections) {
  push_standins services;
  fcm_channel channel{services.fcm(), env};
  fq::test::delivery_answers got;
  for (int i = 0; i < 60; ++i)
    channel.deliver(granted(), {.id = {}, .address = "device-" + std::to_string(i)}, got.next());
  for (const auto& a : got.wait(60)) CAF_CHECK(a.outcome == delivered);
  const auto state = services.state();
  CAF_CHECK_EQUAL(json::serialize(state.at("wrong")), "[]");
  CAF_CHECK_EQUAL(state.at("exchanges").as_int64(), 1);
  CAF_CHECK(state.at("sessions").as_int64() <= 1 + 8); // of the token's host, and of the API's: what begins
                                                       // before the first one is there makes its own
  std::set<std::string> devices;
  for (const auto& s : sends(state)) devices.emplace(s.at("device").as_string());
  CAF_CHECK_EQUAL(devices.size(), 60u);
  const auto& claims = state.at("requests").at(0).at("claims");
  CAF_CHECK_EQUAL(claims.at("iat").as_int64(), 1'800'000'000);
  CAF_CHECK_EQUAL(claims.at("exp").as_int64(), 1'800'003'600);
}

CAF_TEST(a device is shown what the notice says) {
  push_standins services;
  fcm_channel channel{services.fcm(), env};
  CAF_CHECK(deliver(channel, granted(), "d \"1\"").outcome == delivered);
  const auto sent = sends(services.state());
  CAF_REQUIRE_EQUAL(sent.size(), 1u);
  CAF_CHECK_EQUAL(sent[0].at("path"), "/v1/projects/fairqueue-tests/messages:send");
  const auto message = json::parse(sent[0].at("body").as_string()).at("message");
  CAF_CHECK_EQUAL(message.at("token"), "d \"1\"");
  CAF_CHECK_EQUAL(message.at("notification").at("title"), "It is your turn");
  CAF_CHECK_EQUAL(message.at("data").at("entry_id"), "q-1");
  CAF_CHECK_EQUAL(message.at("data").at("topic"), "queue.turn_granted");
  CAF_CHECK_EQUAL(message.at("data").at("session_expires_at"), "1800000600000");
  CAF_CHECK_EQUAL(message.at("android").at("priority"), "HIGH");
  CAF_CHECK_EQUAL(message.at("android").at("ttl"), "600s");
  CAF_CHECK_EQUAL(message.at("apns").at("headers").at("apns-expiration"), "1800000600");
  auto unknown = granted();
  unknown.topic = "mail.send";
  const auto got = deliver(channel, unknown, "d");
  CAF_CHECK(got.outcome == refused && got.reason == "nothing_to_show");
}

CAF_TEST(the access token is made anew five minutes before its end) {
  push_standins services;
  fcm_channel channel{services.fcm(), env};
  const auto exchanges = [&] {
    CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
    return services.count("exchanges");
  };
  CAF_CHECK_EQUAL(exchanges(), 1);
  pass(milliseconds{3'298'000}); // of 3,599 s
  CAF_CHECK_EQUAL(exchanges(), 1);
  pass(milliseconds{1'000});
  CAF_CHECK_EQUAL(exchanges(), 2);
}

CAF_TEST(an access token that is refused is replaced once and the send repeated) {
  push_standins services;
  services.script({{"d", {{"status", 401}, {"body", "{}"}, {"once_per_token", true}}},
                   {"e", {{"status", 401}, {"body", "{}"}}}});
  fcm_channel channel{services.fcm(), env};
  CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
  CAF_CHECK_EQUAL(services.count("exchanges"), 2);
  for (int i = 0; i < 5; ++i) {
    const auto got = deliver(channel, granted(), "e"); // our account is at fault: no new token for each send
    CAF_CHECK(got.outcome == again && got.is_channel_down && got.is_our_fault);
  }
  CAF_CHECK_EQUAL(services.count("exchanges"), 2);
  pass(milliseconds{60'000});
  CAF_CHECK(deliver(channel, granted(), "e").is_channel_down);
  CAF_CHECK_EQUAL(services.count("exchanges"), 3);
  CAF_CHECK(deliver(channel, granted(), "f").outcome == delivered);
}

CAF_TEST(without an access token nobody is reached and the reason says why) {
  push_standins services;
  services.script(
    {{"oauth",
      {{"status", 400},
       {"body", R"({"error":"invalid_grant","error_description":"Invalid grant: account not found"})"},
       {"times", 1}}}});
  fcm_channel channel{services.fcm(), env};
  const auto refusal = deliver(channel, granted(), "d");
  CAF_CHECK(refusal.outcome == again && refusal.is_channel_down && refusal.is_our_fault);
  CAF_CHECK_EQUAL(refusal.reason, "oauth_invalid_grant");
  services.script(
    {{"oauth", {{"status", 503}, {"headers", {{"retry-after", "7"}}}, {"body", "busy"}, {"times", 1}}}});
  const auto trouble = deliver(channel, granted(), "d");
  CAF_CHECK(trouble.outcome == again && trouble.is_channel_down && !trouble.is_our_fault);
  CAF_CHECK(trouble.retry_after == milliseconds{7'000});
  services.script({{"oauth", {{"action", "reset"}, {"times", 1}}}});
  const auto reset = deliver(channel, granted(), "d");
  CAF_CHECK(reset.outcome == again && reset.is_channel_down && !reset.is_our_fault);
  CAF_CHECK_EQUAL(reset.reason, "oauth_network");
  CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
  CAF_CHECK_EQUAL(sends(services.state()).size(), 1u);
}

CAF_TEST(a key that Google does not know is our fault) {
  push_standins services;
  auto s = services.fcm();
  s.account.private_key_id = "another";
  fcm_channel channel{s, env};
  const auto got = deliver(channel, granted(), "d");
  CAF_CHECK(got.outcome == again && got.is_channel_down && got.is_our_fault);
  CAF_CHECK_EQUAL(got.reason, "oauth_invalid_grant");
}

CAF_TEST(no more sends wait for an access token than may and each is answered once) {
  push_standins services;
  services.script({{"oauth", {{"action", "hang"}}}});
  fq::test::delivery_answers waiting, refusals;
  auto s = services.fcm();
  s.waiting_max = 3;
  {
    fcm_channel channel{s, env};
    for (int i = 0; i < 3; ++i) channel.deliver(granted(), {.id = {}, .address = "d"}, waiting.next());
    channel.deliver(granted(), {.id = {}, .address = "d"}, refusals.next());
    CAF_CHECK_EQUAL(refusals.count(), 1u); // at once
    const auto refusal = refusals.wait(1).front();
    CAF_CHECK_EQUAL(refusal.reason, "overloaded");
    CAF_CHECK(refusal.outcome == again);
    CAF_CHECK_EQUAL(waiting.count(), 0u);
  }
  for (const auto& a : waiting.wait(3)) CAF_CHECK(a.outcome == again && a.reason == "oauth_cancelled");
  CAF_CHECK_EQUAL(waiting.count(), 3u);
}

CAF_TEST(a token endpoint that hangs ends at the timeout and the next send asks anew) {
  push_standins services;
  services.script({{"oauth", {{"action", "hang"}, {"times", 1}}}});
  auto s = services.fcm();
  s.http.timeout = milliseconds{3'000};
  fcm_channel channel{s, env};
  const auto got = deliver(channel, granted(), "d");
  CAF_CHECK_EQUAL(got.reason, "oauth_timeout");
  CAF_CHECK(got.outcome == again && got.is_channel_down);
  CAF_CHECK(deliver(channel, granted(), "d").outcome == delivered);
}

/// A refused access token, and the sends before the refusal arrives.
struct slow_refusal {
  push_standins services;
  fixed_environment& env;
  fcm_channel::settings settings = services.fcm();
  std::chrono::steady_clock::time_point begin{};

  explicit slow_refusal(fixed_environment& e) : env{e} {
    settings.http.timeout = milliseconds{60'000};
  } // one step alone would outlast a try

  /// Returns the answer to a send to "d" whose first step takes `time`. `meanwhile`: the scripted answers
  /// after that step.
  delivery_answer deliver_after(milliseconds time, const json::object& meanwhile) {
    fq::test::delivery_answers got;
    fcm_channel channel{settings, env};
    CAF_CHECK(deliver(channel, turn_granted(env.wall_now()), "another").outcome
              == delivered); // there is an access token
    services.script({{"d", {{"status", 401}, {"body", "{}"}, {"held", true}}}});
    const auto before = services.state().at("requests").as_array().size();
    channel.deliver(turn_granted(env.wall_now()), {.id = {}, .address = "d"}, got.next());
    services.wait_for_requests(before + 1);
    env.now_ms += time.count();
    begin = std::chrono::steady_clock::now();
    services.script(meanwhile); // the refusal leaves now
    return got.wait(1).front();
  }
  [[nodiscard]] bool was_quick() const {
    return std::chrono::steady_clock::now() - begin < std::chrono::seconds{20};
  } // what was left, and a busy machine
};

CAF_TEST(a new access token has what is left of the time) {
  slow_refusal s{env};
  const auto got = s.deliver_after(delivery_time_max - milliseconds{500}, {{"oauth", {{"action", "hang"}}}});
  CAF_CHECK_EQUAL(got.reason, "oauth_timeout");
  CAF_CHECK(got.outcome == again && s.was_quick());
}

CAF_TEST(a send that is repeated has what is left of the time) {
  slow_refusal s{env};
  // Time enough for the new access token.
  const auto got = s.deliver_after(delivery_time_max - milliseconds{3'000}, {{"d", {{"action", "hang"}}}});
  CAF_CHECK_EQUAL(got.reason, "timeout");
  CAF_CHECK(got.outcome == again && s.was_quick());
  CAF_CHECK_EQUAL(s.services.count("exchanges"), 2);
}

CAF_TEST(no step begins when the time is over) {
  slow_refusal s{env};
  const auto got = s.deliver_after(delivery_time_max, {});
  CAF_CHECK(got.outcome == again && !got.is_channel_down);
  CAF_CHECK_EQUAL(got.reason, "timeout");
  CAF_CHECK_EQUAL(s.services.count("exchanges"), 1);
  s.services.script({{"oauth", {{"status", 200}, {"body", R"({"access_token":"t"})"}, {"held", true}}}});
  fq::test::delivery_answers answers;
  fcm_channel channel{s.settings, env};
  const auto before = s.services.state().at("requests").as_array().size();
  channel.deliver(granted(), {.id = {}, .address = "another"}, answers.next());
  s.services.wait_for_requests(before + 1);
  pass(delivery_time_max);
  s.services.script({});
  const auto late = answers.wait(1).front();
  CAF_CHECK(late.outcome == again && late.reason == "timeout");
  CAF_CHECK_EQUAL(s.services.state().at("requests").as_array().size(), before + 1);
}

CAF_TEST(nobody waits for an access token longer than there is time) {
  push_standins services;
  auto s = services.fcm();
  s.http.timeout = milliseconds{60'000};
  fq::test::delivery_answers patient, impatient;
  {
    fcm_channel channel{s, env};
    CAF_CHECK(deliver(channel, granted(), "another").outcome == delivered);
    const auto refused_token = json::object{{"status", 401}, {"body", "{}"}};
    auto slow = refused_token;
    slow["held"] = true;
    services.script({{"slow", slow}, {"quick", refused_token}, {"oauth", {{"action", "hang"}}}});
    channel.deliver(granted(), {.id = {}, .address = "slow"}, impatient.next());
    services.wait_for_requests(3); // an exchange and two sends
    pass(milliseconds{20'000});
    channel.deliver(granted(), {.id = {}, .address = "quick"}, patient.next()); // begins an exchange of 25 s
    services.wait_for_requests(5);
    services.script({}); // now "slow" is refused
    const auto got = impatient.wait(1).front(); // it has five
    CAF_CHECK(got.outcome == again && !got.is_channel_down);
    CAF_CHECK_EQUAL(got.reason, "timeout");
    CAF_CHECK_EQUAL(patient.count(), 0u);
  }
  const auto cancelled = patient.wait(1).front();
  CAF_CHECK_EQUAL(cancelled.reason, "oauth_cancelled");
}

CAF_TEST(nobody but Google is given a token) {
  push_standins services;
  auto s = services.fcm();
  s.http.ca_file.clear(); // the system's authorities do not know ours
  fcm_channel channel{s, env};
  const auto got = deliver(channel, granted(), "d");
  CAF_CHECK_EQUAL(got.reason, "oauth_no_connection");
  CAF_CHECK(got.outcome == again && got.is_channel_down);
  CAF_CHECK_EQUAL(services.state().at("requests").as_array().size(), 0u);
}

CAF_TEST(a service account is read or it is said what is wrong with it) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      const auto account = read_google_account(text);
      return account.project_id;
    } catch (const std::runtime_error& e) { return e.what(); }
  };
  CAF_CHECK_EQUAL(complaint(service_account_json()), "fairqueue-tests");
  CAF_CHECK_EQUAL(complaint("secret"), "is no JSON object");
  CAF_CHECK_EQUAL(complaint(R"({"type":"authorized_user"})"), "is not of type service_account");
  for (const auto* name : {"project_id", "client_email", "private_key_id", "private_key", "token_uri"}) {
    auto account = json::parse(service_account_json()).as_object();
    account.erase(name);
    CAF_CHECK(complaint(json::serialize(account)).starts_with(std::string{"has no "} + name));
    CAF_CHECK(complaint(json::serialize(account)).find("BEGIN") == std::string::npos);
  }
  auto open = json::parse(service_account_json()).as_object();
  open["token_uri"] = "http://oauth2.googleapis.com/token";
  CAF_CHECK_EQUAL(complaint(json::serialize(open)), "has a token_uri that is not https://");
}

CAF_TEST_FIXTURE_SCOPE_END()

} // namespace fcm_channel_test
