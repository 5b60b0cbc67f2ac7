// SPDX-License-Identifier: Apache-2.0
// The content of pushes, and the limits of both services.
#define CAF_SUITE push_content
#include "caf/test/unit_test.hpp"

#include "outbound/push_content.hpp"
#include "outbound/retry_after.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <set>

namespace push_content_test {

using namespace fq;
namespace json = boost::json;

namespace {

constexpr timestamp now = from_unix_ms(1'800'000'000'000); // Fri, 15 Jan 2027 08:00:00 GMT

notice about(std::string topic, std::string payload, timestamp expires_at = never) {
  return {.id = uuid{1, 2},
          .topic = std::move(topic),
          .payload = std::move(payload),
          .created_at = now,
          .expires_at = expires_at};
}

const auto topics = std::to_array<const char*>(
  {"queue.turn_granted", "queue.expired", "order.completed", "order.failed", "order.cancelled",
   "payment.failed", "payment.refunded", "claim.expired", "event.cancelled", "ticket.cancelled",
   "ticket.transferred", "quota.invitation", "loyalty.awarded"});

push_content content_of(const notice& what) {
  auto c = push_content_of(what, now);
  CAF_REQUIRE(c.has_value());
  return *c;
}

} // namespace

CAF_TEST(each topic that a person waits for has words of its own and no other topic has any) {
  std::set<std::string> titles;
  for (const auto* topic : topics) {
    const auto c =
      content_of(about(topic, R"({"event_id":"e","customer_id":"c","email":"fan@example.com"})"));
    CAF_CHECK(!c.title.empty() && c.title.size() <= 40);
    CAF_CHECK(!c.body.empty() && c.body.size() <= 120);
    CAF_CHECK_EQUAL(c.data.at("topic"), topic);
    CAF_CHECK_EQUAL(c.data.at("event_id"), "e");
    CAF_CHECK(!c.data.contains("customer_id") && !c.data.contains("email"));
    titles.insert(c.title);
  }
  CAF_CHECK_EQUAL(titles.size(), topics.size());
  for (const auto* topic :
       {"", "order.placed", "mail.send", "user.updated", "blacklist.enforced", "queue.turn_granted2"})
    CAF_CHECK(!push_content_of(about(topic, "{}"), now));
}

CAF_TEST(a push speaks the language of its device) {
  std::set<std::string> titles, bodies;
  for (const auto in : all_languages) {
    const auto c = push_content_of(about("queue.turn_granted", "{}"), now, in);
    titles.insert(c->title);
    bodies.insert(c->body);
    for (const auto* topic : topics)
      CAF_CHECK(push_content_of(about(topic, "{}"), now, in)->body.size() <= 200);
  }
  CAF_CHECK_EQUAL(titles.size(), all_languages.size());
  CAF_CHECK_EQUAL(bodies.size(), all_languages.size());
}

CAF_TEST(a session that ran out is told apart from a place that did) {
  const auto place = content_of(about("queue.expired", R"({"entry_id":"q"})"));
  const auto session = content_of(about("queue.expired", R"({"entry_id":"q","what":"session"})"));
  CAF_CHECK_EQUAL(place.title, "Your place has expired");
  CAF_CHECK_EQUAL(session.title, "Your time has run out");
  CAF_CHECK(!place.data.contains("what"));
  CAF_CHECK_EQUAL(session.data.at("what"), "session");
}

CAF_TEST(the newest of what concerns one thing is shown) {
  const auto key = [](const char* topic, const char* payload) {
    return content_of(about(topic, payload)).collapse_key;
  };
  CAF_CHECK_EQUAL(key("queue.turn_granted", R"({"entry_id":"q-1"})"),
                  key("queue.expired", R"({"entry_id":"q-1","what":"session"})"));
  CAF_CHECK(key("queue.turn_granted", R"({"entry_id":"q-1"})")
            != key("queue.turn_granted", R"({"entry_id":"q-2"})"));
  CAF_CHECK_EQUAL(key("claim.expired", R"({"claim_id":"k"})"),
                  key("order.completed", R"({"claim_id":"k","order_id":"o"})"));
  CAF_CHECK_EQUAL(key("order.failed", "{}"), "order.failed." + to_string(uuid{1, 2}));
  for (const auto* topic : topics)
    CAF_CHECK(content_of(about(topic, "{}")).collapse_key.size() <= collapse_key_bytes_max);
}

CAF_TEST(it is kept as long as it is worth something) {
  const auto ttl = [](timestamp expires_at) {
    return content_of(about("queue.turn_granted", "{}", expires_at)).ttl.count();
  };
  CAF_CHECK_EQUAL(ttl(now + seconds{600}), 600);
  CAF_CHECK_EQUAL(ttl(now + milliseconds{999}), 0);
  CAF_CHECK_EQUAL(ttl(now), 0);
  CAF_CHECK_EQUAL(ttl(now - seconds{5}), 0);
  CAF_CHECK_EQUAL(ttl(never), push_ttl_max.count());
  CAF_CHECK_EQUAL(ttl(now + push_ttl_max + seconds{1}), push_ttl_max.count());
  const auto past =
    json::parse(fcm_body(content_of(about("queue.turn_granted", "{}", now)), "t", now)).at("message");
  CAF_CHECK_EQUAL(past.at("android").at("ttl"), "0s");
  CAF_CHECK_EQUAL(past.at("apns").at("headers").at("apns-expiration"), "0"); // now or never
}

CAF_TEST(no payload makes a push too large or breaks it) {
  json::object many, odd{{"event_id", std::string(100'000, 'x')},
                         {"entry_id", "\"\\\n\x01"},
                         {"claim_id", 7},
                         {"order_id", nullptr},
                         {"payment_id", json::array{}}};
  for (int i = 0; i < 5'000; ++i)
    many["a" + std::to_string(i) + std::string(20, 'n') + "_id"] = std::string(64, '"') + std::to_string(i);
  for (int i = 0; i < 5'000; ++i)
    many["b" + std::to_string(i) + std::string(20, 'n') + "_id"] = std::string(60, 'v') + std::to_string(i);
  many["event_id"] = "\xff\xfe";
  many["session_expires_at"] = std::numeric_limits<std::int64_t>::min();
  for (const auto& payload : {json::serialize(many), json::serialize(odd), std::string(1'000'000, '['),
                              std::string{"{"}, std::string{}, std::string{"null"}})
    for (const auto* topic : topics) {
      const auto c = content_of(about(topic, payload));
      CAF_CHECK(apns_body(c).size() <= push_bytes_max);
      CAF_CHECK(fcm_body(c, "", now).size() <= push_bytes_max);
      CAF_CHECK(c.collapse_key.size() <= collapse_key_bytes_max);
      CAF_CHECK(json::parse(apns_body(c)).at("aps").is_object());
      const auto message = json::parse(fcm_body(c, "t", now));
      for (const auto& [name, value] : message.at("message").at("data").as_object()) {
        CAF_CHECK(value.is_string());
        const std::string key{name};
        CAF_CHECK(key != "from" && key != "message_type" && !key.starts_with("google")
                  && !key.starts_with("gcm")); // FCM's own
      }
    }
}

CAF_TEST(a pause is asked for in seconds or by date) {
  const auto read = [](const char* field) { return read_retry_after(field, now); };
  CAF_CHECK(read("0") == milliseconds{0});
  CAF_CHECK(read("120") == milliseconds{120'000});
  CAF_CHECK(read("Fri, 15 Jan 2027 08:02:00 GMT") == milliseconds{120'000});
  CAF_CHECK(read("Friday, 15-Jan-27 08:02:00 GMT") == milliseconds{120'000});
  CAF_CHECK(read("Fri, 15 Jan 2027 07:00:00 GMT") == milliseconds{0});
  CAF_CHECK(read("-5") == milliseconds{0});
  for (const auto* long_time : {"86401", "99999999999999999999999", "Fri, 15 Jan 2100 08:00:00 GMT"})
    CAF_CHECK(read(long_time) == milliseconds{24 * 60 * 60 * 1000});
  for (const auto* nothing : {"", "soon", "12 seconds"}) CAF_CHECK(!read(nothing));
}

} // namespace push_content_test
