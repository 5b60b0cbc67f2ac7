// SPDX-License-Identifier: Apache-2.0
// The bus of NATS against a real server: what a domain event looks like there, that it is there once, and a
// server that is away or killed.
#define CAF_SUITE event_bus
#include "caf/test/unit_test.hpp"

#include "outbound/event_bus.hpp"
#include "tests/outbound/private_nats.hpp"

#include <boost/json/parse.hpp>

#include <chrono>
#include <set>
#include <thread>

namespace event_bus_test {

using namespace fq;
using namespace fq::test;

namespace {

nats_bus_settings settings_for(const std::string& url) {
  nats_bus_settings s;
  s.servers = {.url = url, .timeout = milliseconds{2'000}};
  return s;
}

bus_message message(
  std::uint64_t n,
  std::string payload = R"({"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","amount":5000})") {
  bus_message m;
  m.what.id = {1, n};
  m.what.topic = "order.completed";
  m.what.payload = std::move(payload);
  m.what.tenant = tenant_id{3};
  m.what.created_at = from_unix_ms(1'800'000'000'123);
  m.aggregate = aggregate_id{20};
  m.seq = n;
  m.ordinal = 2;
  return m;
}

bool accepted_in_time(nats_bus& bus, const bus_message& m) {
  for (int i = 0; i < 200; ++i) {
    if (bus.publish(m).result == bus_result::accepted) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  return false;
}

} // namespace

CAF_TEST(an event is a cloud event in structured mode under its own id) {
  const private_nats server;
  nats_bus bus{settings_for(server.url())};
  const auto answer = bus.publish(message(42));
  CAF_CHECK_EQUAL(answer.why, "");
  CAF_CHECK(answer.result == bus_result::accepted);
  const auto stored = observer{server.url()}.messages("fairqueue");
  CAF_REQUIRE_EQUAL(stored.size(), 1u);
  CAF_CHECK_EQUAL(stored[0].subject, "fairqueue.order.completed");
  CAF_CHECK_EQUAL(stored[0].id, to_string(uuid{1, 42}));
  CAF_CHECK_EQUAL(stored[0].content_type, "application/cloudevents+json; charset=utf-8");
  const auto expected = boost::json::parse(
    R"({"specversion":"1.0","id":"00000000-0000-0001-0000-00000000002a","source":"/fairqueue",)"
    R"("type":"order.completed",
    "subject":"01890a5d-ac96-774b-bcce-b302099a8057","time":"2027-01-15T08:00:00.123Z",)"
    R"("datacontenttype":"application/json","tenant":"3",
    "sequence":"00000000000000000042.0000000002","partitionkey":"20",
    "data":{"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","amount":5000}})");
  CAF_CHECK(boost::json::parse(stored[0].data) == expected);
}

CAF_TEST(its stream keeps three days in files and knows repeats for an hour) {
  const private_nats server;
  nats_bus bus{settings_for(server.url())};
  for (int i = 0; i < 3; ++i) CAF_CHECK(bus.publish(message(1)).result == bus_result::accepted);
  observer eyes{server.url()};
  CAF_CHECK_EQUAL(eyes.messages("fairqueue").size(), 1u);
  eyes.with_stream("fairqueue", [](const jsStreamInfo& info) {
    CAF_CHECK_EQUAL(info.Config->MaxAge, std::int64_t{72} * 3600 * 1'000'000'000);
    CAF_CHECK_EQUAL(info.Config->Duplicates, std::int64_t{3600} * 1'000'000'000);
    CAF_CHECK(info.Config->Storage == js_FileStorage);
  });
}

CAF_TEST(sequences compare as text as they do as numbers) {
  const auto sequence = [](std::uint64_t seq) {
    auto m = message(seq);
    return std::string{boost::json::parse(cloud_event_of(m, "/x")).at("sequence").as_string()};
  };
  CAF_CHECK(sequence(9) < sequence(10));
  CAF_CHECK(sequence(999'999) < sequence(1'000'000));
}

CAF_TEST(what concerns a customer and no event has the customer as its subject) {
  const auto document = boost::json::parse(cloud_event_of(message(1, R"({"customer_id":"c"})"), "/x"));
  CAF_CHECK(document.at("subject") == boost::json::value("c"));
  CAF_CHECK(!boost::json::parse(cloud_event_of(message(1, "{}"), "/x")).as_object().contains("subject"));
}

CAF_TEST(what no bus will ever take is rejected) {
  const private_nats server;
  nats_bus bus{settings_for(server.url())};
  CAF_CHECK(bus.publish(message(1, "no json")).result == bus_result::rejected);
  CAF_CHECK(bus.publish(message(2, "[1]")).result == bus_result::rejected);
  CAF_CHECK(bus.publish(message(3, R"({"x":")" + std::string(2'000'000, 'x') + R"("})")).result
            == bus_result::rejected);
  CAF_CHECK(bus.publish(message(4)).result == bus_result::accepted); // the connection has survived it
}

CAF_TEST(what another stream would take is not published) {
  const private_nats server;
  observer eyes{server.url()};
  eyes.add_stream("fairqueue", "elsewhere.>"); // there, but without our subjects
  eyes.add_stream("audit", "fairqueue.order.>");
  nats_bus bus{settings_for(server.url())};
  const auto answer = bus.publish(message(1));
  CAF_CHECK(answer.result == bus_result::unavailable);
  CAF_CHECK_EQUAL(answer.why,
                  "NATS: another stream than fairqueue has the subject fairqueue.order.completed");
  eyes.with_stream("audit", [](const jsStreamInfo& info) { CAF_CHECK_EQUAL(info.State.Msgs, 0u); });
  eyes.remove_stream("audit"); // a person mends it
  eyes.remove_stream("fairqueue");
  CAF_CHECK(accepted_in_time(bus, message(1)));
  CAF_CHECK_EQUAL(eyes.messages("fairqueue").size(), 1u);
}

CAF_TEST(a server that is away loses nothing and a password is in no reason) {
  private_nats server;
  nats_bus bus{settings_for(server.url())};
  CAF_CHECK(bus.publish(message(1)).result == bus_result::accepted);
  server.tell("kill");
  const auto answer = bus.publish(message(2));
  CAF_CHECK(answer.result == bus_result::unavailable);
  CAF_CHECK(!answer.why.empty());
  CAF_CHECK(answer.why.find('@') == std::string::npos);
  server.tell("up");
  CAF_CHECK(accepted_in_time(bus, message(2)));
  CAF_CHECK_EQUAL(observer{server.url()}.messages("fairqueue").size(), 2u);
}

CAF_TEST(after kills every event is there once and in order) {
  private_nats server;
  nats_bus bus{settings_for(server.url())};
  CAF_CHECK(accepted_in_time(bus, message(1)));
  std::thread killer{[&server] {
    for (int i = 0; i < 3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds{300});
      server.tell("kill");
      std::this_thread::sleep_for(std::chrono::milliseconds{200});
      server.tell("up");
    }
  }};
  constexpr std::uint64_t count = 300;
  bool all_sent = true;
  for (std::uint64_t n = 2; n <= count; ++n) {
    all_sent = all_sent && accepted_in_time(bus, message(n));
    std::this_thread::sleep_for(std::chrono::milliseconds{4});
  }
  killer.join();
  CAF_CHECK(all_sent);
  const auto stored = observer{server.url()}.messages("fairqueue");
  CAF_REQUIRE_EQUAL(stored.size(), count);
  for (std::uint64_t n = 1; n <= count; ++n) CAF_CHECK_EQUAL(stored[n - 1].id, to_string(uuid{1, n}));
}

} // namespace event_bus_test
