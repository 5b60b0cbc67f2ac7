// SPDX-License-Identifier: Apache-2.0
// Export of spans: the requests to a collector, and a collector that is slow, unavailable or refuses.
#define CAF_SUITE otlp_exporter
#include "caf/test/unit_test.hpp"

#include "outbound/otlp_exporter.hpp"
#include "tests/outbound/real_environment.hpp"
#include "tests/outbound/scripted_server.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <chrono>
#include <memory>
#include <thread>

namespace otlp_exporter_test {

using namespace fq;
using fq::test::answer;
using fq::test::scripted_request;
using fq::test::scripted_server;

namespace {

namespace json = boost::json;

span sample(std::string name, std::uint64_t parent = 0x00f067aa0ba902b7) {
  span s;
  s.context = {{0x4bf92f3577b34da6, 0xa3ce929d0e0e4736}, 0x1234, true, "vendor=1"};
  s.parent = parent;
  s.kind = span_kind::server;
  s.name = std::move(name);
  s.began = from_unix_ms(1'800'000'000'123);
  s.lasted = milliseconds{40};
  s.http_status = 503;
  s.has_failed = true;
  return s;
}

otlp_exporter::settings towards(const scripted_server& server) {
  otlp_exporter::settings s;
  s.url = server.url() + "/v1/traces";
  s.authorization = "Bearer k";
  s.node = "n1";
  s.interval = milliseconds{20};
  s.timeout = milliseconds{20'000};
  return s;
}

/// Until so many have ended one way or the other.
span_counts settled(const otlp_exporter& exporter, std::uint64_t count) {
  for (int i = 0; i < 2000; ++i) {
    const auto c = exporter.count();
    if (c.exported + c.dropped >= count) return c;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return exporter.count();
}

} // namespace

CAF_TEST(a collector is sent spans as OTLP words them) {
  scripted_server server([](const scripted_request&) { return answer(200, "{}"); });
  test::real_environment env;
  otlp_exporter exporter(towards(server), env);
  exporter.take(sample("GET /events/{id}"));
  exporter.take(sample("root", 0));
  CAF_CHECK_EQUAL(settled(exporter, 2).exported, 2u);
  const auto requests = server.requests();
  CAF_REQUIRE(!requests.empty());
  CAF_CHECK_EQUAL(requests[0].method, "POST");
  CAF_CHECK_EQUAL(requests[0].target, "/v1/traces");
  CAF_CHECK_EQUAL(requests[0].field("Content-Type"), "application/json");
  CAF_CHECK_EQUAL(requests[0].field("Authorization"), "Bearer k");
  const auto body = json::parse(requests[0].body);
  const auto& of = body.at("resourceSpans").at(0);
  const auto resource = json::serialize(of.at("resource"));
  CAF_CHECK(resource.find("\"service.name\"") != std::string::npos);
  CAF_CHECK(resource.find("\"n1\"") != std::string::npos);
  const auto& one = of.at("scopeSpans").at(0).at("spans").at(0);
  CAF_CHECK_EQUAL(one.at("traceId").as_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
  CAF_CHECK_EQUAL(one.at("spanId").as_string(), "0000000000001234");
  CAF_CHECK_EQUAL(one.at("parentSpanId").as_string(), "00f067aa0ba902b7");
  CAF_CHECK_EQUAL(one.at("traceState").as_string(), "vendor=1");
  CAF_CHECK_EQUAL(one.at("kind").as_int64(), 2);
  CAF_CHECK_EQUAL(one.at("startTimeUnixNano").as_string(), "1800000000123000000");
  CAF_CHECK_EQUAL(one.at("endTimeUnixNano").as_string(), "1800000000163000000");
  CAF_CHECK_EQUAL(one.at("status").at("code").as_int64(), 2);
  CAF_CHECK_EQUAL(one.at("attributes").at(0).at("value").at("intValue").as_string(), "503");
}

CAF_TEST(a collector that says no or nothing costs spans and is asked again) {
  std::atomic<bool> is_well{false};
  scripted_server server(
    [&](const scripted_request&) { return is_well ? answer(200, "{}") : answer(503, "{}"); });
  test::real_environment env;
  otlp_exporter exporter(towards(server), env);
  exporter.take(sample("lost"));
  CAF_CHECK_EQUAL(settled(exporter, 1).dropped, 1u);
  is_well = true;
  exporter.take(sample("taken"));
  CAF_CHECK_EQUAL(settled(exporter, 2).exported, 1u);
}

CAF_TEST(beyond what it holds spans are dropped and counted) {
  scripted_server server([](const scripted_request&) { return test::hang(); });
  test::real_environment env;
  auto settings = towards(server);
  settings.waiting_max = 10;
  settings.timeout = milliseconds{500}; // of its end
  settings.interval = milliseconds{60'000};
  otlp_exporter exporter(settings, env);
  for (int i = 0; i < 25; ++i) exporter.take(sample("x"));
  CAF_CHECK_EQUAL(exporter.count().dropped, 15u);
}

CAF_TEST(what is held is sent at the end) {
  scripted_server server([](const scripted_request&) { return answer(200, "{}"); });
  test::real_environment env;
  {
    auto settings = towards(server);
    settings.interval = milliseconds{60'000};
    otlp_exporter exporter(settings, env);
    exporter.take(sample("last words"));
  }
  CAF_REQUIRE_EQUAL(server.requests().size(), 1u);
  CAF_CHECK(server.requests()[0].body.find("last words") != std::string::npos);
}

CAF_TEST(spans that a collector takes only in part are counted as it says) {
  scripted_server server([](const scripted_request&) {
    return answer(200, R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}})");
  });
  test::real_environment env;
  auto settings = towards(server);
  settings.interval = milliseconds{300}; // so that they go in one export
  otlp_exporter exporter(settings, env);
  for (int i = 0; i < 3; ++i) exporter.take(sample("x"));
  const auto counts = settled(exporter, 3);
  CAF_CHECK_EQUAL(counts.exported, 1u);
  CAF_CHECK_EQUAL(counts.dropped, 2u);
}

CAF_TEST(an answer of another form has taken everything) {
  for (const auto* body :
       {"", "[]", "{\"partialSuccess\":{}}", "{\"partialSuccess\":{\"rejectedSpans\":\"-1\"}}",
        "{\"partialSuccess\":{\"rejectedSpans\":0}}"}) {
    scripted_server server([body](const scripted_request&) { return answer(200, body); });
    test::real_environment env;
    otlp_exporter exporter(towards(server), env);
    exporter.take(sample("x"));
    CAF_CHECK_EQUAL(settled(exporter, 1).exported, 1u);
  }
}

CAF_TEST(the end takes one timeout though an export hangs and another waits) {
  scripted_server server([](const scripted_request&) { return test::hang(); });
  test::real_environment env;
  auto settings = towards(server);
  settings.timeout = milliseconds{3'000};
  auto exporter = std::make_unique<otlp_exporter>(settings, env);
  exporter->take(sample("under way"));
  for (int i = 0; i < 500 && server.requests().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  CAF_REQUIRE(!server.requests().empty());
  exporter->take(sample("waits"));
  const auto begun = std::chrono::steady_clock::now();
  exporter.reset();
  CAF_CHECK(std::chrono::steady_clock::now() - begun
            < milliseconds{5'500}); // two of them would be nearly six seconds
}

} // namespace otlp_exporter_test
